import { Completeness } from './completeness.ts';
import { DeliveredLines, type LineSet } from './delivered-lines.ts';
import { EMPTY_HASH, hashHead, hashOn, isSameLine, type LineKey } from './line-key.ts';
import { HEAD_BYTES, type LineTaker, type Verdict } from './line-reader.ts';
import type { LogTimes } from './log-times.ts';
import type { Output } from './output.ts';
import { isSameStamp, type Stamp, stepMs } from './stamp.ts';

/**
 * Why the reading of a follow stopped in favour of its successor: it delivered the successor's first line or second line itself (`lines`
 * of the successor are then known), or it has jumped over it into a newer file.
 */
export type Stop = { readonly kind: 'met'; readonly lines: number } | { readonly kind: 'jumped' };

/**
 * Joins several readings of one log, one after the other, into every line once and in order. Lines are recognised by stamp
 * and content, never by "not newer than the last": stamps step back where two streams or two files meet.
 */
export class Merge implements LineTaker {
  readonly completeness: Completeness;
  readonly #output: Output;
  readonly #marginMs: number;
  readonly #delivered = new DeliveredLines();
  /** The line that is being delivered, or that a reading left without its newline. */
  readonly #line = { seconds: 0, nanos: 0, hash: EMPTY_HASH, hashed: 0, bytes: 0 };
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
  #stop: Stop | undefined;

  constructor(output: Output, times: LogTimes) {
    this.#output = output;
    this.#marginMs = times.marginMs;
    this.completeness = new Completeness(times);
  }

  /** The stamp of the line delivered last, whole or in part. Valid when `hasAny`. */
  get newest(): Readonly<Stamp> {
    return this.#line;
  }

  get hasAny(): boolean {
    return this.#hasAny;
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

  /** The first lines of the reading that comes next. */
  expect(successor: readonly LineKey[]): void {
    this.#successor = successor;
  }

  /** A reading begins whose first `pass` lines were delivered, and nothing after them. */
  startAfter(pass: number): void {
    this.#start();
    this.#broken = false;
    this.#pass = pass;
  }

  /**
   * A reading begins that may repeat what was delivered. `broken`: the one before it did not come to its end, so the two
   * must meet. `first`: its first lines, when they are known.
   */
  startOver(reading: { readonly broken: boolean; readonly first: readonly LineKey[] }): void {
    this.#start();
    if (!this.#hasAny) return;
    this.#overlap = this.#delivered.toSet();
    this.#broken ||= reading.broken;
    const [first, second] = reading.first;
    // A rotation cut a line in two and the reading before went on into this file: the second half is delivered, glued to the first.
    const isGlued = first && second && !this.hasDelivered(first) && this.#overlap.has(second);
    if (isGlued) this.#pass = 1;
  }

  #start(): void {
    this.#stop = undefined;
    this.#overlap = undefined;
    this.#pass = 0;
    this.#repeated = 0;
    this.#successor = [];
  }

  begin(stamp: Stamp | undefined, bytes: Buffer, from: number, to: number): Verdict {
    if (!stamp) return this.#beginUnstamped();
    if (this.#pass > 0) {
      this.#pass -= 1;
      return 'pass';
    }
    const [next] = this.#successor;
    if (next && stepMs(next, stamp) > this.#marginMs) {
      this.#stop = { kind: 'jumped' };
      return 'stop';
    }
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
    const line = this.#line;
    if (line.hashed < HEAD_BYTES) {
      const end = Math.min(to, start + HEAD_BYTES - line.hashed);
      line.hash = hashOn(line.hash, bytes, start, end);
      line.hashed += end - start;
    }
    line.bytes += to - start;
    this.#output.write(bytes, start, to);
  }

  end(): boolean {
    this.#output.newline();
    this.#close();
    return this.#stop === undefined;
  }

  #close(): void {
    this.#isOpen = false;
    this.completeness.addLine();
    if (!this.#isStamped) return;
    this.#delivered.push(this.#line.seconds, this.#line.nanos, this.#line.hash);
    const [next, second] = this.#successor;
    if (next && isSameLine(next, this.#line)) this.#stop = { kind: 'met', lines: 1 };
    else if (second && isSameLine(second, this.#line)) this.#stop = { kind: 'met', lines: 2 };
  }

  /** Text without a stamp is the kubelet's own (an error in the middle of the answer): delivered as it is. */
  #beginUnstamped(): Verdict {
    this.#isStamped = false;
    this.#isOpen = true;
    return 'take';
  }

  #beginNew(stamp: Stamp): void {
    const line = this.#line;
    if (this.#hasAny) {
      // Nothing of what was delivered came again although the connection had broken: the file was rotated away meanwhile.
      if (this.#broken) this.completeness.addGap(line, stamp, this.#output.bytes);
      else this.completeness.step(line, stamp, this.#output.bytes);
      this.#broken = false;
    }
    // A line that a rotation cut in two: what comes now, under a stamp of its own, is its rest.
    if (this.#isOpen && this.#isStamped) this.#delivered.push(line.seconds, line.nanos, line.hash);
    this.#isOpen = true;
    this.#isStamped = true;
    this.#hasAny = true;
    line.seconds = stamp.seconds;
    line.nanos = stamp.nanos;
    line.hash = EMPTY_HASH;
    line.hashed = 0;
    line.bytes = 0;
  }

  /** What to do with a line that was delivered, wholly or in part; undefined for one that is new. */
  #meetRepeated(overlap: LineSet, stamp: Stamp, head: Buffer): Verdict | undefined {
    if (this.#isOpenLine(stamp, head)) {
      this.#broken = false;
      this.#repeated = this.#line.bytes;
      return 'take';
    }
    const { seconds, nanos } = stamp;
    if (this.#delivered.isForgotten(stamp) || overlap.take({ seconds, nanos, hash: hashHead(head, 0, head.length) })) {
      this.#broken = false;
      return 'pass';
    }
    if (stepMs(overlap.latest, stamp) > this.#marginMs) this.#overlap = undefined;
    return undefined;
  }

  /** Whether this is the line within which the reading before ended. */
  #isOpenLine(stamp: Stamp, head: Buffer): boolean {
    const line = this.#line;
    if (!this.#isOpen || !this.#isStamped || !isSameStamp(stamp, line)) return false;
    return head.length >= line.hashed && hashOn(EMPTY_HASH, head, 0, line.hashed) === line.hash;
  }
}
