// Checks the Go module of the images: gofmt, go vet, go test. Says so and leaves it where there is no go.
//   go.mjs [--outputFile.json=REPORT]    REPORT gets the results in the form of vitest's, for count.mjs
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('../images/tools', import.meta.url));
const report = process.argv[2]?.replace('--outputFile.json=', '');
// One package at a time: other tests run beside it.
const words = ['test', '-p', '1', '-json', './...'];

/** @param {string} command @param {string[]} args */
const run = (command, args) => spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28 });

/** @param {string} text */
const say = (text) => process.stdout.write(`${text.trim()}\n`);

if (run('go', ['version']).error) {
  say('no go here: skipped');
  keep([]);
} else {
  const unformatted = run('gofmt', ['-l', '.']).stdout.trim();
  if (unformatted !== '') say(`not as gofmt writes it: ${unformatted.replaceAll('\n', ' ')}`);
  const vet = run('go', ['vet', './...']);
  if (vet.status !== 0) say(vet.stdout + vet.stderr);
  const passed = test();
  process.exitCode = unformatted === '' && vet.status === 0 && passed ? 0 : 1;
}

function test() {
  const { stdout, stderr, status } = run('go', words);
  const results = resultsOf(stdout.split('\n').flatMap(eventOf));
  // A package that does not even compile has no test.
  for (const { Action, Package, Test = 'the package', told } of results)
    if (Action !== 'pass') say(`${Action}: ${Package}: ${Test}\n${told}`);
  if (status !== 0) say(stderr);
  const tests = results.filter(({ Test }) => Test !== undefined);
  const counts = (action) => tests.filter(({ Action }) => Action === action).length;
  say(`${counts('pass')} passed, ${counts('fail')} failed, ${counts('skip')} skipped`);
  keep(tests);
  return status === 0;
}

/** The ends of tests, and of packages that failed, each with what it said. */
function resultsOf(events) {
  const told = new Map();
  for (const event of events.filter(({ Action }) => Action === 'output'))
    told.set(keyOf(event), (told.get(keyOf(event)) ?? '') + event.Output);
  return events
    .filter(({ Action, Test }) => Action === 'fail' || (Test !== undefined && ['pass', 'skip'].includes(Action)))
    .map((event) => ({ ...event, told: told.get(keyOf(event)) ?? '' }));
}

function keyOf({ Package, Test = '' }) {
  return `${Package} ${Test}`;
}

/** @param {string} line */
function eventOf(line) {
  return line.startsWith('{') ? [JSON.parse(line)] : [];
}

function keep(results) {
  if (report === undefined) return;
  const names = { pass: 'passed', fail: 'failed', skip: 'skipped' };
  const packages = new Map();
  for (const result of results) packages.set(result.Package, [...(packages.get(result.Package) ?? []), result]);
  const testResults = [...packages].map(([name, tests]) => ({
    name,
    status: tests.some(({ Action }) => Action === 'fail') ? 'failed' : 'passed',
    message: '',
    assertionResults: tests.map(({ Test, Action, told }) => ({
      fullName: Test,
      title: Test,
      status: names[Action],
      failureMessages: Action === 'fail' ? [told] : [],
    })),
  }));
  writeFileSync(report, JSON.stringify({ testResults }));
}
