import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type LoadedPolicy, loadPolicy } from '../../src/config/load-policy.ts';
import {
  type PolicyStatus,
  type PolicyWatch,
  policyLines,
  type ReloadResult,
  watchPolicy,
} from '../../src/config/policy-reload.ts';
import { sha256 } from '../../src/core/hash.ts';
import { MINIMAL } from './policy-text.ts';

const limited = (runs: number): string => `${MINIMAL}limits: { runsPerChannel: ${runs} }\n`;
const BROKEN = `${MINIMAL}limts: {}\n`;

let directory: string;
let path: string;
let watch: PolicyWatch | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kdebug-reload-'));
  path = join(directory, 'policy.yaml');
});
afterEach(() => {
  watch?.close();
  rmSync(directory, { recursive: true });
});

/** Starts to watch with a timer in the test's hands. `advance` lets so many milliseconds pass. */
function started() {
  const initial = loadPolicy(path) as LoadedPolicy;
  const said: string[] = [];
  const records: unknown[] = [];
  const changes: number[] = [];
  const waits: number[] = [];
  let next: { atMs: number; wake: () => void } | undefined;
  let nowMs = 0;
  watch = watchPolicy(path, {
    initial,
    log: {
      info: (message, fields) => {
        said.push(message);
        records.push(fields);
      },
      error: (message, fields) => {
        said.push(`${message}: ${JSON.stringify(fields?.problems)}`);
        records.push(fields);
      },
    },
    now: () => nowMs,
    after: (ms, wake) => {
      waits.push(ms);
      const mine = { atMs: nowMs + ms, wake };
      next = mine;
      return () => {
        if (next === mine) next = undefined;
      };
    },
  });
  const reloads: [ReloadResult, string][] = [];
  watch.onReload((result, hash) => {
    reloads.push([result, hash]);
    if (result === 'applied') changes.push(watch?.current().limits.runsPerChannel ?? 0);
  });
  const advance = (ms: number): void => {
    const untilMs = nowMs + ms;
    while (next && next.atMs <= untilMs) {
      nowMs = next.atMs;
      next.wake();
    }
    nowMs = untilMs;
  };
  const inForce = () => watch?.current().limits.runsPerChannel;
  const status = () => watch?.status();
  return { advance, said, records, changes, reloads, waits, inForce, status, isArmed: () => next !== undefined };
}

describe('a new policy is in force within 2 s', () => {
  it('after a write in place', () => {
    writeFileSync(path, limited(1));
    const { advance, changes, inForce, said } = started();
    writeFileSync(path, limited(2));
    expect(inForce()).toBe(1);
    advance(750);
    expect([inForce(), changes, said]).toEqual([2, [2], ['policy changed']]);
  });

  it('after a rename over it, as editors do, again and again', () => {
    writeFileSync(path, limited(1));
    const { advance, changes } = started();
    for (const runs of [2, 3, 4]) {
      writeFileSync(`${path}~`, limited(runs));
      renameSync(`${path}~`, path);
      advance(2_000);
    }
    expect(changes).toEqual([2, 3, 4]);
  });

  it("after a ConfigMap's symlink swap, again and again", () => {
    const publish = (version: number): void => {
      const data = join(directory, `..${version}`);
      mkdirSync(data);
      writeFileSync(join(data, 'policy.yaml'), limited(version));
      symlinkSync(`..${version}`, join(directory, '..data_tmp'));
      renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
      if (version > 1) rmSync(join(directory, `..${version - 1}`), { recursive: true });
    };
    publish(1);
    symlinkSync('..data/policy.yaml', path);
    const { advance, changes, inForce } = started();
    for (const version of [2, 3, 4]) {
      publish(version);
      advance(2_000);
      expect(inForce()).toBe(version);
    }
    expect(changes).toEqual([2, 3, 4]);
  });

  it('by the clock of the machine', async () => {
    writeFileSync(path, limited(1));
    const changed = new Promise<void>((resolve) => {
      const log = { info: () => undefined, error: () => undefined };
      watch = watchPolicy(path, { initial: loadPolicy(path) as LoadedPolicy, log });
      watch.onReload(() => resolve());
    });
    // The real timer keeps no process alive, so the test must.
    const alive = setInterval(() => undefined, 100);
    writeFileSync(path, limited(2));
    await changed;
    expect(watch?.current().limits.runsPerChannel).toBe(2);
    clearInterval(alive);
  });
});

