import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContainerLog } from '../../../cluster/log/container-log.ts';
import { LogReader } from '../../../cluster/log/log-reader.ts';

let directory: string;
let overflows: ContainerLog[];
let now: number;
let files: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kdebug-test-'));
  overflows = [];
  now = Date.parse('2026-11-21T09:00:00.250Z');
  files = 0;
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function newLog(maxBytes = 1000): ContainerLog {
  const newPath = () => {
    files += 1;
    return join(directory, `${files}.log`);
  };
  return new ContainerLog({ now: () => now, newPath, onOverflow: (log) => overflows.push(log), maxBytes });
}

const options = { follow: false, timestamps: false, previous: false };
const write = (log: ContainerLog, text: string) => log.write(Buffer.from(text));

/** Everything that a reader has now, and how it stopped. */
function drain(reader: LogReader): { text: string; left: 'wait' | 'end' } {
  let text = '';
  for (;;) {
    const block = reader.next();
    if (block === undefined) return { text, left: 'end' };
    if (block === 'wait') return { text, left: 'wait' };
    text += block.toString();
  }
}

describe('a log', () => {
  it('stamps every line with nine digits, never twice, never backwards', () => {
    const log = newLog();
    write(log, 'a\nb\n');
    write(log, 'c\n');
    const lines = drain(new LogReader(log, { ...options, timestamps: true }))
      .text.trimEnd()
      .split('\n');
    const stamps = lines.map((line) => line.split(' ')[0] ?? '');
    expect(stamps.every((stamp) => /^2026-11-21T09:00:00\.\d{9}Z$/.test(stamp))).toBe(true);
    expect([...new Set(stamps)].sort()).toEqual(stamps);
    expect(lines.map((line) => line.split(' ')[1])).toEqual(['a', 'b', 'c']);
  });

  it('finishes an unfinished line at its end', () => {
    const log = newLog();
    write(log, 'half');
    log.end();
    expect(drain(new LogReader(log, options)).text).toBe('half\n');
  });

  it('reads from a whole second on, and the last lines', () => {
    const log = newLog();
    write(log, 'early\n');
    now += 2000;
    write(log, 'late\nlatest\n');
    const since = Date.parse('2026-11-21T09:00:02.000Z') / 1000;
    expect(drain(new LogReader(log, { ...options, sinceSecond: since })).text).toBe('late\nlatest\n');
    expect(drain(new LogReader(log, { ...options, tailLines: 1 })).text).toBe('latest\n');
    expect(drain(new LogReader(log, { ...options, tailLines: 0 })).text).toBe('');
  });

  it('that is big lives in a file and reads the same', () => {
    const log = newLog(10 ** 9);
    const line = `${'x'.repeat(99)}\n`;
    for (let each = 0; each < 20; each += 1) write(log, line.repeat(500));
    expect(readdirSync(directory)).toHaveLength(1);
    const reader = new LogReader(log, options);
    expect(drain(reader).text).toBe(line.repeat(10_000));
    reader.close();
    log.discard();
    expect(readdirSync(directory)).toHaveLength(0);
  });
});

describe('rotation', () => {
  it('is asked for once a file', () => {
    const log = newLog(100);
    write(log, 'x'.repeat(200));
    write(log, 'x'.repeat(200));
    expect(overflows).toEqual([log]);
    log.rotate();
    write(log, 'x'.repeat(200));
    expect(overflows).toEqual([log, log]);
  });

  it('leaves only the newest file to a new reader', () => {
    const log = newLog();
    write(log, 'old\n');
    log.rotate();
    write(log, 'new\n');
    expect(drain(new LogReader(log, options)).text).toBe('new\n');
  });

  it('is followed by a reader that had reached the end before', () => {
    const log = newLog();
    const reader = new LogReader(log, { ...options, follow: true });
    write(log, 'one\n');
    expect(drain(reader)).toEqual({ text: 'one\n', left: 'wait' });
    log.rotate();
    write(log, 'two\n');
    expect(drain(reader)).toEqual({ text: 'two\n', left: 'wait' });
  });

  it('twice while a follow lags loses the file between, silently', () => {
    const log = newLog();
    const reader = new LogReader(log, { ...options, follow: true });
    expect(drain(reader).left).toBe('wait');
    write(log, 'one\n');
    log.rotate();
    write(log, 'two\n');
    log.rotate();
    write(log, 'three\n');
    log.end();
    log.rotate();
    expect(drain(reader).text).toBe('one\n');

    const living = newLog();
    const lagging = new LogReader(living, { ...options, follow: true });
    expect(drain(lagging).left).toBe('wait');
    for (const text of ['one\n', 'two\n', 'three\n']) {
      if (text !== 'one\n') living.rotate();
      write(living, text);
    }
    expect(drain(lagging)).toEqual({ text: 'one\nthree\n', left: 'wait' });
  });

  it('before a follow has reached the end once escapes it: it stays on the old file and ends without error', () => {
    const log = newLog();
    write(log, 'one\n');
    const reader = new LogReader(log, { ...options, follow: true });
    log.rotate();
    write(log, 'two\n');
    expect(drain(reader)).toEqual({ text: 'one\n', left: 'wait' });
    log.end();
    expect(drain(reader)).toEqual({ text: '', left: 'end' });
  });

  it('cuts a line that is being written in two, the rest under a stamp of its own', () => {
    const log = newLog();
    const reader = new LogReader(log, { ...options, follow: true, timestamps: true });
    expect(drain(reader).left).toBe('wait');
    write(log, 'first half');
    log.rotate();
    write(log, ' second half\n');
    expect(drain(reader).text).toMatch(/^\S+Z first half\S+Z {2}second half\n$/);
  });

  it('keeps a file that somebody reads, and no longer', () => {
    const log = newLog(10 ** 9);
    write(log, `${'x'.repeat(600 * 1024)}\n`);
    const reader = new LogReader(log, { ...options, follow: true });
    log.rotate();
    expect(readdirSync(directory)).toHaveLength(1);
    expect(drain(reader).text).toHaveLength(600 * 1024 + 1);
    reader.close();
    expect(readdirSync(directory)).toHaveLength(0);
  });
});
