// Prints "N passed, N failed" from the JSON reports of vitest in a folder; exits 1 when a test failed or no report is there.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? '.';
const reports = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
const passed = reports.reduce((sum, report) => sum + report.numPassedTests, 0);
// A file that does not even load fails without a failed test.
const failed = reports.reduce((sum, report) => sum + Math.max(report.numFailedTests, report.success ? 0 : 1), 0);

process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || reports.length === 0 ? 1 : 0;
