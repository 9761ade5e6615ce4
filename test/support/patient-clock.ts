import { systemClock } from '../../src/adapters/system/index.ts';
import type { Clock } from '../../src/lib/clock.ts';

const TIMES = 20;

/** The time of day as it is, and deadlines that are twenty times as long: for tests whose machine may be busy. */
export const patientClock: Clock = {
  now: systemClock.now,
  elapsed: () => systemClock.elapsed() / TIMES,
  after: (ms, wake) => systemClock.after(ms * TIMES, wake),
};
