import { describe, expect, it } from 'vitest';
import { LatestValue } from '../../src/lib/latest-value.ts';
import { FakeClock } from '../support/fake-clock.ts';

describe('Latest', () => {
  it('gives the newest value only', async () => {
    const clock = new FakeClock();
    const latest = new LatestValue<number>(clock);
    latest.put(1);
    latest.put(2);
    expect(await latest.next(clock.elapsed() + 10)).toBe(2);
  });

  it('wakes a reader that waits', async () => {
    const clock = new FakeClock();
    const latest = new LatestValue<number>(clock);
    const next = latest.next(clock.elapsed() + 10);
    latest.put(3);
    expect(await next).toBe(3);
  });

  it('gives nothing when the time is over, and leaves no timer behind', async () => {
    const clock = new FakeClock();
    const latest = new LatestValue<number>(clock);
    const next = latest.next(clock.elapsed() + 10);
    await clock.advance(10);
    expect(await next).toBeUndefined();
    expect(clock.pending).toBe(0);
  });
});
