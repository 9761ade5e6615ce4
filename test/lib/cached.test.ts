import { beforeEach, describe, expect, it } from 'vitest';
import { Cached } from '../../src/lib/cached.ts';
import { FakeClock } from '../support/fake-clock.ts';

let clock: FakeClock;
let loaded: string[];

beforeEach(() => {
  clock = new FakeClock();
  loaded = [];
});

/** A value and the function that delivers it. */
function delivery<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const value = new Promise<Value>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { value, resolve, reject };
}

describe('a cached value', () => {
  let cached: Cached<string>;
  const get = (key: string, value = Promise.resolve('yes'), sinceMs?: number): Promise<string> => {
    const load = () => {
      loaded.push(key);
      return value;
    };
    return cached.get(key, load, sinceMs);
  };

  beforeEach(() => {
    cached = new Cached({ clock, freshMs: (value) => (value === 'yes' ? 1_000 : 100), maxEntries: 2 });
  });

  it('is used as long as it may be, counted from the start of its load', async () => {
    const first = delivery<string>();
    const slow = get('a', first.value);
    await clock.advance(900);
    first.resolve('yes');
    await slow;
    await clock.advance(99);
    await get('a');
    expect(loaded).toEqual(['a']);
    await clock.advance(1);
    await get('a', Promise.resolve('no'));
    await clock.advance(100);
    await get('a');
    expect(loaded).toEqual(['a', 'a', 'a']);
  });

  it('is shared by all who want it while it is loaded, however long that takes', async () => {
    const slow = delivery<string>();
    const first = get('a', slow.value);
    await clock.advance(5_000);
    const second = get('a');
    slow.resolve('yes');
    expect(await Promise.all([first, second])).toEqual(['yes', 'yes']);
    expect(loaded).toEqual(['a']);
  });

  it('is never an error: each is thrown to all who wait, and the next caller loads again', async () => {
    const failed = Promise.reject(new Error('no answer'));
    await expect(Promise.all([get('a', failed), get('a')])).rejects.toThrow('no answer');
    expect(await get('a')).toBe('yes');
    expect(loaded).toEqual(['a', 'a']);
  });

  it('makes room for others: the least recently used goes first', async () => {
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key);
    expect(loaded).toEqual(['a', 'b', 'c', 'b']);
  });

  it('does not count when its load started before the moment that counts; the new one is shared', async () => {
    await get('a');
    await clock.advance(10);
    await get('a', Promise.resolve('yes'), clock.elapsed());
    await get('a', Promise.resolve('yes'), clock.elapsed());
    await get('a');
    expect(loaded).toEqual(['a', 'a']);
  });
});

describe('a load with a deadline', () => {
  let cached: Cached<number>;
  const get = (value: Promise<number>, sinceMs?: number): Promise<number> => cached.get('a', () => value, sinceMs);
  const onLate = (): never => {
    throw new Error('late');
  };

  beforeEach(() => {
    cached = new Cached({ clock, freshMs: () => 5_000, maxEntries: 2, deadline: { ms: 1_500, onLate } });
  });

  it('counts the age of a slow value from the start of its load', async () => {
    const slow = delivery<number>();
    const first = get(slow.value);
    await clock.advance(1_400);
    slow.resolve(1);
    expect(await first).toBe(1);
    await clock.advance(3_599);
    expect(await get(Promise.resolve(2))).toBe(1);
    await clock.advance(1);
    expect(await get(Promise.resolve(2))).toBe(2);
  });

  it('fails in time, and its later failure does not remove the value that came after it', async () => {
    const hanging = delivery<number>();
    const refused = expect(get(hanging.value)).rejects.toThrow('late');
    await clock.advance(1_500);
    await refused;
    expect(await get(Promise.resolve(2))).toBe(2);
    hanging.reject(new Error('too late to matter'));
    await clock.advance(1);
    expect(await get(Promise.resolve(3))).toBe(2);
  });

  it('is not shared when it hangs since before the moment that counts', async () => {
    const refused = expect(get(new Promise(() => undefined))).rejects.toThrow('late');
    await clock.advance(10);
    expect(await get(Promise.resolve(2), clock.elapsed())).toBe(2);
    await clock.advance(1_500);
    await refused;
  });
});
