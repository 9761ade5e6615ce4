import { KdebugError } from '../../../core/errors.ts';
import type { ApiClient, ApiRequest } from '../api/api-client.ts';
import type { StreamControl } from '../api/stream.ts';
import { EMPTY_HASH, HEAD_BYTES, hashOn, LineEnd, type LineKey, type Stamp } from './line-identity.ts';
import type { Merge } from './line-merger.ts';
import { LineReader, type LineTaker, type Verdict } from './line-reader.ts';

/** A reading in use is let run this far ahead of its reader, one that only holds its file open this far. */
const AHEAD_BYTES = 1024 * 1024;
const PINNED_AHEAD_BYTES = 64 * 1024;
/** The two first lines tell where a reading begins, even when a rotation cut the first. */
const FIRST_LINES = 2;

export interface Opening {
  readonly request: ApiRequest;
  readonly follow: boolean;
  /** Seconds since 1970; absent: from the file's beginning. */
  readonly sinceSeconds: number | undefined;
}

/**
 * One GET of `pods/log`. It begins *pinned*: it reads its first lines and then nothing more, whereupon the kubelet, which cannot write
 * on, holds the log file open as it is, renamed or not. `promote` lets it flow.
 */
export class LogStream {
  readonly follow: boolean;
  readonly sinceSeconds: number | undefined;
  readonly #changed: () => void;
  readonly #control: StreamControl;
  readonly #peek = new Peek();
  readonly #peekReader: LineReader;
  #chunks: Buffer[] = [];
  #queuedBytes = 0;
  #aheadBytes = PINNED_AHEAD_BYTES;
  #isPaused = false;
  #isOpen = false;
  #openedAtMs: number | undefined;
  #end: { readonly error: KdebugError | undefined; readonly atMs: number } | undefined;

