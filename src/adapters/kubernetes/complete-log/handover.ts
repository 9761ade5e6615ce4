import type { LogRequest } from '../../../flow/ports/cluster.ts';
import {
  compareFiles,
  isConnectionDead,
  isFirstLineAwaited,
  type LogFacts,
  nextStep,
  whyOpenFollow,
} from './handover-policy.ts';
import { isSameStamp, type Stamp, toMs } from './line-identity.ts';
import type { LineMerger } from './line-merger.ts';
import { FirstFileProof } from './log-output.ts';
import type { LogStream, StreamCursor } from './log-stream.ts';
import { AbandonedStreams, factsOf, LogStreams, type LogTools, reasonOf } from './log-streams.ts';

/** The collection has ended; with a code when the log could not be read to its end. */
type Done = { readonly interruptedBy: string | undefined };

interface HandoverContext {
  readonly merger: LineMerger;
  /** A stream got bytes or ended. */
  readonly changed: () => void;
  readonly finishReading: () => StreamCursor | undefined;
}

/** Ticks without bytes after which a stream no longer counts as flowing. */
const FLOWING_TICKS = 2;

/**
 * Gathers the facts, asks the policy and obeys it: opens streams and puts the next one in front. Silence counts in
 * ticks, not by the clock, so that a stalled process does not mistake its own silence for the server's.
 */
export class Handover {
  readonly #tools: LogTools;
  readonly #context: HandoverContext;
  readonly #merger: LineMerger;
  readonly #streams: LogStreams;
  readonly #abandoned: AbandonedStreams;
  readonly #firstFile: FirstFileProof;
  #silentTicks = 0;
  #isSilenceProbed = false;
  #heldTicks = 0;
  #containerEndedAtMs: number | undefined;
  /** The next stream, known to read another file than the front, and how many of its first lines were known then. */
  #compared: { readonly stream: LogStream; readonly lines: number } | undefined;
  /** The front may repeat delivered lines, and its first lines are not known yet. */
  #starting: { readonly isBroken: boolean; readonly jumpedTo: Readonly<Stamp> | undefined; ticks: number } | undefined;

  constructor(tools: LogTools, request: LogRequest, context: HandoverContext) {
    this.#tools = tools;
    this.#context = context;
    this.#merger = context.merger;
    this.#streams = new LogStreams(tools, request, context);
    this.#abandoned = new AbandonedStreams(tools.times.marginMs);
    this.#firstFile = new FirstFileProof(tools.times, request.startedAtMs);
  }

  get front(): LogStream | undefined {
    return this.#streams.front;
  }

  get readableFront(): LogStream | undefined {
    return this.#starting || this.#merger.isHeld ? undefined : this.front;
  }

  get beginningMayBeMissing(): boolean {
    return this.#firstFile.mayBeMissing(this.#merger);
  }

  containerEnded(): void {
    this.#containerEndedAtMs ??= this.#tools.clock.elapsed();
  }

  close(): void {
    this.#streams.close();
    this.#abandoned.close();
  }

