import { KdebugError } from '../../../core/errors.ts';
import type { ApiClient, ApiRequest } from '../api/api-client.ts';
import type { StreamControl } from '../api/stream.ts';
import { EMPTY_HASH, HEAD_BYTES, hashOn, LineEnd, type LineKey, type Stamp } from './line-identity.ts';
import type { LineMerger } from './line-merger.ts';
import { type LineDecision, type LineHandler, LineReader } from './line-reader.ts';

/** Buffer of the front ahead of its reader; and of a waiting stream, which only holds its file open. */
const AHEAD_BYTES = 1024 * 1024;
const WAITING_AHEAD_BYTES = 64 * 1024;
/** Two lines show where a stream begins, even when a rotation cut the first. */
const FIRST_LINES = 2;

export interface Opening {
  readonly request: ApiRequest;
  readonly follow: boolean;
  /** Seconds since 1970; absent: from the file's beginning. */
  readonly sinceSeconds: number | undefined;
}

/**
 * One GET of `pods/log`. While it waits it reads its first lines and then stops: the blocked kubelet holds the log file
 * open, renamed or not. `promote` lets it flow.
 */
export class LogStream {
  readonly follow: boolean;
  readonly sinceSeconds: number | undefined;
  readonly #changed: () => void;
  readonly #control: StreamControl;
  readonly #firstLines = new FirstLines();
  readonly #firstLinesReader: LineReader;
  #chunks: Buffer[] = [];
  #queuedBytes = 0;
  #aheadBytes = WAITING_AHEAD_BYTES;
  #isPaused = false;
  #isOpen = false;
  #openedAtMs: number | undefined;
  #end: { readonly error: KdebugError | undefined } | undefined;

  constructor(tools: LogStreamTools, opening: Opening) {
    this.follow = opening.follow;
    this.sinceSeconds = opening.sinceSeconds;
    this.#changed = tools.changed;
    this.#firstLinesReader = new LineReader({ mayBeginWithin: opening.sinceSeconds !== undefined });
    this.#control = tools.client.stream(opening.request, {
      opened: () => {
        this.#isOpen = true;
        this.#openedAtMs = tools.client.serverClock.now();
      },
      data: (chunk) => this.#receive(chunk),
      ended: (error) => {
        this.#end = { error };
        this.#firstLinesReader.finish(this.#firstLines);
        this.#changed();
      },
    });
  }

  /** The time at which the server opened it, by the server's clock. */
  get openedAtMs(): number | undefined {
    return this.#openedAtMs;
  }

  get wasOpened(): boolean {
    return this.#isOpen;
  }

  /** Set once everything has arrived; unread bytes may remain. */
  get end(): { readonly error: KdebugError | undefined } | undefined {
    return this.#end;
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** Its first lines, at most two, as far as known. */
  get first(): readonly LineKey[] {
    return this.#firstLines.lines;
  }

  /** The complete first line's length and last bytes; undefined until its newline has come. */
  get firstEnd(): LineEnd | undefined {
    return this.#firstLines.firstEnd;
  }

  /** True if `first` is final. */
  get isKnown(): boolean {
    return this.#firstLines.isDone || this.#end !== undefined;
  }

  /** The clean end was an error: the node wrote this instead of the rest. */
  fail(detail: string): void {
    if (!this.#end) return;
    const error = this.#end.error ?? new KdebugError('log_unavailable', { detail });
    this.#end = { error };
  }

  promote(): void {
    this.#aheadBytes = AHEAD_BYTES;
    this.#flow();
  }

  /** The arrived bytes; makes room for more. */
  read(): Buffer[] {
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
    if (!this.#firstLines.isDone) this.#firstLinesReader.read(chunk, this.#firstLines);
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

export interface LogClient extends Pick<ApiClient, 'stream'> {
  readonly serverClock: Pick<ApiClient['serverClock'], 'now'>;
}

export interface LogStreamTools {
  readonly client: LogClient;
  /** Called when bytes arrive, or the stream ends. */
  readonly changed: () => void;
}

/** Learns the identity of the first lines without consuming them. */
class FirstLines implements LineHandler {
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

  begin(stamp: Stamp | undefined): LineDecision {
    this.#stamp = stamp && { ...stamp };
    this.#isCounted = false;
    this.#hash = EMPTY_HASH;
    this.#hashed = 0;
    return stamp ? 'deliver' : 'skip';
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

/** Reads one stream into the merger, which may stop it or hold it at a line. */
export class StreamCursor {
  readonly stream: LogStream;
  readonly #merger: LineMerger;
  /** The next cursor on this stream must use the same reader: it may hold half a line. */
  readonly reader: LineReader;
  #rest: Buffer[] = [];
  #isFinished = false;

  constructor(stream: LogStream, merger: LineMerger) {
    this.stream = stream;
    this.#merger = merger;
    this.reader = new LineReader({ mayBeginWithin: stream.sinceSeconds !== undefined });
  }

  /** The chunks available now, for `read`. */
  chunks(): Buffer[] {
    const rest = this.#rest;
    this.#rest = [];
    return this.stream.isEmpty ? rest : [...rest, ...this.stream.read()];
  }

  /**
   * Reads `chunks[index]`. False when the merger stopped the reading, or holds it (then the other chunks come again).
   */
  read(chunks: Buffer[], index: number): boolean {
    this.reader.needsHead = this.#merger.needsHead;
    const goesOn = this.reader.read(chunks[index] ?? NOTHING, this.#merger);
    if (!this.#merger.isHeld) return goesOn;
    // The reader has the held line; reading nothing tries it again.
    this.#rest = [NOTHING, ...chunks.slice(index + 1)];
    return false;
  }

  /** The stream has ended and is empty: reads what the reader held back. False on a repeat. */
  finish(): boolean {
    if (this.#isFinished) return false;
    this.#merger.isReadingEnd = true;
    this.reader.finish(this.#merger);
    this.#merger.isReadingEnd = false;
    this.#isFinished = !this.#merger.isHeld;
    if (this.reader.nodeError !== undefined) this.stream.fail(this.reader.nodeError);
    return true;
  }
}
