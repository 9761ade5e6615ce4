import { stepMs, toMs } from './line-identity.ts';
import type { Merge } from './line-merger.ts';
import type { LogStream } from './log-stream.ts';
import type { LogStreams, LogTools } from './log-streams.ts';

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

/** When the container ended, when the follow in front did, and what the one says about the other. Our own clock. */
export class Ending {
  readonly #tools: LogTools;
  #containerAtMs: number | undefined;
  #front: { readonly stream: LogStream; readonly atMs: number } | undefined;

  constructor(tools: LogTools) {
    this.#tools = tools;
  }

  get isKnown(): boolean {
    return this.#containerAtMs !== undefined;
  }

  get sinceMs(): number {
    return this.#containerAtMs === undefined ? 0 : this.#tools.clock.now() - this.#containerAtMs;
  }

  /** The container has ended. */
  note(): void {
    this.#containerAtMs ??= this.#tools.clock.now();
  }

  /** True when this stream's end is new. */
  noteFront(stream: LogStream): boolean {
    if (this.#front?.stream === stream) return false;
    this.#front = { stream, atMs: this.#tools.clock.now() };
    return true;
  }

  /** A follow has ended cleanly, and whether the container has too is not known yet. */
  isAwaited(stream: LogStream): boolean {
    if (!stream.follow || this.isKnown || stream.end?.error) return false;
    return this.#tools.clock.now() - (this.#front?.atMs ?? 0) < this.#tools.times.endTogetherMs;
  }

  /**
   * Whether a clean end means the end of the file. For a follow only together with the container's end (the kubelet ends it
   * 29–483 ms before the status shows), because the API server also ends an answer cleanly when it loses the kubelet.
   */
  isInOrder(stream: LogStream): boolean {
    if (stream.end?.error) return false;
    if (!stream.follow) return true;
    if (this.#containerAtMs === undefined || !this.#front) return false;
    return this.#containerAtMs - this.#front.atMs <= this.#tools.times.endTogetherMs;
  }
}

/** Ticks without bytes after which a follow no longer counts as flowing. */
const FLOWING_TICKS = 2;

/**
 * How long the front has been silent. Counted in ticks and not by the clock, so that a process that was held up does not take its
 * own silence for the server's.
 */
export class Pulse {
  readonly #tickMs: number;
  #ticks = 0;
  #isProbed = false;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  get quietMs(): number {
    return this.#ticks * this.#tickMs;
  }

  get isFlowing(): boolean {
    return this.#ticks <= FLOWING_TICKS;
  }

  /** Once in a silence: true the first time. */
  probe(): boolean {
    const isFirst = !this.#isProbed;
    this.#isProbed = true;
    return isFirst;
  }

  /** Bytes came, or another stream is listened to. */
  beat(): void {
    this.#ticks = 0;
    this.#isProbed = false;
  }

  /** `isIdle`: bytes were waited for. */
  tick(isIdle: boolean): void {
    this.#ticks = isIdle ? this.#ticks + 1 : 0;
  }
}
