import { beforeEach, describe, expect, it } from 'vitest';
import { withDeadline } from '../../src/lib/clock.ts';
import { FakeClock } from '../support/fake-clock.ts';

describe('withDeadline', () => {
  const never = new Promise<string>(() => undefined);
  let clock: FakeClock;

  beforeEach(() => {
    clock = new FakeClock();
  });

  it('gives what the work gives, and cancels its timer', async () => {
    expect(await withDeadline(clock, 100, Promise.resolve('done'), () => 'late')).toBe('done');
    await expect(withDeadline(clock, 100, Promise.reject(new Error('failed')), () => 'late')).rejects.toThrow('failed');
    await Promise.resolve();
    expect(clock.pending).toBe(0);
  });

  it('gives what `onLate` gives when the time is over, not before', async () => {
    const results: string[] = [];
    void withDeadline(clock, 100, never, () => 'late').then((result) => results.push(result));
    await clock.advance(99);
    expect(results).toEqual([]);
    await clock.advance(1);
    expect(results).toEqual(['late']);
  });

  it('rejects with what `onLate` throws', async () => {
    const late = withDeadline(clock, 100, never, () => {
      throw new Error('late');
    });
    const rejected = expect(late).rejects.toThrow('late');
    await clock.advance(100);
    await rejected;
  });

  it('ignores a failure of the work that comes after the deadline', async () => {
    let fail: (error: Error) => void = () => undefined;
    const work = new Promise<string>((_, reject) => {
      fail = reject;
    });
    const result = withDeadline(clock, 100, work, () => 'late');
    await clock.advance(100);
    fail(new Error('too late to matter'));
    expect(await result).toBe('late');
  });

  it('sets no timer for an infinite deadline', async () => {
    expect(await withDeadline(clock, Number.POSITIVE_INFINITY, Promise.resolve('done'), () => 'late')).toBe('done');
    expect(clock.pending).toBe(0);
  });
});