  received(front: LogStream): void {
    this.#breakSilence();
    if (this.#merger.hasAny || !front.follow || front.openedAtMs === undefined) return;
    this.#firstFile.opened(front.openedAtMs);
  }

  /** The front delivered new content. */
  delivered(): void {
    this.#streams.succeed();
    this.#firstFile.delivered(this.#merger);
  }

  /** `isIdle`: the loop waits for the front, not for the sink. */
  tick(isIdle: boolean): void {
    const { times } = this.#tools;
    this.#silentTicks = isIdle ? this.#silentTicks + 1 : 0;
    this.#heldTicks = this.#merger.isHeld ? this.#heldTicks + 1 : 0;
    this.#abandoned.tick();
    if (this.#starting) this.#starting.ticks += 1;
    const facts = this.#facts();
    const why = whyOpenFollow(facts, times);
    if (why) this.#streams.open('follow');
    if (why === 'silence') this.#isSilenceProbed = true;
    if (isConnectionDead(facts, times)) this.#handOver({ isBroken: true });
  }

  /** The merger stopped the front: it met the next stream's first lines, or jumped into a newer file. */
  stopped(): void {
    const { stop } = this.#merger;
    if (stop?.kind === 'jumped') this.#noteJump(stop.to);
    if (stop?.kind !== 'met') {
      this.#handOver({ isBroken: false, jumpedTo: stop?.to });
      return;
    }
    this.#advance('close');
    this.#merger.startAfter(stop.lines);
  }

  /** Sorts the waiting streams and gives the merger their first lines. Call before every reading of the front. */
  prepare(): void {
    this.#abandoned.listen();
    this.#startFront();
    this.#streams.dropDouble();
    while (this.#compareNext());
    const { next } = this.#streams;
    const isAwaited = isFirstLineAwaited(next && factsOf(next), this.#msOf(this.#heldTicks), this.#tools.times);
    this.#merger.expect(isAwaited ? undefined : (next?.first ?? []));
  }

  /** Call when the front is empty. A result ends the collection; else wait for news, or read the new front. */
  advance(): Done | undefined {
    if (this.readableFront?.end) this.#streams.frontEnded(this.#containerEndedAtMs === undefined);
    const step = nextStep(this.#facts(), this.#tools.times);
    if (step.kind === 'open') this.#streams.open(step.stream);
    if (step.kind === 'done') return this.#finish(step.because);
    if (step.kind !== 'hand over') return undefined;
    if (step.because === 'silence') this.#abandonFront();
    else {
      if (step.because === 'end of file') this.#noteRotation();
      this.#handOver({ isBroken: step.because === 'broken' });
    }
    return undefined;
  }

  #facts(): LogFacts {
    const { clock, client } = this.#tools;
    const { hasAny, newest, fileBytes, isWithinLine } = this.#merger;
    return {
      ...this.#streams.facts(this.readableFront !== undefined),
      nowMs: clock.elapsed(),
      containerEndedAtMs: this.#containerEndedAtMs,
      silentMs: this.#msOf(this.#silentTicks),
      isFlowing: this.#silentTicks <= FLOWING_TICKS,
      isSilenceProbed: this.#isSilenceProbed,
      newestAgeMs: hasAny ? client.serverClock.now() - toMs(newest) : undefined,
      fileBytes,
      isWithinLine,
    };
  }

  #msOf(ticks: number): number {
    return ticks * this.#tools.times.tickMs;
  }

  #breakSilence(): void {
    this.#silentTicks = 0;
    this.#isSilenceProbed = false;
  }

  /** At the very end the abandoned streams get a moment to end as well. */
  #finish(because: 'all read' | 'failures'): Done | undefined {
    if (!this.#abandoned.isOver(this.#tools.times)) return undefined;
    const error = because === 'failures' ? this.front?.end?.error : undefined;
    return { interruptedBy: error && reasonOf(error) };
  }

  /**
   * A follow that jumps over a whole file joins what it finds there to a line that the rotation had cut, with no stamp
   * between them. That cannot have happened if it stopped at the first line of a file; otherwise that line is reported
   * as a gap.
   */
  #noteJump(to: Readonly<Stamp>): void {
    this.#noteRotation();
    const second = this.#streams.next?.first[1];
    const isIntoNext = second !== undefined && isSameStamp(second, to);
    if (!isIntoNext && !this.#streams.hasFirstLine(to)) this.#merger.gapBefore(to)();
  }

  /** The front has read its file to the end, so the next stream's first line begins another file. */
  #noteRotation(): void {
    const [first] = this.#streams.next?.first ?? [];
    if (first) this.#firstFile.rotated(toMs(first));
  }

  /** A stream's first two lines show what it repeats; the second gets one tick to arrive. */
  #startFront(): void {
    const { front } = this;
    if (!this.#starting || !front) return;
    const isKnown = front.isKnown || (front.first.length > 0 && this.#starting.ticks > 1);
    if (this.#merger.hasAny && !isKnown) return;
    const { isBroken, jumpedTo } = this.#starting;
    this.#merger.startOver({ isBroken, jumpedTo, first: front.first, firstEnd: front.firstEnd });
    this.#starting = undefined;
  }

  /** True when the next stream was dropped or put in front; then there may be another. */
  #compareNext(): boolean {
    const { front, next } = this.#streams;
    if (!front || !next || this.#starting) return false;
    if (this.#compared?.stream === next && this.#compared.lines === next.first.length) return false;
    const isDelivered = (): boolean => next.first.some((line) => this.#merger.hasDelivered(line));
    const file = compareFiles(factsOf(front), factsOf(next), isDelivered);
    if (file === 'different') this.#compared = { stream: next, lines: next.first.length };
    if (file !== 'same') return false;
    if (next.follow) this.#streams.drop(next);
    else this.#handOver({ isBroken: false });
    return true;
  }

  #advance(oldFront: 'close' | 'leave open'): void {
    this.#streams.advance(oldFront);
    this.#breakSilence();
    this.#compared = undefined;
  }

  /** The next stream becomes the front; without one, a stream is opened. */
  #handOver(how: { isBroken: boolean; jumpedTo?: Readonly<Stamp> | undefined; oldFront?: 'leave open' }): void {
    if (!this.#streams.next) this.#streams.open(this.#containerEndedAtMs === undefined ? 'follow' : 'final');
    this.#advance(how.oldFront ?? 'close');
    this.#starting = { isBroken: how.isBroken, ticks: 0, jumpedTo: how.jumpedTo };
  }

  /** The front has probably read its file to the end. It stays open, so that a late line can disprove that. */
  #abandonFront(): void {
    const cursor = this.#context.finishReading();
    if (this.#merger.stop) {
      this.stopped();
      return;
    }
    this.#noteRotation();
    const [next] = this.#streams.next?.first ?? [];
    if (!cursor || !next) {
      this.#handOver({ isBroken: false });
      return;
    }
    this.#abandoned.add({ cursor, next, onLateLine: this.#merger.gapBefore(next) });
    this.#handOver({ isBroken: false, oldFront: 'leave open' });
  }
}
