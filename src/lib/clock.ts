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

/**
 * The same clock to measure with: its `now` never goes back. When somebody sets the clock back, it goes on from where it
 * was, so that nothing waits until an old time comes again. Its moments are of no use outside.
 */
export function steady(clock: Clock): Clock {
  let backMs = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    now() {
      const nowMs = clock.now() + backMs;
      backMs += Math.max(0, lastMs - nowMs);
      lastMs = Math.max(lastMs, nowMs);
      return lastMs;
    },
    after: (ms, wake) => clock.after(ms, wake),
  };
}

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