describe('the old policy stays in force', () => {
  it('while the new file is broken, which is said once', () => {
    writeFileSync(path, limited(1));
    const { advance, changes, inForce, said } = started();
    writeFileSync(path, BROKEN);
    advance(60_000);
    expect([inForce(), changes]).toEqual([1, []]);
    expect(said).toEqual([
      `new policy is invalid, keeping the old one: ["${path}:5:1 limts: is not a key here; did you mean \\"limits\\"?"]`,
    ]);
  });

  it('while the file is away, which is said once', () => {
    writeFileSync(path, limited(1));
    const { advance, inForce, said } = started();
    rmSync(path);
    advance(60_000);
    expect([inForce(), said.length, said[0]]).toEqual([1, 1, expect.stringContaining('cannot be read (ENOENT)')]);
  });

  it('until a repaired file comes', () => {
    writeFileSync(path, limited(1));
    const { advance, changes, said } = started();
    writeFileSync(path, BROKEN);
    advance(2_000);
    writeFileSync(path, limited(3));
    advance(2_000);
    expect([changes, said.length]).toEqual([[3], 2]);
  });

  it('when the old text comes back after a broken one, and that is said too', () => {
    writeFileSync(path, limited(1));
    const { advance, changes, said } = started();
    writeFileSync(path, BROKEN);
    advance(2_000);
    writeFileSync(path, limited(1));
    advance(60_000);
    expect([changes, said.at(-1), said.length]).toEqual([[], 'policy file is the policy in force again', 2]);
  });

  it('while a text is still being written: one that changes between two looks is not taken', () => {
    writeFileSync(path, limited(1));
    const { advance, changes, said } = started();
    const whole = limited(2);
    for (const length of [10, 30, 60]) {
      writeFileSync(path, whole.slice(0, length));
      advance(250);
    }
    writeFileSync(path, whole);
    advance(1_000);
    expect([changes, said]).toEqual([[2], ['policy changed']]);
  });

  it('when nothing happens: nothing is said, and the file is read twice a second', () => {
    writeFileSync(path, limited(1));
    const { advance, said, waits } = started();
    writeFileSync(path, readFileSync(path));
    advance(60_000);
    expect(said).toEqual([]);
    expect(new Set(waits)).toEqual(new Set([500]));
  });
});

it('after close nothing is looked at any more', () => {
  writeFileSync(path, limited(1));
  const { isArmed } = started();
  expect(isArmed()).toBe(true);
  watch?.close();
  expect(isArmed()).toBe(false);
});

