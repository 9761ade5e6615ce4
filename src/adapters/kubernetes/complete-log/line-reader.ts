import {
  HEAD_BYTES,
  type LineEnd,
  type LineKey,
  NEEDS_MORE,
  NO_STAMP,
  type Stamp,
  StampReader,
} from './line-identity.ts';

/** Deliver the line, skip it, hold it until the next `read`, or stop the reading before it. */
export type LineDecision = 'deliver' | 'skip' | 'hold' | 'stop';

/** Receives lines in pieces, so that a line of 1 GB needs no more memory than one of 10 bytes. */
export interface LineHandler {
  /**
   * A line begins; `bytes[from, to)` is its content so far. `stamp` is undefined for text without one, and the next
   * line overwrites it.
   */
  begin(stamp: Stamp | undefined, bytes: Buffer, from: number, to: number): LineDecision;
  content(bytes: Buffer, from: number, to: number): void;
  /** The line's newline. False stops the reading behind it. */
  end(): boolean;
}

/**
 * The reason why the front must stop: it delivered the next stream's first line or its first two, or jumped over them
 * into a newer file.
 */
export type Stop = { readonly kind: 'met'; readonly lines: number } | { readonly kind: 'jumped'; readonly to: Stamp };

export interface StreamStart {
  /** The stream before it did not reach its end, so the two must overlap. */
  readonly isBroken: boolean;
  readonly first: readonly LineKey[];
  readonly firstEnd: LineEnd | undefined;
  /** The line at which the previous stream was stopped. */
  readonly jumpedTo: Readonly<Stamp> | undefined;
}

const NEWLINE = 10;
const STOPPED = -1;

/**
 * Cuts one response of `pods/log` with `timestamps=true` into lines. Finds newlines and stamps in the bytes in place;
 * holds back at most an unfinished stamp, a head while `needsHead` is set, or a possible error of the node.
 */
export class LineReader {
  /** Set: `begin` gets the whole line, or `HEAD_BYTES` of it. */
  needsHead = false;
  readonly #stamps = new StampReader();
  #state: 'between' | 'delivering' | 'skipping' = 'between';
  #carried: Buffer | undefined;
  /** A read with `sinceTime` may begin within a long line: that rest has no stamp, and was delivered before. */
  #mayBeginWithin: boolean;
  #hasStamps = false;
  #nodeError: string | undefined;

  constructor(options: { readonly mayBeginWithin: boolean }) {
    this.#mayBeginWithin = options.mayBeginWithin;
  }

  /**
   * The node's error in place of the rest of the log. The node fails long after it sent the status, so its error comes
   * as text, without stamp or newline, at the very end. Known after `finish`; no handler sees it.
   */
  get nodeError(): string | undefined {
    return this.#nodeError;
  }

  /** False when the handler has stopped the reading; the rest of `chunk` is then dropped. */
  read(chunk: Buffer, handler: LineHandler): boolean {
    const bytes = this.#carried ? Buffer.concat([this.#carried, chunk]) : chunk;
    this.#carried = undefined;
    return this.#readAll(bytes, handler, false);
  }

  /** Call at the response's end: reads what was held back. */
  finish(handler: LineHandler): boolean {
    const bytes = this.#carried;
    this.#carried = undefined;
    return bytes === undefined || this.#readAll(bytes, handler, true);
  }

