// Prints each failed test of the JSON reports of vitest in a folder, with its first words, and each that passed only when it was
// tried again ("unsteady": to be mended, but no reason to refuse a change); then the count of each report, then
// "N passed, N failed": a test that two reports hold (`npm test` is a part of `npm run test:full`) counts once. Exits 1 when a
// test failed or no report is there.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const folder = process.argv[2] ?? '.';
const reports = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({ name, ...JSON.parse(readFileSync(join(folder, name), 'utf8')) }));

/** How often a test of a name passed, in the report in which that was most often: some names occur several times in a file. */
const passed = new Map();
for (const { testResults } of reports) {
  const here = new Map();
  for (const { name, assertionResults } of testResults)
    for (const { fullName, status } of assertionResults) {
      if (status === 'passed') here.set(`${name} ${fullName}`, (here.get(`${name} ${fullName}`) ?? 0) + 1);
    }
  for (const [test, times] of here) passed.set(test, Math.max(times, passed.get(test) ?? 0));
}
const total = [...passed.values()].reduce((sum, times) => sum + times, 0);
// A file that does not even load fails without a failed test.
const failed = reports.reduce((sum, report) => sum + Math.max(report.numFailedTests, report.success ? 0 : 1), 0);

for (const { name, message, assertionResults } of reports.flatMap(({ testResults }) => testResults)) {
  const tests = assertionResults.filter(({ status }) => status === 'failed');
  for (const { fullName, failureMessages } of tests) tell(name, fullName, failureMessages.join('\n'));
  if (tests.length === 0 && message) tell(name, 'the file', message);
  for (const { fullName, status, failureMessages } of assertionResults)
    if (status === 'passed' && failureMessages.length > 0) tell(name, fullName, failureMessages.join('\n'), 'unsteady');
}

/** @param {string} file @param {string} title @param {string} words @param {string} what */
function tell(file, title, words, what = 'failed') {
  const shown = words.replace(/\u001b\[[0-9;]*m/g, '').slice(0, 1_500);
  process.stdout.write(`${what}: ${relative('.', file)}: ${title}\n${shown}\n\n`);
}

for (const { name, numPassedTests, numFailedTests, numPendingTests } of reports)
  process.stdout.write(`${name}: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped\n`);
process.stdout.write(`${total} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || reports.length === 0 ? 1 : 0;
