import type { Output } from './block-writer.ts';
import { Completeness } from './completeness.ts';
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
import type { LineTaker, Verdict } from './line-reader.ts';
import type { LogTimes } from './log-times.ts';

/**
 * Joins several readings of one log, one after the other, into every line once and in order. Lines are recognised by stamp
 * and content, never by "not newer than the last": stamps step back where two streams or two files meet.
 */
export class Merge implements LineTaker {
  readonly completeness: Completeness;
  readonly #output: Output;
  readonly #marginMs: number;
  readonly #gapMs: number;
  readonly #delivered = new DeliveredLines();
  /** The line that is being delivered, or that a reading left without its newline. */
  readonly #line = new OpenLine();
  #first: Readonly<Stamp> = this.#line;
  #isOpen = false;
  #hasAny = false;
  #isStamped = true;
  /** Content of the open line that this reading repeats. */
  #repeated = 0;
  #pass = 0;
  #overlap: LineSet | undefined;
  /** A reading broke off, and no later one has repeated anything of it yet. */
  #broken = false;
  #successor: readonly LineKey[] = [];
  #isSuccessorUnknown = false;
  #isHeld = false;
  #isFinishing = false;
  #stop: Stop | undefined;

  constructor(output: Output, times: LogTimes) {
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

  /** The least that the kubelet's files must have held for what was delivered. */
  get fileBytes(): number {
    return this.completeness.fileBytes(this.#output.bytes);
  }

  /** A line was left without its newline. */
  get isWithinLine(): boolean {
    return this.#isOpen;
  }

  /** Whether lines must be shown to `begin` with their head. */
  get needsHead(): boolean {
    return this.#overlap !== undefined;
  }

  /** Why `begin` or `end` stopped the reading. */
  get stop(): Stop | undefined {
    return this.#stop;
  }

  hasDelivered(line: LineKey): boolean {
    return (this.#isOpen && isSameStamp(line, this.#line)) || this.#delivered.has(line);
  }

  /**
   * Whether the line delivered last may be one that a rotation cut in two and whose reading went on into the next file, where
   * its second half, which is this line, has a stamp of its own.
   */
  mayHaveGlued(first: LineEnd | undefined): boolean {
    return first !== undefined && this.#hasAny && this.#line.end.mayEndWith(first);
  }

  /** The first lines of the reading that comes next; undefined while there is one that has not shown them yet. */
  expect(successor: readonly LineKey[] | undefined): void {
    this.#successor = successor ?? [];
    this.#isSuccessorUnknown = successor === undefined;
  }

  /** Whether the reading waits at a line that may have jumped over the successor, until that has shown its first line. */
  get isHeld(): boolean {
    return this.#isHeld && this.#isSuccessorUnknown;
  }

  /** How to say, now or later, that between the line delivered last and `next` something may be missing. */
  doubtNewest(next: Readonly<Stamp>): () => void {
    const from = { seconds: this.#line.seconds, nanos: this.#line.nanos };
    const { bytes } = this.#output;
    return () => this.completeness.addGap(from, next, bytes);
  }

  /** A reading begins whose first `pass` lines were delivered, and nothing after them. */
  startAfter(pass: number): void {
    this.#start();
    this.#broken = false;
    this.#pass = pass;
  }

  /** A reading begins that may repeat what was delivered. */
  startOver(reading: BeginningReading): void {
    this.#start();
    if (!this.#hasAny) return;
    this.#overlap = this.#delivered.toSet();
    this.#broken ||= reading.broken;
    if (this.#isGlued(this.#overlap, reading)) this.#pass = 1;
  }

  /** Whether a reading's first line is the second half of a line that was cut in two, and was delivered with the first half. */
  #isGlued(overlap: LineSet, { first: [first, second], firstEnd, jumpedTo }: BeginningReading): boolean {
    if (!first || this.hasDelivered(first)) return false;
    if (!second) return this.mayHaveGlued(firstEnd);
    // Who came to the second line has passed the first, and did not deliver it as a line of its own.
    return overlap.has(second) || (jumpedTo !== undefined && isSameStamp(second, jumpedTo));
  }

  #start(): void {
    this.#stop = undefined;
    this.#overlap = undefined;
    this.#pass = 0;
    this.#repeated = 0;
    this.#successor = [];
    this.#isSuccessorUnknown = false;
    this.#isHeld = false;
  }

  begin(stamp: Stamp | undefined, bytes: Buffer, from: number, to: number): Verdict {
    if (!stamp) return this.#beginUnstamped();
    if (this.#pass > 0) {
      this.#pass -= 1;
      return 'pass';
    }
    const [next] = this.#successor;
    if (next && stepMs(next, stamp) > this.#marginMs) {
      this.#stop = { kind: 'jumped', to: { ...stamp } };
      return 'stop';
    }
    this.#isHeld = this.#isSuccessorUnknown && this.#hasAny && stepMs(this.#line, stamp) >= this.#gapMs;
    if (this.#isHeld) return 'hold';
    const repeated = this.#overlap && this.#meetRepeated(this.#overlap, stamp, bytes.subarray(from, to));
    if (repeated) return repeated;
    this.#beginNew(stamp);
    return 'take';
  }

  content(bytes: Buffer, from: number, to: number): void {
    let start = from;
    if (this.#repeated > 0) {
      const repeated = Math.min(this.#repeated, to - from);
      this.#repeated -= repeated;
      start += repeated;
      if (start === to) return;
    }
    this.#line.add(bytes, start, to);
    this.#output.write(bytes, start, to);
  }

  end(): boolean {
    this.#endLine();
    const [next, second] = this.#successor;
    if (next && this.#isStamped && isSameLine(next, this.#line)) this.#stop = { kind: 'met', lines: 1 };
    else if (second && this.#isStamped && isSameLine(second, this.#line)) this.#stop = { kind: 'met', lines: 2 };
    return this.#stop === undefined;
  }

  #endLine(): void {
    this.#output.newline();
    this.completeness.addLine();
    this.#isOpen = false;
    this.#repeated = 0;
    if (this.#isStamped) this.#delivered.push(this.#line);
  }

  /** Not the kubelet's (a virtual one may know no stamps), unless in the middle of the answer: delivered as it is. */
  #beginUnstamped(): Verdict {
    this.#isStamped = false;
    this.#isOpen = true;
    return 'take';
  }

  #beginNew(stamp: Stamp): void {
    if (this.#hasAny) this.#join(stamp);
    // A line that a rotation cut in two: what comes now, under a stamp of its own, is its rest.
    if (this.#isOpen && this.#isStamped) this.#delivered.push(this.#line);
    this.#isOpen = true;
    this.#isStamped = true;
    if (!this.#hasAny) this.#first = { ...stamp };
    this.#hasAny = true;
    this.#line.start(stamp);
  }

  /** The line before and this one, which is new, stand next to each other from now on. */
  #join(stamp: Stamp): void {
    if (this.#broken) {
      // Nothing of what was delivered came again although the connection had broken: the file was rotated away meanwhile.
      this.#broken = false;
      if (this.#isOpen) this.#endLine();
      this.completeness.addGap(this.#line, stamp, this.#output.bytes);
    } else {
      this.completeness.step(this.#line, stamp, this.#output.bytes);
    }
  }

  /** The reading has ended: a line that comes now may lack its rest, so its stamp alone says whether it was delivered. */
  finishing(read: () => boolean): boolean {
    this.#isFinishing = true;
    const goesOn = read();
    this.#isFinishing = false;
    return goesOn;
  }

  /** What to do with a line that was delivered, wholly or in part; undefined for one that is new. */
  #meetRepeated(overlap: LineSet, stamp: Stamp, head: Buffer): Verdict | undefined {
    const isOpenLine = this.#isOpen && this.#isStamped && this.#line.isBeginningOf(stamp, head);
    if (isOpenLine) {
      this.#broken = false;
      this.#repeated = this.#line.end.length;
      return 'take';
    }
    const { seconds, nanos } = stamp;
    const isOfOpen = this.#isOpen && isSameStamp(stamp, this.#line);
    if (this.#isFinishing && (isOfOpen || this.#delivered.hasStamp(stamp))) return 'pass';
    if (this.#delivered.isForgotten(stamp) || overlap.take({ seconds, nanos, hash: hashHead(head, 0, head.length) })) {
      this.#broken = false;
      return 'pass';
    }
    if (stepMs(overlap.latest, stamp) > this.#marginMs) this.#overlap = undefined;
    return undefined;
  }
}

/**
 * Why the reading of a follow stopped in favour of its successor: it delivered the successor's first line or second line itself (`lines`
 * of the successor are then known), or it has jumped over it into a newer file.
 */
export type Stop = { readonly kind: 'met'; readonly lines: number } | { readonly kind: 'jumped'; readonly to: Stamp };

/** What is known of a reading that begins. */
export interface BeginningReading {
  /** The one before did not come to its end, so the two must meet. */
  readonly broken: boolean;
  readonly first: readonly LineKey[];
  readonly firstEnd: LineEnd | undefined;
  /** The line at which the reading before was stopped. */
  readonly jumpedTo: Readonly<Stamp> | undefined;
}
