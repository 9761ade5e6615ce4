import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lintPolicy } from '../../src/cli/lint-policy.ts';

const fixture = (name: string): string => new URL(`../fixtures/policy/${name}`, import.meta.url).pathname;

function lint(path: string) {
  const lines: string[] = [];
  return { code: lintPolicy([path], (line) => lines.push(line)), lines };
}

it('a file that is fine yields 0, with a note for every image that is not pinned and for what each rule gives', () => {
  const path = fixture('design.yaml');
  const { code, lines } = lint(path);
  expect(code).toBe(0);
  expect(lines.at(-1)).toBe(`${path} is fine: 1 channel, 2 rules, 3 images`);
  expect(lines.slice(0, -1)).toEqual([
    expect.stringContaining('note: images.debian is a tag'),
    expect.stringContaining('note: images.debugger is a tag'),
    expect.stringContaining('note: channels.C0SHOP, rule look: anyone in #shop-oncall can run autodiagnose'),
    expect.stringContaining('rule look: anyone in #shop-oncall can run any command of debian beside every pod'),
    expect.stringContaining('rule attach: anyone in #shop-oncall, with the approval of 1 of sre, can run debugger'),
    expect.stringContaining('can take over the node of every pod in shop'),
    expect.stringContaining('reaches the node, and other pods'),
  ]);
});

it('notes who acts unchecked, and which channels another company reads', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-lint-'));
  const path = join(directory, 'policy.yaml');
  const policy = readFileSync(fixture('design.yaml'), 'utf8')
    .replace(
      /^identity:\n(?: {2}.*\n)+/m,
      'identity: { mode: serviceAccount, users: { U0ROY: roy }, unmapped: allow }\n',
    )
    .replace('  C0SHOP:\n', '  C0SHOP:\n    slackConnect: allowed\n');
  writeFileSync(path, policy);
  const { code, lines } = lint(path);
  rmSync(directory, { recursive: true });
  expect(code).toBe(0);
  expect(lines).toContainEqual(expect.stringMatching(/^note: identity\.unmapped is allow: .*own rights/));
  expect(lines).toContainEqual(expect.stringMatching(/^note: channels\.C0SHOP says slackConnect: allowed/));
});

it('a file with problems yields 1, a line for each problem and their number', () => {
  const { code, lines } = lint(fixture('wrong.yaml'));
  expect(code).toBe(1);
  expect(lines[0]).toMatch(/wrong\.yaml:4:10 clusters\.spare: must have/);
  expect(lines.at(-1)).toBe(`${lines.length - 1} problems`);
});

it('a file that still has what an example left in it yields 1, although the bot would load it', () => {
  const { code, lines } = lint(new URL('../../manifests/base/policy.yaml', import.meta.url).pathname);
  expect(code).toBe(1);
  expect(lines).toEqual([
    expect.stringContaining('images.autodiagnose.image: is in no registry'),
    expect.stringContaining('channels.C0REPLACEME: is a placeholder'),
    '2 problems',
  ]);
});

it('notes an image without a registry that Docker Hub does not have as its own', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-lint-'));
  const path = join(directory, 'policy.yaml');
  writeFileSync(path, readFileSync(fixture('design.yaml'), 'utf8').replace('registry.acme.io/debugger', 'debugger'));
  const { code, lines } = lint(path);
  rmSync(directory, { recursive: true });
  expect(code).toBe(0);
  expect(lines.filter((line) => line.includes('names no registry'))).toEqual([
    'note: images.debugger names no registry, so nodes look for docker.io/library/debugger: put your registry before it',
  ]);
});

it('a file that is not there yields 1 and says so', () => {
  expect(lint(fixture('none.yaml'))).toEqual({
    code: 1,
    lines: [`${fixture('none.yaml')}: cannot be read (ENOENT)`, '1 problem'],
  });
});
