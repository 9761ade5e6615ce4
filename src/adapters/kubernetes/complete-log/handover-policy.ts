import type { LogTimes } from './log-times.ts';

/** The facts about one stream that the policy needs. */
export interface StreamFacts {
  readonly follow: boolean;
  readonly end: 'clean' | 'failed' | undefined;
  /** The number of its two first lines that are known. */
  readonly firstLines: number;
}

export interface FrontFacts extends StreamFacts {
  /** The server has begun to answer. */
  readonly wasOpened: boolean;
  /** False while its first lines are unknown, or the merger holds a line back. */
  readonly isReadable: boolean;
  /** Opened without `sinceTime`. */
  readonly isFromStart: boolean;
  /** The time at which its last byte was read, by our clock. */
  readonly endedAtMs: number | undefined;
}

export interface NextFacts extends StreamFacts {
  /** From the line delivered last to its first line; undefined until known. */
  readonly stepMs: number | undefined;
  /** The line delivered last may contain its first line (a rotation cut that line in two). */
  readonly mayBeDelivered: boolean;
}

export interface StreamsFacts {
  readonly front: FrontFacts | undefined;
  /** The oldest stream that waits behind the front. */
  readonly next: NextFacts | undefined;
  readonly waiting: number;
  /** The newest waiting stream has shown nothing yet. */
  readonly isOneOpening: boolean;
  /** A stream that does not follow exists already. */
  readonly hasFinalRead: boolean;
  readonly openedAtMs: number;
  /** Failed openings since the last stream that delivered something. */
  readonly failures: number;
  /** False during the pause after a failure. */
  readonly mayOpen: boolean;
}

/** All known facts of a collection at one moment. Times are by our clock. */
export interface LogFacts extends StreamsFacts {
  readonly nowMs: number;
  readonly containerEndedAtMs: number | undefined;
  /** Time since the front's last bytes. */
  readonly silentMs: number;
  readonly isFlowing: boolean;
  /** This silence has already opened a stream. */
  readonly isSilenceProbed: boolean;
  /** Age of the line delivered last, by the server's clock; undefined before the first. */
  readonly newestAgeMs: number | undefined;
  /** The kubelet's files held at least this much. */
  readonly fileBytes: number;
  /** The line delivered last has no newline yet. */
  readonly isWithinLine: boolean;
}

export type Step =
  | { readonly kind: 'wait' }
  /** The next stream becomes the front; without one, a stream is opened. */
  | { readonly kind: 'hand over'; readonly because: 'start' | 'end of file' | 'silence' | 'broken' }
  /** Opens a stream behind all others. */
  | { readonly kind: 'open'; readonly stream: 'final' }
  | { readonly kind: 'done'; readonly because: 'all read' | 'failures' };

const WAIT: Step = { kind: 'wait' };
const handOver = (because: Extract<Step, { kind: 'hand over' }>['because']): Step => ({ kind: 'hand over', because });

/** The next step, once the front has nothing to read. */
export function nextStep(facts: LogFacts, times: LogTimes): Step {
  const { front, next } = facts;
  if (!front) return handOver('start');
  if (!front.isReadable) return WAIT;
  if (front.end) return stepAfterEnd(front, facts, times);
  if (next && isReadToEnd(next, facts, times)) return handOver('silence');
  return isFinalReadDue(facts, times) ? { kind: 'open', stream: 'final' } : WAIT;
}

/**
 * Returns the reason to open another follow now, so that some stream holds the current log file open; undefined if none
 * must open.
 */
export function whyOpenFollow(facts: LogFacts, times: LogTimes): 'lag' | 'silence' | undefined {
  const { front, containerEndedAtMs, waiting, nowMs, openedAtMs } = facts;
  if (!front?.wasOpened || front.end || !front.follow || containerEndedAtMs !== undefined) return undefined;
  if (waiting >= times.maxWaiting || nowMs - openedAtMs < times.openEveryMs) return undefined;
  if (isLagging(facts, times)) return 'lag';
  return isSilenceToProbe(facts, times) ? 'silence' : undefined;
}

/** After so long a silence the connection may be half-open. */
export const isConnectionDead = ({ front, silentMs }: LogFacts, times: LogTimes): boolean =>
  front !== undefined && !front.end && silentMs >= times.deadConnectionMs;

/** Enough bytes for a rotation. */
export const isLarge = ({ fileBytes }: Pick<LogFacts, 'fileBytes'>, times: LogTimes): boolean =>
  fileBytes >= times.smallBytes;

/**
 * Says if the next stream reads the same file as the front, once its first lines can tell. `isDelivered`: the front has
 * delivered one of them. A follow without lines adds nothing; a final read without lines may still bring its error.
 */
