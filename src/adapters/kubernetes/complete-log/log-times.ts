import type { BackOff } from '../../../lib/backoff.ts';

/**
 * Every duration and size of the log collection, so that tests can scale them together. They follow from a kubelet that looks every 10 s
 * whether a log is over 10 MiB (cluster facts, "Logs"): a file lives 8 s at least.
 */
export interface LogTimes {
  /** How often it is looked whether another follow must be opened. */
  readonly tickMs: number;
  /** A follow whose newest stamp is older than this, while bytes still flow, may be on a file that was rotated away. */
  readonly lagMs: number;
  /** Between two openings; with `tickMs` less than half of a file's life, so that every file is held open by someone. */
  readonly openEveryMs: number;
  /** Silence after which it is looked, once, whether the follow missed a rotation. */
  readonly quietMs: number;
  /** Silence after which a follow with a successor counts as read to the end of its file. */
  readonly exhaustedMs: number;
  /** The same, when the successor's first line stands close to the last one read. */
  readonly adjacentExhaustedMs: number;
  /** The same, when the container has ended: then a follow ends by itself, unless its connection is dead. */
  readonly deadMs: number;
  /** Silence after which the connection may be half-open and is made anew. */
  readonly silenceMs: number;
  /** A successor begins this much before the newest line (`sinceTime` has whole seconds). */
  readonly overlapMs: number;
  /** Stamps are not monotonic: at a rotation and between two streams they step back by less than this. */
  readonly marginMs: number;
  /** A lost file shows as a step in the stamps of at least this. */
  readonly gapMs: number;
  /** The shortest time between two rotations. */
  readonly fileLifeMs: number;
  /** A follow that was open so soon after the start has seen the first file. */
  readonly joinedWithinMs: number;
  /** A follow's end and the container's end belong together when they are this close. */
  readonly endTogetherMs: number;
  readonly backOff: BackOff;
  /** How often the end of an ended container's log is asked for in vain. */
  readonly lastTries: number;
  /** Follows held open at once. */
  readonly mostPins: number;
  /** Below this nothing can have been rotated (the kubelet's own default is 10 MiB). */
  readonly smallBytes: number;
  /** From here on a file may have been lost: 10 MiB, and a little less, because parts of long lines have a stamp each that is not counted. */
  readonly rotatedBytes: number;
}

export const LOG_TIMES: LogTimes = {
  tickMs: 250,
  lagMs: 4_000,
  openEveryMs: 4_000,
  quietMs: 2_000,
  exhaustedMs: 3_000,
  adjacentExhaustedMs: 2_000,
  deadMs: 15_000,
  silenceMs: 60_000,
  overlapMs: 2_000,
  marginMs: 1_000,
  gapMs: 7_000,
  fileLifeMs: 8_000,
  joinedWithinMs: 3_000,
  endTogetherMs: 1_500,
  backOff: { firstMs: 100, maxMs: 5_000 },
  lastTries: 7,
  mostPins: 32,
  smallBytes: 8 * 1024 * 1024,
  rotatedBytes: 9 * 1024 * 1024,
};
