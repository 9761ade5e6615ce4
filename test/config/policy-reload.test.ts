import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type LoadedPolicy, loadPolicy } from '../../src/config/load-policy.ts';
import { type PolicyWatch, watchPolicy } from '../../src/config/policy-reload.ts';
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
  const changes: number[] = [];
  const waits: number[] = [];
  let next: { atMs: number; wake: () => void } | undefined;
  let nowMs = 0;
  watch = watchPolicy(path, {
    initial,
    log: {
      info: (message) => said.push(message),
      error: (message, fields) => said.push(`${message}: ${JSON.stringify(fields?.problems)}`),
    },
    onChange: (policy) => changes.push(policy.limits.runsPerChannel),
    after: (ms, wake) => {
      waits.push(ms);
      const mine = { atMs: nowMs + ms, wake };
      next = mine;
      return () => {
        if (next === mine) next = undefined;
      };
    },
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
  return { advance, said, changes, waits, inForce, isArmed: () => next !== undefined };
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
    const changed = new Promise<number>((resolve) => {
      const log = { info: () => undefined, error: () => undefined };
      const onChange = () => resolve(performance.now());
      watch = watchPolicy(path, { initial: loadPolicy(path) as LoadedPolicy, log, onChange });
    });
    // The real timer keeps no process alive, so the test must.
    const alive = setInterval(() => undefined, 100);
    const writtenAt = performance.now();
    writeFileSync(path, limited(2));
    expect((await changed) - writtenAt).toBeLessThan(2_000);
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
    expect([changes, said.at(-1), said.length]).toEqual([[], 'policy file unchanged', 2]);
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
  const closing: PolicyWatch = watchPolicy(path, {
    initial: loadPolicy(path) as LoadedPolicy,
    log,
    onChange: () => closing.close(),
  });
  writeFileSync(path, limited(2));
  vi.advanceTimersByTime(2_000);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});
