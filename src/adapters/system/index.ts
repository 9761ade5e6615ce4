import { randomBytes } from 'node:crypto';
import { BASE32 } from '../../core/hash.ts';
import { asRunId } from '../../core/ids.ts';
import type { Ids } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';

/** The machine's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, wake) {
    const timer = setTimeout(wake, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Random ids of 50 bits: among a million runs two collide with a chance of 1 in 2,000, and the store refuses that. */
export const randomIds: Ids = {
  runId: () => asRunId([...randomBytes(10)].map((byte) => BASE32[byte % 32]).join('')),
};

export const replicaName = (host: string): string => `${host}-${process.pid}-${randomBytes(4).toString('hex')}`;
