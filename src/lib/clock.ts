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
