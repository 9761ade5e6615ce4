// Prints each failed test of the JSON reports of vitest in a folder, with its first words, then "N passed, N failed"; exits 1
// when a test failed or no report is there.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const folder = process.argv[2] ?? '.';
const reports = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
const passed = reports.reduce((sum, report) => sum + report.numPassedTests, 0);
// A file that does not even load fails without a failed test.
const failed = reports.reduce((sum, report) => sum + Math.max(report.numFailedTests, report.success ? 0 : 1), 0);

for (const { name, message, assertionResults } of reports.flatMap(({ testResults }) => testResults)) {
  const tests = assertionResults.filter(({ status }) => status === 'failed');
  for (const { fullName, failureMessages } of tests) tell(name, fullName, failureMessages.join('\n'));
  if (tests.length === 0 && message) tell(name, 'the file', message);
}

/** @param {string} file @param {string} title @param {string} words */
function tell(file, title, words) {
  const shown = words.replace(/\u001b\[[0-9;]*m/g, '').slice(0, 1_500);
  process.stdout.write(`failed: ${relative('.', file)}: ${title}\n${shown}\n\n`);
}

process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || reports.length === 0 ? 1 : 0;
