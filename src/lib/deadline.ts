import type { Clock } from './clock.ts';

/**
 * Settles as `work` does, or after `ms` as `onLate` does: with the value it returns or the error it throws. The work itself goes on,
 * and a later rejection of it is ignored. The timer is cancelled when the work settles first. `Infinity` sets no deadline.
 */
export function withDeadline<Value, Late>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  work: Promise<Value>,
  onLate: () => Late,
): Promise<Value | Late> {
  if (ms === Number.POSITIVE_INFINITY) return work;
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      try {
        resolve(onLate());
      } catch (thrown) {
        reject(thrown);
      }
    });
    void work.then(resolve, reject).finally(cancel);
  });
}
