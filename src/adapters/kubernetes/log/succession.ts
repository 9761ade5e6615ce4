import type { LogRequest } from '../../../flow/ports.ts';
import { isSameLine } from './line-key.ts';
import type { LogStream } from './log-stream.ts';
import { codeOf, LogStreams, type LogTools } from './log-streams.ts';
import type { Merge } from './merge.ts';
import { stepMs, toMs } from './stamp.ts';

/** The collection is over; with a code when it could not be read to its end. */
export interface Done {
  readonly interruptedBy: string | undefined;
}

/** Ticks without bytes after which a follow no longer counts as flowing. */
const FLOWING_TICKS = 2;

/**
 * Decides which reading of a log is in front and when another is opened. Time passes only in `tick`, so a process that was held up does
 * not take its own silence for the server's.
 */
export class Succession {
  readonly #tools: LogTools;
  readonly #request: LogRequest;
  readonly #merge: Merge;
  readonly #streams: LogStreams;
  #quietTicks = 0;
  #probedSilence = false;
  #endedAtMs: number | undefined;
  #joinedAtStart = false;
  #contentBytes = 0;
  /** The waiting reading of which it is known that the front has not delivered its first line yet. */
  #settled: LogStream | undefined;
  #ended: { readonly front: LogStream; readonly atMs: number } | undefined;

  constructor(tools: LogTools, request: LogRequest, join: { readonly merge: Merge; readonly changed: () => void }) {
    this.#tools = tools;
    this.#request = request;
    this.#merge = join.merge;
    this.#streams = new LogStreams(tools, request, join);
  }

  get front(): LogStream | undefined {
    return this.#streams.front;
  }

  get beginningMayBeMissing(): boolean {
    return !this.#joinedAtStart && this.#isLarge;
  }

  /** The container has ended. */
  end(): void {
    this.#endedAtMs ??= this.#tools.clock.now();
  }

  close(): void {
    this.#streams.close();
  }

