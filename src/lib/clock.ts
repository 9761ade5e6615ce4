/** Time for the program. Tests and the bench pass a clock that they move by hand. */
export interface Clock {
  /**
   * The wall clock, in milliseconds since the epoch: for moments that people read, that a run records for another
   * replica, or that Slack and Kubernetes name. Somebody may set it, forward or back, so never measure with it.
   */
  now(): number;
  /**
   * Milliseconds since the process began, for durations and deadlines: it never goes back. Timers follow it. It does
   * not count while the machine is suspended; a hold that others may take over meanwhile needs `sinceInstant`.
   */
  elapsed(): number;
  /** Calls `wake` once after `ms`; the returned function cancels it. */
  after(ms: number, wake: () => void): () => void;
}

export const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve);
  });

/** One moment, by both clocks. */
export interface Instant {
  readonly wallMs: number;
  readonly elapsedMs: number;
}

export const instantOf = (clock: Pick<Clock, 'now' | 'elapsed'>): Instant => ({
  wallMs: clock.now(),
  elapsedMs: clock.elapsed(),
});

/**
 * The age of the instant, by the clock that counts more: a suspended machine stops `elapsed`, and somebody may set the
 * wall clock back. For a hold, which must rather seem too old than too young.
 */
export const sinceInstant = (clock: Pick<Clock, 'now' | 'elapsed'>, { wallMs, elapsedMs }: Instant): number =>
  Math.max(clock.now() - wallMs, clock.elapsed() - elapsedMs);

/** The moment of the wall clock as one of `elapsed`, as far as one can say now. For a wait until a recorded deadline. */
export const elapsedAt = (clock: Pick<Clock, 'now' | 'elapsed'>, wallMs: number): number =>
  clock.elapsed() + wallMs - clock.now();

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
 * Resolves as `work` does, or with `otherwise` if it fails or takes longer than `ms`. Never rejects. Else as
 * `withDeadline`.
 */
export const withDefault = <Value, Other>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  work: Promise<Value>,
  otherwise: () => Other,
): Promise<Value | Other> => withDeadline(clock, ms, work.catch(otherwise), otherwise);

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
