// Prints each failed test of the JSON reports of vitest in a folder, with its first words, and each that passed only when it was
// tried again ("unsteady": to be fixed, but no reason to refuse a change); then the count of each report, then
// "N passed, N failed": a test that two reports hold (`npm test` is a part of `npm run test:full`) counts once. Exits 1 when a
// test failed or no report is there. `X.again.json` has the files of `X.json` that ran once more; their new results count.
//   count.mjs FOLDER             all that
//   count.mjs failed REPORT      the files of one report that failed, a line each
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const [first = '.', one] = process.argv.slice(2);
if (one === undefined) count(first);
else for (const { name } of filesOf(one).filter(isFailed)) process.stdout.write(`${relative('.', name)}\n`);

/** @param {string} path */
function filesOf(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).testResults : [];
}

/** Of a file or a test. */
function isFailed({ status }) {
  return status === 'failed';
}

/** @param {string} folder */
function count(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json') && !name.endsWith('.again.json'));
  const passed = new Map();
  let failed = 0;
  const lines = [];
  for (const name of names) {
    const again = new Map(filesOf(join(folder, name.replace('.json', '.again.json'))).map((file) => [file.name, file]));
    const before = filesOf(join(folder, name));
    const files = before.map((file) => again.get(file.name) ?? file);
    for (const file of before.filter((file) => again.has(file.name)))
      tellFailed(file, 'unsteady, its file ran once more');
    for (const file of files) tellFailed(file, 'failed');
    for (const file of files) tellUnsteady(file);
    // A file that does not even load fails without a failed test.
    const here = files.reduce((sum, file) => sum + Math.max(failedIn(file).length, isFailed(file) ? 1 : 0), 0);
    const tests = files.flatMap(({ assertionResults }) => assertionResults);
    const well = tests.filter(({ status }) => status === 'passed').length;
    addPassed(passed, files);
    failed += here;
    lines.push(`${name}: ${well} passed, ${here} failed, ${tests.filter((test) => isSkipped(test)).length} skipped\n`);
  }
  const total = [...passed.values()].reduce((sum, times) => sum + times, 0);
  process.stdout.write(`${lines.join('')}${total} passed, ${failed} failed\n`);
  process.exitCode = failed > 0 || names.length === 0 ? 1 : 0;
}

function isSkipped({ status }) {
  return status !== 'passed' && status !== 'failed';
}

function failedIn({ assertionResults }) {
  return assertionResults.filter(isFailed);
}

/** How often a test of a name passed, in the report in which that was most often: some names occur several times in a file. */
function addPassed(passed, files) {
  const here = new Map();
  for (const { name, assertionResults } of files)
    for (const { fullName, status } of assertionResults)
      if (status === 'passed') here.set(`${name} ${fullName}`, (here.get(`${name} ${fullName}`) ?? 0) + 1);
  for (const [test, times] of here) passed.set(test, Math.max(times, passed.get(test) ?? 0));
}

function tellFailed(file, what) {
  for (const { fullName, failureMessages } of failedIn(file))
    tell(file.name, fullName, failureMessages.join('\n'), what);
  if (isFailed(file) && failedIn(file).length === 0) tell(file.name, 'the file', file.message, what);
}

function tellUnsteady({ name, assertionResults }) {
  for (const { fullName, status, failureMessages } of assertionResults)
    if (status === 'passed' && failureMessages.length > 0) tell(name, fullName, failureMessages.join('\n'), 'unsteady');
}

/** @param {string} file @param {string} title @param {string} words @param {string} what */
function tell(file, title, words, what) {
  const shown = words.replace(/\u001b\[[0-9;]*m/g, '').slice(0, 1_500);
  process.stdout.write(`${what}: ${relative('.', file)}: ${title}\n${shown}\n\n`);
}
