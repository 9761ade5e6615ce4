import type { LogRequest } from '../../../flow/ports/cluster.ts';
import { FirstFileProof } from './completeness.ts';
import { Ending, Judgement, Pulse } from './handover-policy.ts';
import { isSameStamp, type Stamp, toMs } from './line-identity.ts';
import type { Merge } from './line-merger.ts';
import type { LogStream, Reading } from './log-stream.ts';
import { codeOf, LogStreams, type LogTools, RetiredStreams } from './log-streams.ts';

/** The collection is over; with a code when it could not be read to its end. */
export interface Done {
  readonly interruptedBy: string | undefined;
}

/** What the succession shares with who reads. */
export interface Joint {
  readonly merge: Merge;
  /** A reading has changed: bytes, its end. */
  readonly changed: () => void;
  /** Gives what is held back of the front to the merge. */
  readonly finishReading: () => Reading | undefined;
}

/** Decides which reading of a log is in front and when another is opened. Waiting times pass only in `tick`. */
export class Succession {
  readonly #tools: LogTools;
  readonly #join: Joint;
  readonly #merge: Merge;
  readonly #streams: LogStreams;
  readonly #pulse: Pulse;
  readonly #ending: Ending;
  readonly #retired: RetiredStreams;
  readonly #judgement: Judgement;
  readonly #firstFile: FirstFileProof;
  #holdTicks = 0;
  /** The waiting reading of which it is known that the front has not delivered its first lines yet, and how many those were. */
  #settled: { readonly stream: LogStream; readonly lines: number } | undefined;
  /** The front may repeat what was delivered, and its first lines are not known yet. */
  #starting: { readonly broken: boolean; readonly jumpedTo: Readonly<Stamp> | undefined; ticks: number } | undefined;

