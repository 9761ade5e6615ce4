import { expect, it } from 'vitest';
import { pause, steady } from '../../src/lib/clock.ts';
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

it('a steady clock goes on from where it was when the clock is set back, and ahead when it is set ahead', () => {
  const clock = new FakeClock();
  const measure = steady(clock);
  const beganMs = measure.now();
  const passedMs = (): number => measure.now() - beganMs;
  clock.jump(-5_000);
  expect(passedMs()).toBe(0);
  clock.standStill(10);
  expect(passedMs()).toBe(10);
  clock.jump(3_000);
  expect(passedMs()).toBe(3_010);
});