  /** The front has brought bytes. */
  flow(front: LogStream): void {
    this.#quietTicks = 0;
    this.#probedSilence = false;
    if (this.#merge.hasAny || !front.follow || front.openedAtMs === undefined) return;
    this.#joinedAtStart = front.openedAtMs - this.#request.startedAtMs <= this.#tools.times.joinedWithinMs;
  }

  /** Content was delivered, this much in all. */
  deliver(contentBytes: number): void {
    if (contentBytes > this.#contentBytes) this.#streams.succeed();
    this.#contentBytes = contentBytes;
  }

  /** Once a tick. `isIdle`: the front was waited for, not the sink. */
  tick(isIdle: boolean): void {
    this.#quietTicks = isIdle ? this.#quietTicks + 1 : 0;
    if (this.#shouldPin()) this.#streams.open('follow');
    if (this.#isDead()) this.#renew();
  }

  /** The merge has stopped the front: it met its successor's first lines, or jumped into a newer file. */
  handOver(): void {
    const { stop } = this.#merge;
    this.#advance();
    if (stop?.kind === 'met') this.#merge.startAfter(stop.lines);
    else this.#merge.startOver({ broken: false, first: this.front?.first ?? [] });
  }

  /** Sorts out the waiting readings and tells the merge what to look out for. Before anything is taken from the front. */
  settle(): void {
    this.#dropDouble();
    while (this.#settleNext());
    this.#merge.expect(this.#streams.next?.first ?? []);
  }

  /** True when the next one was dropped, or put in front; then there may be another. */
  #settleNext(): boolean {
    const { front, next } = this.#streams;
    if (!front || !next || next === this.#settled) return false;
    const [first] = next.first;
    if (!first && (!next.end || !next.follow)) return false;
    const isCovered = !first || this.#merge.hasDelivered(first);
    if (!isCovered || front.end) {
      this.#settled = next;
      return false;
    }
    // The front has delivered its first line, so both read the same file.
    if (next.follow) this.#streams.drop(next);
    else this.#takeOver(false);
    return true;
  }

  /** The front has nothing to take now. Answers when all is over; else there is something to wait for, or a new front. */
  goOn(): Done | undefined {
    const { front, next } = this.#streams;
    if (!front) this.#openFirst();
    else if (front.end) return this.#afterEnd(front);
    else if (next && this.#isExhausted(next)) this.#takeOver(false);
    else if (this.#shouldReadTheRest()) this.#streams.open('final');
    return undefined;
  }

  get #isLarge(): boolean {
    return this.#merge.completeness.fileBytes(this.#contentBytes) >= this.#tools.times.smallBytes;
  }

  get #quietMs(): number {
    return this.#quietTicks * this.#tools.times.tickMs;
  }

  get #isLagging(): boolean {
    const lagMs = this.#tools.client.serverClock.now() - toMs(this.#merge.newest);
    return this.#merge.hasAny && this.#quietTicks <= FLOWING_TICKS && lagMs > this.#tools.times.lagMs;
  }

  /** Whether another follow must be opened now, so that the log file that is current now is held open. */
  #shouldPin(): boolean {
    const { clock, times } = this.#tools;
    const { front, newest, waiting } = this.#streams;
    if (!front?.wasOpened || front.end || !front.follow || this.#endedAtMs !== undefined) return false;
    if (waiting >= times.mostPins || clock.now() - this.#streams.openedAtMs < times.openEveryMs) return false;
    const isOneOnItsWay = newest !== undefined && newest.first.length === 0 && !newest.end;
    if (isOneOnItsWay) return false;
    if (this.#isLagging) return true;
    if (this.#probedSilence || !this.#isLarge || this.#quietMs < times.quietMs) return false;
    this.#probedSilence = true;
    return true;
  }

  #isDead(): boolean {
    return this.front !== undefined && !this.front.end && this.#quietMs >= this.#tools.times.silenceMs;
  }

  #renew(): void {
    if (!this.#streams.next) this.#streams.open(this.#endedAtMs === undefined ? 'follow' : 'final');
    this.#takeOver(true);
  }

  #advance(): void {
    this.#streams.advance();
    this.#quietTicks = 0;
    this.#probedSilence = false;
    this.#settled = undefined;
  }

  #takeOver(broken: boolean): void {
    this.#advance();
    this.#merge.startOver({ broken, first: this.front?.first ?? [] });
  }

  /** Two that begin with the same line hold the same file: one is enough, and the final read is the better one. */
  #dropDouble(): void {
    const { newest, beforeNewest } = this.#streams;
    const [first, other] = [newest?.first[0], beforeNewest?.first[0]];
    if (!newest || !beforeNewest || !first || !other || !isSameLine(first, other)) return;
    this.#streams.drop(newest.follow ? newest : beforeNewest);
  }

  /** Whether the front, which is silent, has read its file to the end: then a rotation took it away, and the next one goes on. */
  #isExhausted(next: LogStream): boolean {
    const { times } = this.#tools;
    const [first] = next.first;
    if (!first) return next.end !== undefined && this.#quietMs >= times.exhaustedMs;
    const isAdjacent = stepMs(this.#merge.newest, first) <= times.marginMs;
    return this.#quietMs >= (isAdjacent ? times.adjacentExhaustedMs : times.exhaustedMs);
  }

  /** After the container's end: at once when much is still to come, else after the follow had its chance to end by itself. */
  #shouldReadTheRest(): boolean {
    if (this.#endedAtMs === undefined || this.#streams.hasFinal || !this.#streams.mayOpen) return false;
    const isOverdue = this.#tools.clock.now() - this.#endedAtMs >= this.#tools.times.endTogetherMs;
    return isOverdue || this.#isLarge || this.#isLagging;
  }

  #openFirst(): void {
    this.#streams.open(this.#endedAtMs === undefined ? 'follow' : 'final');
    this.#takeOver(false);
  }

  #afterEnd(front: LogStream): Done | undefined {
    const error = front.end?.error;
    const endedAtMs = this.#noteEnd(front, error !== undefined);
    if (this.#streams.next) {
      this.#takeOver(error !== undefined);
      return undefined;
    }
    if (error ? this.#isHopeless : !front.follow || this.#isWhole(front, endedAtMs)) {
      return { interruptedBy: error && codeOf(error) };
    }
    const isContainersEndAwaited = !error && this.#endedAtMs === undefined && !this.#isPast(endedAtMs);
    if (this.#streams.mayOpen && !isContainersEndAwaited) {
      this.#streams.open(this.#endedAtMs === undefined ? 'follow' : 'final');
      this.#takeOver(error !== undefined);
    }
    return undefined;
  }

  get #isHopeless(): boolean {
    return this.#endedAtMs !== undefined && this.#streams.failures >= this.#tools.times.lastTries;
  }

  /** When the front was first seen ended. A follow that ends while the container runs is waited after like one that fails. */
  #noteEnd(front: LogStream, isFailure: boolean): number {
    if (this.#ended?.front !== front) {
      this.#ended = { front, atMs: this.#tools.clock.now() };
      if (isFailure || this.#endedAtMs === undefined) this.#streams.fail();
    }
    return this.#ended.atMs;
  }

  #isPast(sinceMs: number): boolean {
    return this.#tools.clock.now() - sinceMs >= this.#tools.times.endTogetherMs;
  }

  /**
   * Whether one follow has brought it all, so that no final read is needed: it was there from the beginning, nothing can have been rotated,
   * and it ended in good order, behind a newline, together with the container (the kubelet ends it, 29–483 ms before the status
   * shows). A clean end alone proves nothing: the API server also ends an answer cleanly when it loses the kubelet.
   */
  #isWhole(front: LogStream, frontEndedAtMs: number): boolean {
    if (this.#endedAtMs === undefined || front.sinceSeconds !== undefined) return false;
    if (this.#merge.isWithinLine || this.#isLarge) return false;
    return this.#endedAtMs - frontEndedAtMs <= this.#tools.times.endTogetherMs;
  }
}