  constructor(tools: LogTools, request: LogRequest, join: Joint) {
    this.#tools = tools;
    this.#join = join;
    this.#merge = join.merge;
    this.#streams = new LogStreams(tools, request, join);
    this.#pulse = new Pulse(tools.times.tickMs);
    this.#ending = new Ending(tools);
    this.#retired = new RetiredStreams(tools.times.marginMs);
    const [merge, streams, pulse, ending] = [this.#merge, this.#streams, this.#pulse, this.#ending];
    this.#firstFile = new FirstFileProof(tools.times, request.startedAtMs);
    this.#judgement = new Judgement({ tools, merge, streams, pulse, ending });
  }

  get front(): LogStream | undefined {
    return this.#streams.front;
  }

  /** Whether content may be taken from the front. */
  get isReady(): boolean {
    return this.front !== undefined && !this.#starting;
  }

  get beginningMayBeMissing(): boolean {
    return this.#judgement.isLarge && this.#firstFile.isMissing;
  }

  /** The container has ended. */
  end(): void {
    this.#ending.note();
  }

  close(): void {
    this.#streams.close();
    this.#retired.close();
  }

  /** The front has brought bytes. */
  flow(front: LogStream): void {
    this.#pulse.beat();
    if (this.#merge.hasAny || !front.follow || front.openedAtMs === undefined) return;
    this.#firstFile.opened(front.openedAtMs);
  }

  /** The front has brought content that was new. */
  deliver(): void {
    this.#streams.succeed();
    this.#firstFile.delivered(this.#merge);
  }

  /** Once a tick. `isIdle`: the front was waited for, not the sink. */
  tick(isIdle: boolean): void {
    this.#pulse.tick(isIdle);
    this.#holdTicks = this.#merge.isHeld ? this.#holdTicks + 1 : 0;
    this.#retired.tick();
    if (this.#starting) this.#starting.ticks += 1;
    if (this.#judgement.isPinDue) this.#streams.open('follow');
    if (this.#judgement.isDead) this.#renew();
  }

  /** The merge has stopped the front: it met its successor's first lines, or jumped into a newer file. */
  handOver(): void {
    const { stop } = this.#merge;
    if (stop?.kind === 'jumped') this.#noteJump(stop.to);
    this.#advance('closed');
    if (stop?.kind === 'met') this.#merge.startAfter(stop.lines);
    else this.#starting = { broken: false, ticks: 0, jumpedTo: stop?.to };
  }

  /** Sorts out the waiting readings and tells the merge what to look out for. Before anything is taken from the front. */
  settle(): void {
    this.#retired.listen();
    this.#startFront();
    this.#streams.dropDouble();
    while (this.#settleNext());
    this.#merge.expect(this.#isNextUnknown ? undefined : (this.#streams.next?.first ?? []));
  }

  /** The front has nothing to take now. Answers when all is over; else there is something to wait for, or a new front. */
  goOn(): Done | undefined {
    const { front, next } = this.#streams;
    if (!front) {
      this.#openNext();
      this.#takeOver(false);
    } else if (!this.isReady || this.#merge.isHeld) {
      return undefined;
    } else if (front.end) {
      return this.#afterEnd(front);
    } else if (next && this.#judgement.isExhausted(next)) {
      this.#leave(next);
    } else if (this.#judgement.isFinalReadDue) {
      this.#streams.open('final');
    }
    return undefined;
  }

  /** A follow waits that has not shown its first line yet; a line that comes after a long step is held for it, but not for ever. */
  get #isNextUnknown(): boolean {
    const { next } = this.#streams;
    const hasPatience = this.#holdTicks * this.#tools.times.tickMs < this.#tools.times.exhaustedMs;
    return next?.follow === true && next.first.length === 0 && !next.end && hasPatience;
  }

  /**
   * A follow that jumps over a whole file glues what it finds there to a line that the rotation had cut, and shows no stamp between
   * them. That did not happen if what stopped it is the first line of a file; otherwise the line is in doubt, and said to be.
   */
  #noteJump(to: Readonly<Stamp>): void {
    this.#noteRotation();
    const second = this.#streams.next?.first[1];
    const isIntoNext = second !== undefined && isSameStamp(second, to);
    if (!isIntoNext && !this.#streams.hasFirstLine(to)) this.#merge.doubtNewest(to)();
  }

  /** The front's file is read to its end, so the next one's first line is the first of another file. */
  #noteRotation(): void {
    const [first] = this.#streams.next?.first ?? [];
    if (first) this.#firstFile.rotated(toMs(first));
  }

  /** What a reading repeats shows in its first two lines; for the second one a tick is waited. */
  #startFront(): void {
    const { front } = this;
    if (!this.#starting || !front) return;
    const isKnown = front.isKnown || (front.first.length > 0 && this.#starting.ticks > 1);
    if (this.#merge.hasAny && !isKnown) return;
    const { broken, jumpedTo } = this.#starting;
    this.#merge.startOver({ broken, jumpedTo, first: front.first, firstEnd: front.firstEnd });
    this.#starting = undefined;
  }

  /** True when the next one was dropped, or put in front; then there may be another. */
  #settleNext(): boolean {
    const { front, next } = this.#streams;
    if (!front || !next || !this.isReady) return false;
    if (this.#settled?.stream === next && this.#settled.lines === next.first.length) return false;
    const [first] = next.first;
    if (!first && (!next.end || !next.follow)) return false;
    const isCovered = !first || next.first.some((line) => this.#merge.hasDelivered(line));
    if (!isCovered || front.end) {
      this.#settled = { stream: next, lines: next.first.length };
      return false;
    }
    // The front has delivered its first line, so both read the same file.
    if (next.follow) this.#streams.drop(next);
    else this.#takeOver(false);
    return true;
  }

  #openNext(): void {
    this.#streams.open(this.#ending.isKnown ? 'final' : 'follow');
  }

  #renew(): void {
    if (!this.#streams.next) this.#openNext();
    this.#takeOver(true);
  }

  #advance(front: 'closed' | 'kept'): void {
    this.#streams.advance(front);
    this.#pulse.beat();
    this.#settled = undefined;
  }

  #takeOver(broken: boolean, front: 'closed' | 'kept' = 'closed'): void {
    this.#advance(front);
    this.#starting = { broken, ticks: 0, jumpedTo: undefined };
  }

  /** The front has read its file to the end, as far as can be told; it is listened to further. */
  #leave(next: LogStream): void {
    const reading = this.#join.finishReading();
    if (this.#merge.stop) {
      this.handOver();
      return;
    }
    const [first] = next.first;
    this.#noteRotation();
    if (reading && first) {
      const { stream, reader } = reading;
      this.#retired.add({ stream, reader, next: first, onLate: this.#merge.doubtNewest(first) });
    }
    this.#takeOver(false, reading && first ? 'kept' : 'closed');
  }

  #afterEnd(front: LogStream): Done | undefined {
    const isNew = this.#ending.noteFront(front);
    if (isNew && (front.end?.error || !this.#ending.isKnown)) this.#streams.fail();
    if (this.#ending.isAwaited(front)) return undefined;
    const isInOrder = this.#ending.isInOrder(front);
    const done = this.#streams.next ? undefined : this.#done(front, isInOrder);
    // At the very end those who were left get a moment to end as well.
    if (done) return this.#retired.isOver(this.#tools.times) ? done : undefined;
    if (!this.#streams.next && !this.#streams.mayOpen) return undefined;
    if (!this.#streams.next) this.#openNext();
    if (isInOrder) this.#noteRotation();
    this.#takeOver(!isInOrder);
    return undefined;
  }

  #done(front: LogStream, isInOrder: boolean): Done | undefined {
    if (isInOrder && (!front.follow || this.#judgement.isWhole(front))) return { interruptedBy: undefined };
    const error = front.end?.error;
    const isHopeless = this.#ending.isKnown && this.#streams.failures >= this.#tools.times.lastTries;
    return error && isHopeless ? { interruptedBy: codeOf(error) } : undefined;
  }
}
