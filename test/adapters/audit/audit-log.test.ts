import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAuditLog, type OpenAuditLog } from '../../../src/adapters/audit/index.ts';
import { audit as runAudit } from '../../../src/cli/audit.ts';
import type { AuditEntry, Log, LogFields } from '../../../src/flow/ports/machine.ts';
import { START_MS } from '../../support/builders.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const KEY = Buffer.alloc(32, 7);
const UNAVAILABLE = { code: 'audit_unavailable' };

let directory: string;
let path: string;
let clock: FakeClock;
let said: { readonly message: string; readonly fields: LogFields | undefined }[];
const open: OpenAuditLog[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kdebug-audit-'));
  path = join(directory, 'audit.log');
  clock = new FakeClock();
  said = [];
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
  rmSync(directory, { recursive: true, force: true });
});

const note = (message: string, fields?: LogFields): void => void said.push({ message, fields });
const log: Log = { debug: note, info: note, warn: note, error: note };

async function start(owner = 'bot-1', key: Buffer = KEY): Promise<OpenAuditLog> {
  const started = await createAuditLog({ destination: { kind: 'file', path }, key, owner, log, clock });
  open.push(started);
  return started;
}

const entry = (n: number, facts: AuditEntry['facts'] = {}): AuditEntry => ({
  step: 'decision',
  atMs: START_MS + n,
  runId: `run${n}`,
  channelId: 'C0SHOP',
  actorId: 'U0ROY',
  facts: { rule: 'look', n, ...facts },
});

async function write(count: number, owner?: string): Promise<void> {
  const audit = await start(owner);
  await Promise.all(Array.from({ length: count }, (_, n) => audit.append(entry(n))));
  await audit.close();
}

async function verify(...words: readonly string[]) {
  const lines: string[] = [];
  const variables = { KDEBUG_KEY: KEY.toString('base64') };
  const code = await runAudit(['verify', path, ...words], variables, (line) => lines.push(line));
  return { code, text: lines.join('\n') };
}

