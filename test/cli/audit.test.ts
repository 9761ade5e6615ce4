import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { audit } from '../../src/cli/audit.ts';
import { formatLink, headSlot } from '../../src/core/audit/chain.ts';
import { toLogLine } from '../../src/core/audit/lines.ts';
import { deriveKey } from '../../src/core/hash.ts';
import { aChain, KEY, SEALING_KEY, someHappenings, textOf } from '../core/audit/chain-of.ts';

const ENV = { KDEBUG_KEY: SEALING_KEY.toString('base64') };
const { lines, link } = aChain(someHappenings(2));
const streamed = aChain(someHappenings(2), { destination: 'stdout', end: true });
const ownLog = textOf(streamed.lines.map((line) => toLogLine(line, JSON.parse(line).at)));

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kdebug-audit-cli-'));
  path = join(directory, 'audit.log');
  writeFileSync(path, textOf(lines));
  const { position, text } = headSlot(KEY, {
    generation: 2,
    last: link,
    bytes: textOf(lines).length,
    upTo: textOf(lines).length,
  });
  expect(position).toBe(0);
  writeFileSync(`${path}.head`, text);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function run(words: readonly string[], variables: Readonly<Record<string, string>> = ENV) {
  const out: string[] = [];
  return { code: await audit(words, variables, (line) => out.push(line)), out };
}

it('a log as it was written yields 0, what is in it, and its head', async () => {
  expect(await run(['verify', path])).toEqual({
    code: 0,
    out: [
      'intact: 3 records, 2 runs, 1 start, from 2026-11-21T07:30:00.000Z to 2026-11-21T07:30:00.001Z',
      `head ${formatLink(link)}`,
    ],
  });
});

it('a changed log yields 1, the first wrong line, and what was right before it', async () => {
  writeFileSync(path, textOf(lines.map((line) => line.replace('pod-1', 'pod-7'))));
  expect(await run(['verify', path])).toEqual({
    code: 1,
    out: [
      'wrong at line 3: this record was changed, or the key is not the one that it was written with',
      'intact before that: 2 records, 1 run, 1 start, from 2026-11-21T07:30:00.000Z to 2026-11-21T07:30:00.000Z',
    ],
  });
});

it('a log without its head yields 1', async () => {
  rmSync(`${path}.head`);
  expect(await run(['verify', path])).toMatchObject({
    code: 1,
    out: [expect.stringMatching(/^wrong: the head/), expect.anything()],
  });
});

it('the key may be given, or derived as the bot derives it', async () => {
  const key = SEALING_KEY.toString('base64');
  expect((await run(['verify', path, '--key', key], {})).code).toBe(0);
  expect((await run(['verify', path], { SLACK_BOT_TOKEN: 'xoxb-1' })).code).toBe(1);
  const derived = deriveKey('xoxb-1', 'kdebug sealing key').toString('base64');
  const [byToken, byKey] = [
    await run(['verify', path], { SLACK_BOT_TOKEN: 'xoxb-1' }),
    await run(['verify', path, '--key', derived], ENV),
  ];
  expect(byToken).toEqual(byKey);
});

it.each([
  [[]],
  [['verify']],
  [['check', 'FILE']],
  [['verify', 'FILE', 'FILE']],
  [['verify', 'FILE', '--unknown']],
  [['verify', 'FILE', '--key=short']],
  [['verify', 'FILE', '--head=x']],
  [['verify', join(tmpdir(), 'kdebug-no-such-file')]],
])('%j yields 2 and says why', async (words) => {
  const { code, out } = await run(words);
  expect(code).toBe(2);
  expect(out[0]).not.toBe('');
});

it('without any key it yields 2', async () => {
  expect(await run(['verify', path], {})).toMatchObject({
    code: 2,
    out: [expect.stringContaining('no usable key'), ...new Array(4).fill(expect.anything())],
  });
});

it.each([
  [0, ownLog, /^intact: 4 records/],
  [1, ownLog.subarray(10), /^wrong at line 1/],
])('the tool exits %d for an own log on its standard input', (status, input, output) => {
  const root = new URL('../..', import.meta.url);
  const main = new URL('src/cli/main.ts', root).pathname;
  const ran = spawnSync(process.execPath, ['--import', 'tsx', main, 'audit', 'verify', '-'], {
    cwd: root,
    input,
    env: { ...process.env, ...ENV },
  });
  expect({ status: ran.status, output: ran.stdout.toString() }).toEqual({
    status,
    output: expect.stringMatching(output),
  });
});