export function compareFiles(
  front: Pick<StreamFacts, 'end'>,
  next: StreamFacts,
  isDelivered: () => boolean,
): 'unknown' | 'same' | 'different' {
  const isEmpty = next.firstLines === 0;
  if (isEmpty && (!next.end || !next.follow)) return 'unknown';
  const isRepeated = isEmpty || isDelivered();
  // After a front that has ended the next stream follows in any case; the merger then skips repeated lines.
  return isRepeated && !front.end ? 'same' : 'different';
}

/** The merger still holds back a line after a long step, until the next stream shows its first line. */
export const isFirstLineAwaited = (next: StreamFacts | undefined, heldMs: number, times: LogTimes): boolean =>
  next?.follow === true && next.firstLines === 0 && !next.end && heldMs < times.readToEndMs;

/** Old bytes flow: the kubelet may be writing another file than the front's. */
const isLagging = ({ isFlowing, newestAgeMs }: LogFacts, times: LogTimes): boolean =>
  isFlowing && newestAgeMs !== undefined && newestAgeMs > times.lagMs;

/** A follow that never reached its file's end misses the rotation and falls silent. One probe per silence. */
const isSilenceToProbe = (facts: LogFacts, times: LogTimes): boolean =>
  !facts.isOneOpening && isLarge(facts, times) && facts.silentMs >= times.probeMs && !facts.isSilenceProbed;

/**
 * True if the silent front has read its file to the end: a rotation removed the file, and the next stream continues.
 * After the container's end a follow ends on its own, so only a dead one is silent.
 */
function isReadToEnd(next: NextFacts, facts: LogFacts, times: LogTimes): boolean {
  const { silentMs } = facts;
  if (next.stepMs === undefined) return next.end !== undefined && silentMs >= times.readToEndMs;
  if (facts.containerEndedAtMs !== undefined) return silentMs >= times.deadFollowMs;
  // The front may already be in the same file, behind its first line; the next line shows which.
  if (next.firstLines < 2 && !next.end && next.mayBeDelivered) return false;
  const isAdjacent = !facts.isWithinLine && next.stepMs <= times.marginMs;
  return silentMs >= (isAdjacent ? times.adjacentReadToEndMs : times.readToEndMs);
}

/** After the container's end: at once when much is missing, else after the follow had time to end on its own. */
function isFinalReadDue(facts: LogFacts, times: LogTimes): boolean {
  const { containerEndedAtMs, hasFinalRead, mayOpen, nowMs } = facts;
  if (containerEndedAtMs === undefined || hasFinalRead || !mayOpen) return false;
  return nowMs - containerEndedAtMs >= times.endTogetherMs || isLarge(facts, times) || isLagging(facts, times);
}

function stepAfterEnd(front: FrontFacts, facts: LogFacts, times: LogTimes): Step {
  if (isStatusAwaited(front, facts, times)) return WAIT;
  const isAtEnd = isEndOfFile(front, facts, times);
  if (facts.next) return handOver(isAtEnd ? 'end of file' : 'broken');
  if (isAtEnd && (!front.follow || isWhole(front, facts, times))) return { kind: 'done', because: 'all read' };
  const isHopeless = facts.containerEndedAtMs !== undefined && facts.failures >= times.maxFailures;
  if (front.end === 'failed' && isHopeless) return { kind: 'done', because: 'failures' };
  if (!facts.mayOpen) return WAIT;
  return handOver(isAtEnd ? 'end of file' : 'broken');
}

/** A follow has ended cleanly; the status shows in a moment whether the container has ended too. */
function isStatusAwaited(front: FrontFacts, { containerEndedAtMs, nowMs }: LogFacts, times: LogTimes): boolean {
  if (!front.follow || containerEndedAtMs !== undefined || front.end === 'failed') return false;
  return nowMs - (front.endedAtMs ?? 0) < times.endTogetherMs;
}

/**
 * A clean end means the end of the file; for a follow only together with the container's end (the kubelet ends it
 * 29–483 ms before the status shows), because the API server also ends a response cleanly when it loses the kubelet.
 */
function isEndOfFile(front: FrontFacts, { containerEndedAtMs }: LogFacts, times: LogTimes): boolean {
  if (front.end === 'failed') return false;
  if (!front.follow) return true;
  if (containerEndedAtMs === undefined || front.endedAtMs === undefined) return false;
  return containerEndedAtMs - front.endedAtMs <= times.endTogetherMs;
}

/** No final read needed: the follow read from the start, nothing was rotated, its last line is complete. */
const isWhole = (front: FrontFacts, facts: LogFacts, times: LogTimes): boolean =>
  front.isFromStart && !facts.isWithinLine && !isLarge(facts, times);
