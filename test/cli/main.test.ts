import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const root = new URL('../..', import.meta.url);
const POLICY = 'test/fixtures/policy/design.yaml';

function run(name: string, ...words: readonly string[]) {
  const main = new URL('src/cli/main.ts', root).pathname;
  const options = { cwd: root, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', main, name, ...words], options);
  return { status, stdout, stderr };
}

it.each([
  [0, ['test/fixtures/policy/design.yaml'], /is fine/],
  [1, ['test/fixtures/policy/wrong.yaml'], /problems$/m],
  [2, [], /^usage: /],
])('lint-policy exits with %d for %j', (status, words, output) => {
  expect(run('lint-policy', ...words)).toMatchObject({ status, stdout: expect.stringMatching(output) });
});

it('names its tools to whoever calls none of them', () => {
  expect(run('explian')).toMatchObject({ status: 2, stderr: expect.stringMatching(/^usage: .*lint-policy/) });
});

it('explain answers with its exit code', () => {
  const { status, stdout } = run('explain', 'web-1', '--channel', 'C0SHOP', '--user', 'U0ROY', '--policy', POLICY);
  expect([status, stdout]).toEqual([0, expect.stringContaining('allowed by rule look')]);
});

it('rbac prints the YAML alone on standard output', () => {
  const { status, stdout, stderr } = run('rbac', '--policy', POLICY);
  expect([status, stdout, stderr]).toEqual([
    1,
    expect.stringContaining('kind: ClusterRole'),
    expect.stringMatching(/^UNBOUNDED/),
  ]);
});