  constructor(tools: LogStreamTools, opening: Opening) {
    this.follow = opening.follow;
    this.sinceSeconds = opening.sinceSeconds;
    this.#changed = tools.changed;
    this.#peekReader = new LineReader({ mayBeginWithin: opening.sinceSeconds !== undefined });
    this.#control = tools.client.stream(opening.request, {
      opened: () => {
        this.#isOpen = true;
        this.#openedAtMs = tools.client.serverClock.now();
      },
      data: (chunk) => this.#receive(chunk),
      ended: (error) => {
        this.#end = { error, atMs: tools.client.serverClock.now() };
        this.#peekReader.finish(this.#peek);
        this.#changed();
      },
    });
  }

  /** When the server had opened it, by the server's clock. */
  get openedAtMs(): number | undefined {
    return this.#openedAtMs;
  }

  get wasOpened(): boolean {
    return this.#isOpen;
  }

  /** Set once everything has arrived; there may still be something to take. */
  get end(): { readonly error: KdebugError | undefined; readonly atMs: number } | undefined {
    return this.#end;
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** Its first lines, at most two, as far as they are known. */
  get first(): readonly LineKey[] {
    return this.#peek.lines;
  }

  /** The whole first line's length and its last bytes; undefined until its newline has come. */
  get firstEnd(): LineEnd | undefined {
    return this.#peek.firstEnd;
  }

  /** Whether `first` will not change any more. */
  get isKnown(): boolean {
    return this.#peek.isDone || this.#end !== undefined;
  }

  /** Its clean end was none: the node said these words instead of going on. */
  refuse(words: string): void {
    if (!this.#end) return;
    const error = this.#end.error ?? new KdebugError('log_unavailable', { detail: words });
    this.#end = { ...this.#end, error };
  }

  promote(): void {
    this.#aheadBytes = AHEAD_BYTES;
    this.#flow();
  }

  /** What has arrived; makes room for more. */
  take(): Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#queuedBytes = 0;
    this.#flow();
    return chunks;
  }

  close(): void {
    this.#chunks = [];
    this.#control.close();
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#queuedBytes += chunk.length;
    if (!this.#peek.isDone) this.#peekReader.read(chunk, this.#peek);
    if (!this.#isPaused && this.#queuedBytes >= this.#aheadBytes) {
      this.#isPaused = true;
      this.#control.pause();
    }
    this.#changed();
  }

  #flow(): void {
    if (!this.#isPaused || this.#queuedBytes >= this.#aheadBytes) return;
    this.#isPaused = false;
    this.#control.resume();
  }
}

/** What a log reader needs of the API client. */
export interface LogClient extends Pick<ApiClient, 'stream'> {
  readonly serverClock: Pick<ApiClient['serverClock'], 'now'>;
}

export interface LogStreamTools {
  readonly client: LogClient;
  /** Something arrived, or it ended. */
  readonly changed: () => void;
}

/** Learns the identity of the first lines without taking them. */
class Peek implements LineTaker {
  readonly lines: LineKey[] = [];
  readonly #end = new LineEnd();
  #isFirstWhole = false;
  #stamp: Stamp | undefined;
  #isCounted = false;
  #hash = EMPTY_HASH;
  #hashed = 0;

  get isDone(): boolean {
    return this.lines.length === FIRST_LINES && this.#isFirstWhole;
  }

  get firstEnd(): LineEnd | undefined {
    return this.#isFirstWhole ? this.#end : undefined;
  }

  begin(stamp: Stamp | undefined): Verdict {
    this.#stamp = stamp && { ...stamp };
    this.#isCounted = false;
    this.#hash = EMPTY_HASH;
    this.#hashed = 0;
    return stamp ? 'take' : 'pass';
  }

  content(bytes: Buffer, from: number, to: number): void {
    if (!this.#isFirstWhole) this.#end.add(bytes, from, to);
    if (this.#hashed >= HEAD_BYTES) return;
    const end = Math.min(to, from + HEAD_BYTES - this.#hashed);
    this.#hash = hashOn(this.#hash, bytes, from, end);
    this.#hashed += end - from;
    if (this.#hashed === HEAD_BYTES) this.#count();
  }

  end(): boolean {
    this.#isFirstWhole = true;
    this.#count();
    return !this.isDone;
  }

  #count(): void {
    if (!this.#stamp || this.#isCounted || this.lines.length === FIRST_LINES) return;
    this.#isCounted = true;
    this.lines.push({ ...this.#stamp, hash: this.#hash });
  }
}

const NOTHING = Buffer.alloc(0);

/** The reading of one stream into the merge, which may stop it or hold it at a line. */
export class Reading {
  readonly stream: LogStream;
  readonly #merge: Merge;
  /** Keeps its place in the stream, for who reads on after this reading. */
  readonly reader: LineReader;
  #left: Buffer[] = [];
  #isFinished = false;

  constructor(stream: LogStream, merge: Merge) {
    this.stream = stream;
    this.#merge = merge;
    this.reader = new LineReader({ mayBeginWithin: stream.sinceSeconds !== undefined });
  }

  /** What there is to read now; to be given back chunk by chunk. */
  take(): Buffer[] {
    const left = this.#left;
    this.#left = [];
    return this.stream.isEmpty ? left : [...left, ...this.stream.take()];
  }

  /** Reads `chunks[index]`. False when the reading goes no further: the merge has stopped it, or holds it (then the rest is kept). */
  read(chunks: Buffer[], index: number): boolean {
    this.reader.needsHead = this.#merge.needsHead;
    const goesOn = this.reader.read(chunks[index] ?? NOTHING, this.#merge);
    if (!this.#merge.isHeld) return goesOn;
    // The held line is with the reader; reading nothing tries it again.
    this.#left = [NOTHING, ...chunks.slice(index + 1)];
    return false;
  }

  /** The stream has ended and is empty: reads what was held back, once. Undefined when that was done. False as `read`. */
  finish(): boolean | undefined {
    if (this.#isFinished) return undefined;
    const goesOn = this.#merge.finishing(() => this.reader.finish(this.#merge));
    this.#isFinished = !this.#merge.isHeld;
    if (this.reader.nodeWords !== undefined) this.stream.refuse(this.reader.nodeWords);
    return goesOn;
  }
}
