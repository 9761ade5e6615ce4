import { describe, expect, it } from 'vitest';
import { LatestValue } from '../../src/lib/latest-value.ts';
import { START_MS } from '../support/builders.ts';
import { FakeClock } from '../support/fake-clock.ts';

describe('Latest', () => {
  it('gives the newest value only', async () => {
    const latest = new LatestValue<number>(new FakeClock());
    latest.put(1);
    latest.put(2);
    expect(await latest.next(START_MS + 10)).toBe(2);
  });

  it('wakes a reader that waits', async () => {
    const latest = new LatestValue<number>(new FakeClock());
    const next = latest.next(START_MS + 10);
    latest.put(3);
    expect(await next).toBe(3);
  });

  it('gives nothing when the time is over, and leaves no timer behind', async () => {
    const clock = new FakeClock();
    const latest = new LatestValue<number>(clock);
    const next = latest.next(START_MS + 10);
    await clock.advance(10);
    expect(await next).toBeUndefined();
    expect(clock.pending).toBe(0);
  });
});
