import { DeliveredLines, type LineSet } from './delivered-lines.ts';
import {
  hashHead,
  isSameLine,
  isSameStamp,
  type LineEnd,
  type LineKey,
  OpenLine,
  type Stamp,
  stepMs,
} from './line-identity.ts';
import type { LineDecision, LineHandler, Stop, StreamStart } from './line-reader.ts';
import { type BlockWriter, Completeness } from './log-output.ts';
import type { LogTimes } from './log-times.ts';

/**
 * Merges several streams of one log, one after another, into every line once and in order. Pure: no connection, no
 * clock. Recognises a line by stamp and content, never by "not newer than the last": stamps step back where two files
 * meet.
 */
export class LineMerger implements LineHandler {
  readonly completeness: Completeness;
  readonly #output: BlockWriter;
  readonly #marginMs: number;
  readonly #gapMs: number;
  readonly #delivered = new DeliveredLines();
  /** The line being delivered, or left by a stream without its newline. */
  readonly #line = new OpenLine();
  #first: Readonly<Stamp> = this.#line;
  /** The stream has ended: its last line may be incomplete, so only the stamp shows whether it was delivered. */
  isReadingEnd = false;
  #isOpen = false;
  #hasAny = false;
  #isStamped = true;
  /** Bytes of the open line that this stream repeats. */
  #repeatedBytes = 0;
  /** Delivered lines at the beginning of this stream. */
  #repeatedLines = 0;
  /** Lines that this stream may repeat. */
  #overlap: LineSet | undefined;
  /** A stream broke off, and no later one has repeated any of it yet. */
  #isBroken = false;
  #nextLines: readonly LineKey[] = [];
  #isNextUnknown = false;
  #isHeld = false;
  #stop: Stop | undefined;

  constructor(output: BlockWriter, times: Pick<LogTimes, 'marginMs' | 'gapMs' | 'rotatedBytes'>) {
    this.#output = output;
    this.#marginMs = times.marginMs;
    this.#gapMs = times.gapMs;
    this.completeness = new Completeness(times);
  }

  /** The stamp of the line delivered last, whole or in part. Valid when `hasAny`. */
  get newest(): Readonly<Stamp> {
    return this.#line;
  }

  /** The stamp of the very first line. Valid when `hasAny`. */
  get first(): Readonly<Stamp> {
    return this.#first;
  }

  get hasAny(): boolean {
    return this.#hasAny;
  }

