/** Time, as a port: tests may bring their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `wake` once after `ms`; the returned function takes it back. */
  after(ms: number, wake: () => void): () => void;
}

/** The machine's own time. A waiting timer does not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, wake) => {
    const timer = setTimeout(wake, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or at once when `signal` aborts. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.after(ms, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}
