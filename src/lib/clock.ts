/** Time for the program. Tests and the bench pass a clock that they move by hand. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `wake` once after `ms`; the returned function cancels it. */
  after(ms: number, wake: () => void): () => void;
}

export const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve);
  });

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
 * Settles as `work` does, or after `ms` as `onLate` does: with its return value or error. The work itself continues,
 * and a later rejection is ignored. Cancels the timer when the work settles first. `Infinity` sets no deadline.
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
