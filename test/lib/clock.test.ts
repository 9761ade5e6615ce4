import { expect, it } from 'vitest';
import { pause } from '../../src/lib/clock.ts';
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
