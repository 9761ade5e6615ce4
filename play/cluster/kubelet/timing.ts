/** The kubelet's clock, scaled as one. */
export interface Timing {
  /** Container states reach the API at this period; 0: at once. */
  readonly relistMs: number;
  /** From the API's word to a running process. */
  readonly startMs: number;
  /** From `ErrImagePull` to `ImagePullBackOff`. */
  readonly pullErrorMs: number;
  /** Pause before a failed pull is tried again; doubles up to 30 times as much. */
  readonly pullBackOffMs: number;
  /** How often a container that could not be created is tried again. */
  readonly syncMs: number;
  /** Pause before a crashed container is started again; doubles up to 30 times as much. */
  readonly crashBackOffMs: number;
}

/** All periods in the real proportions for a relist of `delayMs`: a kubelet relists each second and backs off for 10 s. */
export function timingOf(delayMs: number): Timing {
  const second = delayMs === 0 ? 10 : delayMs;
  return {
    relistMs: delayMs,
    startMs: delayMs * 0.08,
    pullErrorMs: second * 1.5,
    pullBackOffMs: second * 10,
    syncMs: second * 10,
    crashBackOffMs: second * 10,
  };
}
