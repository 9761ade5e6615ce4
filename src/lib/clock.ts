/** Time as the program sees it. Tests and the bench pass one that they move by hand. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `wake` once after `ms`; the returned function cancels it. */
  after(ms: number, wake: () => void): () => void;
}

/** Resolves after `ms` on the given clock. */
export const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve);
  });

/** A wait that `end` cuts short. */
export interface Pause {
  readonly over: Promise<void>;
  end(): void;
}

export function pause(clock: Pick<Clock, 'after'>, ms: number): Pause {
  let end = (): void => {};
  const over = new Promise<void>((resolve) => {
    const cancel = clock.after(ms, resolve);
    end = () => {
      cancel();
      resolve();
    };
  });
  return { over, end };
}

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