it('a policy that is closed by its own change stays closed', () => {
  writeFileSync(path, limited(1));
  vi.useFakeTimers();
  const log = { info: () => undefined, error: () => undefined };
  const closing = watchPolicy(path, { initial: loadPolicy(path) as LoadedPolicy, log });
  closing.onReload(() => closing.close());
  writeFileSync(path, limited(2));
  vi.advanceTimersByTime(2_000);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('every new text of the file', () => {
  it('is one record with its result, and where the first mistake is', () => {
    writeFileSync(path, limited(1));
    const { advance, records } = started();
    const hashOf = (text: string) => sha256(text);
    writeFileSync(path, limited(2));
    advance(1_000);
    writeFileSync(path, BROKEN);
    advance(60_000);
    writeFileSync(path, limited(2));
    advance(1_000);
    rmSync(path);
    advance(1_000);
    const hash = hashOf(limited(2));
    expect(records).toEqual([
      { result: 'applied', path, hash, before: hashOf(limited(1)) },
      {
        result: 'refused',
        path,
        hash,
        line: 5,
        column: 1,
        field: 'limts',
        problems: [expect.stringContaining('limts')],
      },
      { result: 'unchanged', path, hash },
      { result: 'refused', path, hash, problems: [expect.stringContaining('ENOENT')] },
    ]);
  });

  it('is told to the listeners with the policy then in force', () => {
    writeFileSync(path, limited(1));
    const { advance, reloads } = started();
    for (const text of [limited(2), BROKEN, limited(2)]) {
      writeFileSync(path, text);
      advance(1_000);
    }
    const hash = sha256(limited(2));
    expect(reloads).toEqual([
      ['applied', hash],
      ['refused', hash],
      ['unchanged', hash],
    ]);
  });
});

describe('the status', () => {
  it('names the policy in force, since when, and nothing more while the file is that policy', () => {
    writeFileSync(path, limited(1));
    const { advance, status } = started();
    expect(status()).toEqual({ hash: sha256(limited(1)), sinceMs: 0 });
    advance(10_000);
    writeFileSync(path, limited(2));
    advance(10_000);
    expect(status()).toEqual({ hash: sha256(limited(2)), sinceMs: 10_750 });
  });

  it('says since when the file is refused and where, through further broken texts, until it is repaired', () => {
    writeFileSync(path, limited(1));
    const { advance, status } = started();
    writeFileSync(path, BROKEN);
    advance(5_000);
    const first = { line: 5, column: 1, field: 'limts' };
    expect(status()).toMatchObject({ hash: sha256(limited(1)), refused: { sinceMs: 750, problems: 1, first } });
    writeFileSync(path, `${BROKEN}imges: {}\n`);
    advance(5_000);
    expect(status()?.refused).toEqual({ sinceMs: 750, problems: 2, first });
    writeFileSync(path, limited(1));
    advance(5_000);
    expect(status()).toEqual({ hash: sha256(limited(1)), sinceMs: 0 });
  });

  it('has no position for a file that is away', () => {
    writeFileSync(path, limited(1));
    const { advance, status } = started();
    rmSync(path);
    advance(5_000);
    expect(status()?.refused).toEqual({ sinceMs: 750, problems: 1 });
  });
});

describe('the lines for people', () => {
  const inForce = { hash: 'a'.repeat(64), sinceMs: Date.UTC(2026, 0, 2) };
  const FIRST = `in force since 2026-01-02T00:00:00.000Z: ${'a'.repeat(64)}`;
  const since = Date.UTC(2026, 0, 3);

  it.each<[string, PolicyStatus['refused'], string[]]>([
    ['one, while the file is in force', undefined, [FIRST]],
    [
      'where the file is wrong',
      { sinceMs: since, problems: 2, first: { line: 12, column: 7, field: 'channels.C0SHOP' } },
      [FIRST, 'file refused since 2026-01-03T00:00:00.000Z: 2 problems, first at line 12, column 7, channels.*'],
    ],
    ...[
      ['channels.C0SHOP.rules[3].approval.expires', 'channels.*.rules[3].approval.expires'],
      ['clusters.eu.west.context', 'clusters.*.*.context'],
      ['identity.users.U0ROY', 'identity.users.*'],
      ['images.x\n[-] redis failed: a\u001b[2J', 'images.*'],
      ['xoxb-pasted', '*'],
    ].map(([field = '', shown = '']): [string, PolicyStatus['refused'], string[]] => [
      `no key that people chose: ${shown}`,
      { sinceMs: since, problems: 1, first: { line: 1, column: 2, field } },
      [FIRST, `file refused since 2026-01-03T00:00:00.000Z: 1 problem, first at line 1, column 2, ${shown}`],
    ]),
    [
      'a file that is not YAML',
      { sinceMs: since, problems: 1, first: { line: 1, column: 2 } },
      [FIRST, 'file refused since 2026-01-03T00:00:00.000Z: 1 problem, first at line 1, column 2'],
    ],
    [
      'a file that is away',
      { sinceMs: since, problems: 1 },
      [FIRST, 'file refused since 2026-01-03T00:00:00.000Z: 1 problem'],
    ],
  ])('%s', (_, refused, lines) => {
    expect(policyLines({ ...inForce, ...(refused && { refused }) })).toEqual(lines);
  });
});
