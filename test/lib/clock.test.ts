import { describe, expect, it } from 'vitest';
import { elapsedAt, instantOf, pause, sinceInstant, withDefault } from '../../src/lib/clock.ts';
import { FakeClock } from '../support/fake-clock.ts';

it('a pause ends by its clock, or sooner when it is ended, which cancels the timer', async () => {
  const clock = new FakeClock();
  let over = 0;
  const first = pause(clock, 100);
  const second = pause(clock, 100);
  for (const { over: ended } of [first, second]) void ended.then(() => (over += 1));
  first.end();
  expect(clock.pending).toBe(1);
  await clock.advance(99);
  expect(over).toBe(1);
  await clock.advance(1);
  expect(over).toBe(2);
});

it('how long ago a moment was says the clock that counts more: when it was set back, and when the machine slept', async () => {
  const clock = new FakeClock();
  const moment = instantOf(clock);
  await clock.advance(10);
  expect(sinceInstant(clock, moment)).toBe(10);
  clock.jump(-5_000);
  expect(sinceInstant(clock, moment)).toBe(10);
  clock.jump(8_000);
  expect(sinceInstant(clock, moment)).toBe(3_010);
});

it('a recorded deadline is waited for as far as the wall clock is away from it', () => {
  const clock = new FakeClock();
  const deadlineMs = clock.now() + 1_000;
  clock.jump(-500);
  expect(elapsedAt(clock, deadlineMs)).toBe(clock.elapsed() + 1_500);
});

describe('withDefault', () => {
  it('resolves with the default where the work fails or takes too long, and never rejects', async () => {
    const clock = new FakeClock();
    const none = () => 'none';
    expect(await withDefault(clock, 100, Promise.resolve('some'), none)).toBe('some');
    expect(await withDefault(clock, 100, Promise.reject(new Error('no')), none)).toBe('none');
    const late = withDefault(clock, 100, new Promise<string>(() => undefined), none);
    await clock.advance(100);
    expect(await late).toBe('none');
  });
});