  /** The kubelet's files must have held at least this much. */
  get fileBytes(): number {
    return this.completeness.fileBytes(this.#output.bytes);
  }

  get isWithinLine(): boolean {
    return this.#isOpen;
  }

  /** `begin` must see lines with their head. */
  get needsHead(): boolean {
    return this.#overlap !== undefined;
  }

  /** The reason why `begin` or `end` stopped the reading. */
  get stop(): Stop | undefined {
    return this.#stop;
  }

  hasDelivered(line: LineKey): boolean {
    return (this.#isOpen && isSameStamp(line, this.#line)) || this.#delivered.has(line);
  }

  /**
   * True if a rotation may have cut the line delivered last in two, and its stream read on into the next file. The
   * second half, which is this line, then has its own stamp.
   */
  mayHaveGlued(first: LineEnd | undefined): boolean {
    return first !== undefined && this.#hasAny && this.#line.end.mayEndWith(first);
  }

  /** The next stream's first lines; undefined while a next stream has not shown them yet. */
  expect(nextLines: readonly LineKey[] | undefined): void {
    this.#nextLines = nextLines ?? [];
    this.#isNextUnknown = nextLines === undefined;
  }

  /** The reading waits at a line that may lie beyond the next stream's first line, until that line is known. */
  get isHeld(): boolean {
    return this.#isHeld && this.#isNextUnknown;
  }

  /**
   * Returns the function that reports, now or later, that something may be missing between the line delivered last and
   * `next`.
   */
  gapBefore(next: Readonly<Stamp>): () => void {
    const from = { seconds: this.#line.seconds, nanos: this.#line.nanos };
    const { bytes } = this.#output;
    return () => this.completeness.addGap(from, next, bytes);
  }

  /** Starts a stream whose first `lines` lines were delivered, and nothing after them. */
  startAfter(lines: number): void {
    this.#start();
    this.#isBroken = false;
    this.#repeatedLines = lines;
  }

  /** Starts a stream that may repeat delivered lines. */
  startOver(start: StreamStart): void {
    this.#start();
    if (!this.#hasAny) return;
    this.#overlap = this.#delivered.toSet();
    this.#isBroken ||= start.isBroken;
    if (this.#isGlued(this.#overlap, start)) this.#repeatedLines = 1;
  }

  /** True if a stream's first line is the second half of a cut line, delivered together with the first half. */
  #isGlued(overlap: LineSet, { first: [first, second], firstEnd, jumpedTo }: StreamStart): boolean {
    if (!first || this.hasDelivered(first)) return false;
    if (!second) return this.mayHaveGlued(firstEnd);
    // The front reached the second line, so it passed the first, and did not deliver it as a separate line.
    return overlap.has(second) || (jumpedTo !== undefined && isSameStamp(second, jumpedTo));
  }

  #start(): void {
    this.#stop = undefined;
    this.#overlap = undefined;
    this.#repeatedLines = 0;
    this.#repeatedBytes = 0;
    this.expect([]);
    this.#isHeld = false;
  }

  begin(stamp: Stamp | undefined, bytes: Buffer, from: number, to: number): LineDecision {
    if (!stamp) {
      // Not from the kubelet (a virtual one may write no stamps), unless inside the response: delivered unchanged.
      this.#isStamped = false;
      this.#isOpen = true;
      return 'deliver';
    }
    if (this.#repeatedLines > 0) {
      this.#repeatedLines -= 1;
      return 'skip';
    }
    const [next] = this.#nextLines;
    if (next && stepMs(next, stamp) > this.#marginMs) {
      this.#stop = { kind: 'jumped', to: { ...stamp } };
      return 'stop';
    }
    this.#isHeld = this.#isNextUnknown && this.#hasAny && stepMs(this.#line, stamp) >= this.#gapMs;
    if (this.#isHeld) return 'hold';
    const repeated = this.#overlap && this.#decideRepeated(this.#overlap, stamp, bytes.subarray(from, to));
    if (repeated) return repeated;
    this.#beginNew(stamp);
    return 'deliver';
  }

  content(bytes: Buffer, from: number, to: number): void {
    const start = this.#repeatedBytes === 0 ? from : this.#skipRepeated(from, to);
    if (start === to) return;
    this.#line.add(bytes, start, to);
    this.#output.write(bytes, start, to);
  }

  #skipRepeated(from: number, to: number): number {
    const repeated = Math.min(this.#repeatedBytes, to - from);
    this.#repeatedBytes -= repeated;
    return from + repeated;
  }

  end(): boolean {
    this.#endLine();
    if (this.#isStamped && this.#nextLines.length > 0) {
      const met = this.#nextLines.findIndex((next) => isSameLine(next, this.#line));
      if (met >= 0) this.#stop = { kind: 'met', lines: met + 1 };
    }
    return this.#stop === undefined;
  }

  #endLine(): void {
    this.#output.newline();
    this.completeness.addLine();
    this.#isOpen = false;
    this.#repeatedBytes = 0;
    if (this.#isStamped) this.#delivered.push(this.#line);
  }

  #beginNew(stamp: Stamp): void {
    if (this.#hasAny) this.#join(stamp);
    // The rest of a line that a rotation cut in two, under its own stamp.
    if (this.#isOpen && this.#isStamped) this.#delivered.push(this.#line);
    this.#isOpen = true;
    this.#isStamped = true;
    if (!this.#hasAny) this.#first = { ...stamp };
    this.#hasAny = true;
    this.#line.start(stamp);
    this.#output.beginLine(stamp);
  }

  /** From now on the previous line and this new one are neighbours. */
  #join(stamp: Stamp): void {
    if (!this.#isBroken) {
      this.completeness.step(this.#line, stamp, this.#output.bytes);
      return;
    }
    // The connection broke, and no delivered line came again: a rotation removed the file meanwhile.
    this.#isBroken = false;
    if (this.#isOpen) this.#endLine();
    this.completeness.addGap(this.#line, stamp, this.#output.bytes);
  }

  /** Decides on a line that was delivered, in whole or part; undefined for a new one. */
  #decideRepeated(overlap: LineSet, stamp: Stamp, head: Buffer): LineDecision | undefined {
    const isOfOpenLine = this.#isOpen && isSameStamp(stamp, this.#line);
    if (isOfOpenLine && this.#isStamped && this.#line.isBeginningOf(stamp, head)) {
      this.#isBroken = false;
      this.#repeatedBytes = this.#line.end.length;
      return 'deliver';
    }
    if (this.isReadingEnd && (isOfOpenLine || this.#delivered.hasStamp(stamp))) return 'skip';
    const { seconds, nanos } = stamp;
    if (
      this.#delivered.isForgotten(stamp) ||
      overlap.remove({ seconds, nanos, hash: hashHead(head, 0, head.length) })
    ) {
      this.#isBroken = false;
      return 'skip';
    }
    if (stepMs(overlap.latest, stamp) > this.#marginMs) this.#overlap = undefined;
    return undefined;
  }
}
