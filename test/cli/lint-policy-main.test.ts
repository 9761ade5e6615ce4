import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const root = new URL('../..', import.meta.url);

function run(...words: readonly string[]) {
  const main = new URL('src/cli/lint-policy-main.ts', root).pathname;
  const { status, stdout } = spawnSync(process.execPath, ['--import', 'tsx', main, ...words], {
    cwd: root,
    encoding: 'utf8',
  });
  return { status, stdout };
}

it.each([
  [0, ['test/fixtures/policy/design.yaml'], /is fine/],
  [1, ['test/fixtures/policy/wrong.yaml'], /problems$/m],
  [2, [], /^usage: /],
])('exits %d for %j', (status, words, output) => {
  expect(run(...words)).toEqual({ status, stdout: expect.stringMatching(output) });
});