  #readAll(bytes: Buffer, handler: LineHandler, final: boolean): boolean {
    let at = 0;
    while (at < bytes.length) {
      at =
        this.#state === 'between'
          ? this.#begin(bytes, at, handler, final)
          : this.#continueLine(bytes, at, handler, final);
      if (at === STOPPED) return false;
    }
    return true;
  }

  #begin(bytes: Buffer, at: number, handler: LineHandler, final: boolean): number {
    const length = this.#stamps.read(bytes, at);
    if (length === NEEDS_MORE) return this.#carry(bytes, at, final);
    const from = at + length;
    const newline = bytes.indexOf(NEWLINE, from);
    const to = newline < 0 ? endOfContent(bytes, from) : newline;
    if (newline < 0 && length === NO_STAMP && this.#isNodeError(bytes.subarray(at)))
      return this.#holdNodeError(bytes, at, final);
    if (this.needsHead && newline < 0 && to - from < HEAD_BYTES && !final) return this.#carry(bytes, at, final);
    const decision = this.#isRest(length) ? 'skip' : handler.begin(this.#stampOf(length), bytes, from, to);
    if (decision === 'stop') return STOPPED;
    if (decision === 'hold') return this.#carry(bytes, at, false);
    this.#state = decision === 'deliver' ? 'delivering' : 'skipping';
    return this.#readContent(bytes, from, newline, handler, final);
  }

  #stampOf(length: number): Stamp | undefined {
    if (length === NO_STAMP) return undefined;
    this.#hasStamps = true;
    return this.#stamps.stamp;
  }

  #isRest(length: number): boolean {
    const isRest = length === NO_STAMP && this.#mayBeginWithin;
    this.#mayBeginWithin = false;
    return isRest;
  }

  /** Holds back a possible error: more bytes would prove that it was none. */
  #holdNodeError(bytes: Buffer, at: number, final: boolean): number {
    if (final) this.#nodeError = bytes.toString('utf8', at);
    return this.#carry(bytes, at, final);
  }

  /** Once lines have stamps the kubelet writes none without; before that only its known errors count as such. */
  #isNodeError(text: Buffer): boolean {
    return text.length <= MAX_ERROR_BYTES && (this.#hasStamps || mayBeNodeError(text));
  }

  #continueLine(bytes: Buffer, at: number, handler: LineHandler, final: boolean): number {
    return this.#readContent(bytes, at, bytes.indexOf(NEWLINE, at), handler, final);
  }

  #readContent(bytes: Buffer, from: number, newline: number, handler: LineHandler, final: boolean): number {
    const to = newline < 0 ? endOfContent(bytes, from) : newline;
    const isDelivered = this.#state === 'delivering';
    if (isDelivered && to > from) handler.content(bytes, from, to);
    if (newline < 0) return to < bytes.length ? this.#holdNodeError(bytes, to, final) : to;
    this.#state = 'between';
    return isDelivered && !handler.end() ? STOPPED : newline + 1;
  }

  /** At a response's end a cut stamp is dropped: its line comes again, or never came. */
  #carry(bytes: Buffer, at: number, final: boolean): number {
    if (!final) this.#carried = bytes.subarray(at);
    return bytes.length;
  }
}

/**
 * The end of an incomplete line's content: a runtime cuts long lines, and the node's error follows such a piece without
 * a newline.
 */
function endOfContent(bytes: Buffer, from: number): number {
  const start = Math.max(from, bytes.length - MAX_ERROR_BYTES);
  const at = findNodeError(bytes.subarray(start));
  return at < 0 ? bytes.length : start + at;
}

/** The beginnings of the kubelet's errors after a log; no program writes these (kuberuntime, cri-client/pkg/logs). */
const ONLY_THE_KUBELETS = [
  'failed to create fsnotify watcher: ',
  'failed to watch directory "',
  'failed to try resolving symlinks in path "',
  'failed to open log file "',
  'failed to read log file "',
  'failed to reset seek in log file "',
  'failed to get parse function: ',
  'unable to retrieve container logs for ',
] as const;

/** Programs write the last two as well: after a stamp they belong to a program whose last line may lack its newline. */
const BEGINNINGS = [...ONLY_THE_KUBELETS, 'failed to seek ', 'rpc error: code = '] as const;

/** A kubelet's error is one sentence with one or two paths in it. */
const MAX_ERROR_BYTES = 4_096;

const MAX_LENGTH = Math.max(...BEGINNINGS.map((beginning) => beginning.length));

/** The text without a stamp is a node's error, or may grow into one. */
function mayBeNodeError(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, MAX_LENGTH);
  return BEGINNINGS.some((beginning) => beginning.startsWith(head) || head.startsWith(beginning));
}

/** Returns the start of an error that only the kubelet writes; -1 without one. */
function findNodeError(bytes: Buffer): number {
  const found = ONLY_THE_KUBELETS.map((beginning) => bytes.indexOf(beginning, 0, 'latin1')).filter((at) => at >= 0);
  return found.length === 0 ? -1 : Math.min(...found);
}
