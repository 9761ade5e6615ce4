import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryAfterMs, ServerClock } from '../../../../src/adapters/kubernetes/api/server-clock.ts';

const dateOf = (serverMs: number): string => new Date(serverMs).toUTCString();

/** Answers come at these moments, after these delays, from a server that is so far ahead. */
function learned(aheadMs: number, answers: readonly { readonly atMs: number; readonly tookMs: number }[]) {
  let nowMs = 0;
  const clock = new ServerClock({ now: () => 0, elapsed: () => nowMs, after: () => () => {} });
  for (const { atMs, tookMs } of answers) {
    nowMs = 1e12 + atMs;
    clock.learn(dateOf(nowMs - tookMs / 2 + aheadMs), nowMs - tookMs);
  }
  return { clock, nowMs };
}

const answer = fc.record({ atMs: fc.nat(60_000), tookMs: fc.nat(300) });

describe('the clock of the server', () => {
  it('is never put later than it can be, and within a second of what it is', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e7, max: 1e7 }), fc.array(answer, { minLength: 1 }), (aheadMs, answers) => {
        const { clock, nowMs } = learned(aheadMs, answers);
        expect(clock.earliest()).toBeLessThanOrEqual(nowMs + aheadMs);
        expect(Math.abs(clock.now() - nowMs - aheadMs)).toBeLessThanOrEqual(1_000);
      }),
    );
  });

  it('is known better with every answer', () => {
    const { clock, nowMs } = learned(
      123_456,
      Array.from({ length: 200 }, (_, n) => ({ atMs: n * 137, tookMs: 4 })),
    );
    expect(Math.abs(clock.now() - nowMs - 123_456)).toBeLessThan(20);
  });

  it('may be set', () => {
    let nowMs = 1e12;
    const clock = new ServerClock({ now: () => 0, elapsed: () => nowMs, after: () => () => {} });
    clock.learn(dateOf(nowMs), nowMs);
    nowMs += 5_000;
    clock.learn(dateOf(nowMs + 600_000), nowMs);
    expect(Math.abs(clock.now() - nowMs - 600_000)).toBeLessThanOrEqual(1_000);
  });

  it('is ours while nothing is known, and an unreadable date changes nothing', () => {
    const clock = new ServerClock({ now: () => 7, elapsed: () => 3, after: () => () => {} });
    clock.learn('yesterday', 3);
    clock.learn(undefined, 3);
    expect([clock.now(), clock.earliest()]).toEqual([7, undefined]);
  });
});

it.each([
  ['7', 7_000],
  ['0', 0],
  ['-1', undefined],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  [undefined, undefined],
])('Retry-After %j is %s ms', (header, ms) => {
  expect(retryAfterMs(header)).toBe(ms);
});
