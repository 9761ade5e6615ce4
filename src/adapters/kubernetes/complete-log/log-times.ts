import type { BackOff } from '../../../lib/backoff.ts';

/**
 * Every duration and size of the log collection, so that tests can scale them together. They follow from a kubelet that
 * checks every 10 s (8.0–13.4 s measured) whether a log is over 10 MiB: a file lives at least 8 s.
 */
export interface LogTimes {
  /** The time between two checks by the policy if it needs another follow. */
  readonly tickMs: number;
  /** A follow that still delivers lines older than this may be on a rotated file. */
  readonly lagMs: number;
  /** Between two openings; with `tickMs` less than half of a file's life, so that some stream holds every file open. */
  readonly openEveryMs: number;
  /** After this silence one stream opens, to see whether the follow missed a rotation. */
  readonly probeMs: number;
  /** After this silence a follow with a successor counts as read to its file's end. */
  readonly readToEndMs: number;
  /** The same, when the successor's first line is close to the line delivered last. */
  readonly adjacentReadToEndMs: number;
  /** The same, after the container's end: a follow then ends on its own, unless its connection is dead. */
  readonly deadFollowMs: number;
  /** After this silence the connection may be half-open, so it is replaced. */
  readonly deadConnectionMs: number;
  /** A successor starts this much before the newest line (`sinceTime` has whole seconds). */
  readonly overlapMs: number;
  /** Stamps are not monotonic: at a rotation, and between stdout and stderr, they step back by less than this. */
  readonly marginMs: number;
  /** A lost file leaves a step of at least this in the stamps. */
  readonly gapMs: number;
  /** The shortest time between two rotations. */
  readonly fileLifeMs: number;
  /** A follow opened this soon after the start may have seen the first file. */
  readonly openInTimeMs: number;
  /** A first line this much later than the opening of its follow came into an empty file: a fast writer is never so quiet. */
  readonly quietMs: number;
  /** A follow's end this close to the container's end belongs to it. */
  readonly endTogetherMs: number;
  readonly backOff: BackOff;
  /** Failed openings in a row, after the container's end, before the collection gives up. */
  readonly maxFailures: number;
  /** Limit of streams waiting behind the front. */
  readonly maxWaiting: number;
  /** From here on a log shows whether its writer was fast enough to have filled a file before it. */
  readonly burstBytes: number;
  /** Below this no rotation is possible (the kubelet's own default is 10 MiB). */
  readonly smallBytes: number;
  /** From here on a file may be lost: 10 MiB less a margin, for the uncounted stamps inside long lines. */
  readonly rotatedBytes: number;
}

export const LOG_TIMES: LogTimes = {
  tickMs: 250,
  lagMs: 4_000,
  openEveryMs: 4_000,
  probeMs: 2_000,
  readToEndMs: 3_000,
  adjacentReadToEndMs: 2_000,
  deadFollowMs: 15_000,
  deadConnectionMs: 60_000,
  overlapMs: 2_000,
  marginMs: 1_000,
  gapMs: 7_000,
  fileLifeMs: 8_000,
  openInTimeMs: 3_000,
  quietMs: 250,
  endTogetherMs: 1_500,
  backOff: { firstMs: 100, maxMs: 5_000 },
  maxFailures: 7,
  maxWaiting: 32,
  burstBytes: 256 * 1024,
  smallBytes: 8 * 1024 * 1024,
  rotatedBytes: 9 * 1024 * 1024,
};
