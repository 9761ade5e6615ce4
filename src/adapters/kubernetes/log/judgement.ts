import type { Ending } from './ending.ts';
import type { LogStream } from './log-stream.ts';
import type { LogStreams, LogTools } from './log-streams.ts';
import type { Merge } from './merge.ts';
import type { Pulse } from './pulse.ts';
import { stepMs, toMs } from './stamp.ts';

/** All that is known of a collection under way. */
export interface Evidence {
  readonly tools: LogTools;
  readonly merge: Merge;
  readonly streams: LogStreams;
  readonly pulse: Pulse;
  readonly ending: Ending;
}

/** What the signs of a log under way mean (cluster facts, "Logs"). Changes nothing. */
export class Judgement {
  readonly #evidence: Evidence;

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  /** So much has come that a rotation is possible. */
  get isLarge(): boolean {
    const { merge, tools } = this.#evidence;
    return merge.fileBytes >= tools.times.smallBytes;
  }

  /** Bytes flow, but old ones: the current file may be another one than the front's. */
  get isLagging(): boolean {
    const { merge, pulse, tools } = this.#evidence;
    return merge.hasAny && pulse.isFlowing && tools.client.serverClock.now() - toMs(merge.newest) > tools.times.lagMs;
  }

  /** Whether another follow must be opened now, so that the log file that is current now is held open. */
  get isPinDue(): boolean {
    const { tools, streams, ending } = this.#evidence;
    const { front, waiting, openedAtMs } = streams;
    if (!front?.wasOpened || front.end || !front.follow || ending.isKnown) return false;
    if (waiting >= tools.times.mostPins || tools.clock.now() - openedAtMs < tools.times.openEveryMs) return false;
    return this.isLagging || this.#isSilenceToProbe;
  }

  /** A follow that never was at the end of its file misses the rotation and falls silent. Once in a silence that is looked into. */
  get #isSilenceToProbe(): boolean {
    const { tools, streams, pulse } = this.#evidence;
    const { newest } = streams;
    const isOneOnItsWay = newest !== undefined && newest.first.length === 0 && !newest.end;
    return !isOneOnItsWay && this.isLarge && pulse.quietMs >= tools.times.quietMs && pulse.probe();
  }

  /** Nothing has come for so long that the connection may be half-open. */
  get isDead(): boolean {
    const { tools, streams, pulse } = this.#evidence;
    return streams.front !== undefined && !streams.front.end && pulse.quietMs >= tools.times.silenceMs;
  }

  /**
   * Whether the front, which is silent, has read its file to the end: then a rotation took it away, and the next one goes on. After the
   * container's end a follow ends by itself, so only one that is dead is silent.
   */
  isExhausted(next: LogStream): boolean {
    const { tools, merge, pulse, ending } = this.#evidence;
    const { times } = tools;
    const [first] = next.first;
    if (!first) return next.end !== undefined && pulse.quietMs >= times.exhaustedMs;
    if (ending.isKnown) return pulse.quietMs >= times.deadMs;
    // The front may be in the same file already, behind its first line; the next line will tell.
    if (next.first.length < 2 && !next.end && merge.mayHaveGlued(next.firstEnd)) return false;
    const isAdjacent = !merge.isWithinLine && stepMs(merge.newest, first) <= times.marginMs;
    return pulse.quietMs >= (isAdjacent ? times.adjacentExhaustedMs : times.exhaustedMs);
  }

  /** After the container's end: at once when much is still to come, else after the follow had its chance to end by itself. */
  get isFinalReadDue(): boolean {
    const { tools, streams, ending } = this.#evidence;
    if (!ending.isKnown || streams.hasFinal || !streams.mayOpen) return false;
    return ending.sinceMs >= tools.times.endTogetherMs || this.isLarge || this.isLagging;
  }

  /**
   * Whether one follow that ended in order has brought it all, so that no final read is needed: it was there from the beginning, nothing can
   * have been rotated, and its last line is whole.
   */
  isWhole(front: LogStream): boolean {
    return front.sinceSeconds === undefined && !this.#evidence.merge.isWithinLine && !this.isLarge;
  }
}