const records = () =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('an audit log in a file', () => {
  it('holds every record in the order of the appends, between a beginning and an end', async () => {
    await write(600);
    const all = records();
    expect(all.map(({ step }) => step)).toEqual(['genesis', ...Array.from({ length: 600 }, () => 'decision'), 'end']);
    expect(all.slice(1, -1).map(({ facts }) => facts.n)).toEqual(Array.from({ length: 600 }, (_, n) => n));
    expect(await verify()).toMatchObject({ code: 0, text: expect.stringContaining('602 records, 600 runs, 1 start') });
  });

  it('may be verified while it is written', async () => {
    const audit = await start();
    await audit.append(entry(1));
    expect((await verify()).code).toBe(0);
  });

  it('is readable by nobody else, nor are the files beside it', async () => {
    const audit = await start();
    for (const each of [path, `${path}.head`, `${path}.lock`]) expect(statSync(each).mode & 0o777).toBe(0o600);
    await audit.close();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it('goes on where the last start ended', async () => {
    for (const owner of ['bot-1', 'bot-2', 'bot-3']) await write(3, owner);
    expect(await verify()).toMatchObject({ code: 0, text: expect.stringContaining('15 records, 3 runs, 3 starts') });
  });

  it('keeps hostile text in one line, and no secret', async () => {
    const token = ['xoxb', '1', 'canary'].join('-');
    const audit = await start();
    await audit.append(
      entry(1, { command: `a"b\\\n{"v":1}\r\u2028\u0000\ud800 ${token} https://hooks.slack.com/commands/canary` }),
    );
    await audit.close();
    expect(readFileSync(path, 'utf8')).not.toContain('canary');
    expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(3);
    expect((await verify()).code).toBe(0);
  });

  it('notes its head in the own log, and the log must hold it from then on', async () => {
    await write(3);
    const [first, last] = said.map(({ fields }) => String(fields?.head));
    for (const file of [path, `${path}.head`]) copyFileSync(file, `${file}.old`);
    await write(2, 'bot-2');
    expect((await verify(`--head=${first}`, `--head=${last}`, `--head=${said.at(-1)?.fields?.head}`)).code).toBe(0);
    for (const file of [path, `${path}.head`]) copyFileSync(`${file}.old`, file);
    expect((await verify()).code).toBe(0);
    expect(await verify(`--head=${said.at(-1)?.fields?.head}`)).toMatchObject({
      code: 1,
      text: expect.stringContaining('cut off'),
    });
  });

  it('takes nothing after its close', async () => {
    const audit = await start();
    await Promise.all([audit.close(), audit.close()]);
    await expect(audit.append(entry(1))).rejects.toMatchObject(UNAVAILABLE);
  });

  it('refuses more than may wait', async () => {
    const audit = await start();
    const answers = await Promise.allSettled(Array.from({ length: 10_200 }, (_, n) => audit.append(entry(n))));
    const refused = answers.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(200);
    await audit.close();
    expect(records()).toHaveLength(10_002);
  });
});

describe('a second writer', () => {
  it('is refused clearly, and let in when the first one has gone', async () => {
    const first = await start();
    await expect(start('bot-2')).rejects.toMatchObject({
      ...UNAVAILABLE,
      detail: expect.stringContaining(`written by process ${process.pid}`),
    });
    await first.append(entry(1));
    await first.close();
    await write(1, 'bot-2');
    expect((await verify()).code).toBe(0);
  });

  it('is refused for as long as the first one lives', async () => {
    await start();
    for (let beats = 0; beats < 6; beats += 1) {
      await clock.advance(5_000);
      await expect.poll(() => Math.round(statSync(`${path}.lock`).mtimeMs)).toBe(clock.now());
    }
    await expect(start('bot-2')).rejects.toMatchObject(UNAVAILABLE);
  });

  const lockOf = (holder: object) => {
    writeFileSync(
      `${path}.lock`,
      JSON.stringify({ owner: 'x', pid: process.pid, startedMs: 1, host: 'elsewhere', ...holder }),
    );
    const seconds = clock.now() / 1_000;
    utimesSync(`${path}.lock`, seconds, seconds);
  };

  it('on another host is believed alive until it was not seen for 20 s', async () => {
    lockOf({});
    await clock.advance(19_000);
    await expect(start()).rejects.toMatchObject({ detail: expect.stringContaining('elsewhere') });
    await clock.advance(2_000);
    await write(1);
  });

  it('that died on this host does not hold anybody up', async () => {
    lockOf({ host: hostname() });
    await write(1);
    lockOf({ host: hostname(), pid: spawnSync(process.execPath, ['-e', '']).pid });
    await write(1, 'bot-2');
  });

  it('that took the lock over ends the first one', async () => {
    const audit = await start();
    lockOf({});
    await clock.advance(5_000);
    await expect
      .poll(async () =>
        audit.append(entry(1)).then(
          () => 'written',
          () => 'refused',
        ),
      )
      .toBe('refused');
    await audit.close();
    expect(existsSync(`${path}.lock`)).toBe(true);
  });

  it('without a lock is noticed by what it wrote', async () => {
    const audit = await start();
    appendFileSync(path, 'x\n');
    await expect(audit.append(entry(1))).rejects.toMatchObject(UNAVAILABLE);
    await expect(audit.append(entry(2))).rejects.toMatchObject(UNAVAILABLE);
    expect(said.filter(({ message }) => message === 'could not write audit log')).toHaveLength(1);
  });
});

describe('somebody at the file', () => {
  const change: Record<string, () => void> = {
    truncates: () => truncateSync(path, 10),
    removes: () => rmSync(path),
    replaces: () => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  };

  it.each(Object.keys(change))('who %s it while it is written ends the writing', async (what) => {
    const audit = await start();
    await audit.append(entry(1));
    change[what]?.();
    await expect(audit.append(entry(2))).rejects.toMatchObject(UNAVAILABLE);
  });

  it('who cuts off its end between two starts prevents the next one', async () => {
    await write(3);
    truncateSync(path, statSync(path).size - 10);
    expect(await verify()).toMatchObject({ code: 1, text: expect.stringContaining('cut off') });
    await expect(start()).rejects.toMatchObject({ ...UNAVAILABLE, detail: expect.stringContaining('cut off') });
  });

  it.each<[string, () => void]>([
    ['removes it', () => rmSync(path)],
    ['removes its head', () => rmSync(`${path}.head`)],
    ['changes its head', () => writeFileSync(`${path}.head`, 'x'.repeat(1024))],
    ['puts something behind it', () => appendFileSync(path, 'x\n')],
    ['changes its last record', () => writeFileSync(path, readFileSync(path, 'utf8').replace('"end"', '"END"'))],
  ])('who %s between two starts prevents the next one, and nobody holds the lock', async (_, act) => {
    await write(3);
    act();
    await expect(start()).rejects.toMatchObject(UNAVAILABLE);
    expect((await verify()).code).not.toBe(0);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it('who starts with another key is refused', async () => {
    await write(3);
    await expect(start('bot-2', Buffer.alloc(32))).rejects.toMatchObject(UNAVAILABLE);
  });

  it('who puts an old head back is found out', async () => {
    await write(1);
    copyFileSync(`${path}.head`, `${path}.old`);
    await write(1, 'bot-2');
    copyFileSync(`${path}.old`, `${path}.head`);
    expect(await verify()).toMatchObject({ code: 1, text: expect.stringContaining('old one') });
    await write(1, 'bot-3');
    expect(records().at(-3).facts).toMatchObject({ beyondHead: 3 });
    expect((await verify()).code).toBe(0);
  });
});

const ROOT = new URL('../../..', import.meta.url);
const NODE = [process.execPath, '--import', 'tsx', '--input-type=module', '-e'];

describe('a writer that died', () => {
  /** Appends for ever in a process of its own, and says how many records are written. */
  const CHILD = `
    import { createAuditLog } from './src/adapters/audit/index.ts';
    import { systemClock } from './src/adapters/system/index.ts';
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const options = { destination: { kind: 'file', path: process.argv[1] }, key: Buffer.alloc(32, 7), owner: 'child', log, clock: systemClock };
    const audit = await createAuditLog(options);
    for (let n = 0; ; n += 100) {
      const entries = Array.from({ length: 100 }, (_, at) => ({ step: 'vote', atMs: Date.now(), runId: 'r', channelId: 'C', actorId: 'U', facts: { n: n + at } }));
      await Promise.all(entries.map((entry) => audit.append(entry)));
      process.stdout.write(n + 99 + '\\n');
    }`;

  it('at any moment has lost no record that it had answered for', async () => {
    const [node = '', ...options] = NODE;
    const child = spawn(node, [...options, CHILD, path], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let answered = -1;
    child.stdout.on('data', (chunk: Buffer) => {
      answered = Number(chunk.toString().trimEnd().split('\n').at(-1));
      if (answered > 2_000) child.kill('SIGKILL');
    });
    await once(child, 'close');
    expect((await verify()).code).toBe(0);
    clock = new FakeClock();
    await write(1, 'bot-2');
    expect(await verify()).toMatchObject({ code: 0, text: expect.stringContaining('2 starts') });
    const kept = records().filter(({ step }) => step === 'vote');
    expect(kept.length).toBeGreaterThan(answered);
  });

  it('on a full disk refuses, takes back what it wrote in part, and goes on when there is room', async () => {
    const limited = spawnSync('bash', ['-c', 'ulimit -f 64; exec "$@"', 'bash', ...NODE, CHILD, path], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(limited.stderr).toContain('audit_unavailable');
    const answered = Number(limited.stdout.trimEnd().split('\n').at(-1));
    expect(records().at(-1)).toMatchObject({ facts: { n: answered } });
    await write(1, 'bot-2');
    expect(await verify()).toMatchObject({ code: 0, text: expect.not.stringContaining('note') });
  });

  it.each<[string, (record: Buffer) => Uint8Array]>([
    ['in the middle of a record', (record) => record.subarray(0, 30)],
    ['in the middle of a character', (record) => Buffer.concat([record.subarray(0, 30), Buffer.from([0xc3])])],
    ['right before its newline', (record) => record.subarray(0, -1)],
  ])('%s is told by the next start', async (_, tear) => {
    const audit = await start();
    await audit.append(entry(1));
    const { size } = statSync(path);
    await audit.close();
    // Back to the moment in which only a part of the last record was written.
    const last = readFileSync(path).subarray(size);
    truncateSync(path, size);
    dropNewestHead();
    appendFileSync(path, tear(last));
    expect(await verify()).toMatchObject({ code: 0, text: expect.stringContaining('is not whole') });
    await write(1, 'bot-2');
    expect(await verify()).toMatchObject({ code: 0, text: expect.stringContaining('as the start after it recorded') });
  });

  /** The end's second head: then the first one, which announces it, is the newest. */
  function dropNewestHead(): void {
    const file = readFileSync(`${path}.head`);
    const slots = [file.subarray(0, 512), file.subarray(512)];
    const generation = (slot: Buffer | undefined): number => JSON.parse(String(slot)).generation;
    const newest = generation(slots[0]) > generation(slots[1]) ? 0 : 1;
    writeFileSync(`${path}.head`, file.fill(0x20, newest * 512, newest * 512 + 512));
  }
});

it('a place that cannot be written is refused at the start', async () => {
  path = join(directory, 'no', 'such', 'folder');
  await expect(start()).rejects.toMatchObject({ ...UNAVAILABLE, detail: expect.stringContaining('ENOENT') });
});

it('five thousand records at once are all written', async () => {
  const audit = await start();
  await Promise.all(
    Array.from({ length: 5_000 }, (_, n) => audit.append(entry(n, { command: 'pod-1234 --image=debian' }))),
  );
  expect(
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"decision"')),
  ).toHaveLength(5_000);
});
