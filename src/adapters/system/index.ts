import { randomBytes } from 'node:crypto';
import { BASE32 } from '../../core/hash.ts';
import { asRunId } from '../../core/ids.ts';
import type { Ids } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';

/** The machine's clock. A timer never keeps the process alive by itself. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, wake) {
    const timer = setTimeout(wake, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Random ids: 50 bits, so that two of a million runs are equal with a chance of one in two thousand, and the store refuses those. */
export const randomIds: Ids = {
  runId: () => asRunId([...randomBytes(10)].map((byte) => BASE32[byte % 32]).join('')),
};

/** A name for this process among its replicas. */
export const replicaName = (host: string): string => `${host}-${process.pid}-${randomBytes(4).toString('hex')}`;
