import type { LogCompleteness, LogGap } from '../../../core/run/run.ts';
import { defined } from '../../../lib/object.ts';
import { formatStamp, type Stamp, stepMs, toMs } from './line-identity.ts';
import type { LogTimes } from './log-times.ts';

const BLOCK_BYTES = 64 * 1_024;
/** The first block is small, like most logs. Each further block grows by this. */
const FIRST_BLOCK_BYTES = 1_024;
const GROWTH = 8;
/** Pieces of this size pass through; smaller ones are gathered. */
const WHOLE_BYTES = 8 * 1_024;
const NEWLINE = 10;

/**
 * Gathers content into blocks for the sink and stops exactly at the limit. Holds the current block and the unread ones.
 */
export class BlockWriter {
  readonly #limitBytes: number;
  #block = Buffer.allocUnsafe(FIRST_BLOCK_BYTES);
  #from = 0;
  #to = 0;
  #ready: Buffer[] = [];
  #bytes = 0;
  #isFull = false;

  readonly #sinceMs: number;
  /** Of the ready blocks, the first with lines of `sinceMs` or later. */
  #sinceBlock: number | undefined;
  #isSince = false;

  constructor(limitBytes: number, sinceMs = Number.POSITIVE_INFINITY) {
    this.#limitBytes = limitBytes;
    this.#sinceMs = sinceMs;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The content exceeded the limit. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Call before a line with a stamp: the first one at `sinceMs` or later begins a block. */
  beginLine(stamp: Stamp): void {
    if (this.#isSince || toMs(stamp) < this.#sinceMs) return;
    this.#isSince = true;
    this.#cut();
    this.#sinceBlock = this.#ready.length;
  }

  write(bytes: Buffer, from: number, to: number): void {
    const end = Math.min(to, from + this.#limitBytes - this.#bytes);
    if (end < to) this.#isFull = true;
    const length = end - from;
    if (length <= 0) return;
    this.#bytes += length;
    if (length >= WHOLE_BYTES) {
      this.#cut();
      this.#ready.push(bytes.subarray(from, end));
      return;
    }
    if (this.#to + length > this.#block.length) this.#startBlock();
    bytes.copy(this.#block, this.#to, from, end);
    this.#to += length;
  }

  newline(): void {
    if (this.#bytes >= this.#limitBytes) {
      this.#isFull = true;
      return;
    }
    if (this.#to === this.#block.length) this.#startBlock();
    this.#block[this.#to] = NEWLINE;
    this.#to += 1;
    this.#bytes += 1;
  }

  /** All blocks ready for the sink, in order; `since`: the index of the one at which `sinceMs` is reached. */
  blocks(): { readonly blocks: Buffer[]; readonly since: number | undefined } {
    this.#cut();
    const [blocks, since] = [this.#ready, this.#sinceBlock];
    this.#ready = [];
    if (since === undefined || since < blocks.length) this.#sinceBlock = undefined;
    else this.#sinceBlock = since - blocks.length;
    return { blocks, since };
  }

  #cut(): void {
    if (this.#to > this.#from) this.#ready.push(this.#block.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }

  /** A new block each time: the sink may keep the old one. */
  #startBlock(): void {
    this.#cut();
    this.#block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, this.#block.length * GROWTH));
    this.#from = 0;
    this.#to = 0;
  }
}

/** The kubelet writes `<stamp> stdout F ` before a line. */
const RECORD_BYTES = 40;
/** A log that stutters for hours must not fill its run's record. */
const MAX_GAPS = 100;

/** Counts the lines, and records every place where one may be missing. */
export class Completeness {
  readonly #times: Pick<LogTimes, 'gapMs' | 'rotatedBytes'>;
  readonly #gaps: LogGap[] = [];
  #lines = 0;

  constructor(times: Pick<LogTimes, 'gapMs' | 'rotatedBytes'>) {
    this.#times = times;
  }

  addLine(): void {
    this.#lines += 1;
  }

  /** The kubelet's files must have held at least this much for these lines. */
  fileBytes(contentBytes: number): number {
    return contentBytes + this.#lines * RECORD_BYTES;
  }

  /** A lost file shows as a step in the stamps; below 10 MiB no second file exists. */
  step(from: Stamp, to: Stamp, atByte: number): void {
    const { gapMs, rotatedBytes } = this.#times;
    if (stepMs(from, to) >= gapMs && this.fileBytes(atByte) >= rotatedBytes) this.addGap(from, to, atByte);
  }

  addGap(from: Stamp, to: Stamp, atByte: number): void {
    if (this.#gaps.length < MAX_GAPS)
      this.#gaps.push({ fromStamp: formatStamp(from), toStamp: formatStamp(to), atByte });
  }

  result(end: CollectionEnd): LogCompleteness {
    const { limitReached, beginningMayBeMissing, interruptedBy } = end;
    return {
      complete: !limitReached && !beginningMayBeMissing && this.#gaps.length === 0 && interruptedBy === undefined,
      limitReached,
      beginningMayBeMissing,
      gaps: this.#gaps.toSorted((a, b) => a.atByte - b.atByte),
      ...defined({ interruptedBy }),
    };
  }
}

interface CollectionEnd {
  readonly limitReached: boolean;
  readonly beginningMayBeMissing: boolean;
  readonly interruptedBy: string | undefined;
}

/** The writer may have been faster at the start than over the first megabytes read. */
const FASTER = 1.25;

interface DeliveredSoFar {
  readonly hasAny: boolean;
  readonly first: Readonly<Stamp>;
  readonly newest: Readonly<Stamp>;
  readonly fileBytes: number;
}

/**
 * Proves that the first log file was read from its first line. A kubelet's timer is not tied to the container's start: in
 * an experiment a fast writer's first 191,571 lines of 2,000,000 were rotated away before the status showed `running`,
 * 1.3 s after the start, although the follow was open within 3 s; in another, 148,726 of 200,008 lines, all written in
 * half a second. What is left may be small, so the proof that is needed depends on how much that is:
 *
 * - Below `burstBytes` nothing can be told, and the log passes.
 * - Below `smallBytes` the first line came too soon after the start for a full file before it, or the follow had opened
 *   an empty file.
 * - Else the follow opened in time, and the first line came too soon for a full file before it, or the first rotation
 *   came too soon after the start to be the second.
 */
export class FirstFileProof {
  readonly #times: LogTimes;
  readonly #startedAtMs: number;
  #openedAtMs: number | undefined;
  #firstLineAtMs: number | undefined;
  #bytesPerMs: number | undefined;
  #rotatedAtMs: number | undefined;

  constructor(times: LogTimes, startedAtMs: number) {
    this.#times = times;
    this.#startedAtMs = startedAtMs;
  }

  /** `log`: all that was delivered. */
  mayBeMissing(log: DeliveredSoFar): boolean {
    const { burstBytes, smallBytes, openInTimeMs } = this.#times;
    if (log.fileBytes < burstBytes) return false;
    if (log.fileBytes < smallBytes) return !this.#wasQuietAtFirst && !this.#beganAtOnce(rateOf(log));
    const isOpenedInTime = this.#openedAtMs !== undefined && this.#openedAtMs - this.#startedAtMs <= openInTimeMs;
    return !isOpenedInTime || !(this.#beganAtOnce(this.#bytesPerMs) || this.#wasFirstRotation);
  }

  /** A follow opened at this time, by the server's clock, brings the first bytes. */
  opened(atMs: number): void {
    this.#openedAtMs = atMs;
  }

  delivered(log: DeliveredSoFar): void {
    if (!log.hasAny || this.#bytesPerMs !== undefined) return;
    this.#firstLineAtMs ??= toMs(log.first);
    if (log.fileBytes >= this.#times.smallBytes) this.#bytesPerMs = rateOf(log);
  }

  /** A file was read to its end; the next one begins at this time. */
  rotated(atMs: number): void {
    this.#rotatedAtMs ??= atMs;
  }

  /** The follow had opened an empty file. Its next line would be at once there, had the writer filled a file before. */
  get #wasQuietAtFirst(): boolean {
    if (this.#openedAtMs === undefined || this.#firstLineAtMs === undefined) return false;
    return this.#firstLineAtMs - this.#openedAtMs > this.#times.quietMs;
  }

  #beganAtOnce(bytesPerMs: number | undefined): boolean {
    if (this.#firstLineAtMs === undefined || bytesPerMs === undefined) return true;
    const fillMs = this.#times.rotatedBytes / (bytesPerMs * FASTER);
    return this.#firstLineAtMs - this.#startedAtMs < fillMs;
  }

  get #wasFirstRotation(): boolean {
    return this.#rotatedAtMs !== undefined && this.#rotatedAtMs - this.#startedAtMs < this.#times.fileLifeMs;
  }
}

/** Bytes a millisecond. */
const rateOf = ({ fileBytes, first, newest }: DeliveredSoFar): number =>
  fileBytes / Math.max(1, toMs(newest) - toMs(first));
