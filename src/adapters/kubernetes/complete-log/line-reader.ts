import {
  HEAD_BYTES,
  type LineEnd,
  type LineKey,
  NEEDS_MORE,
  NO_STAMP,
  type Stamp,
  StampReader,
} from './line-identity.ts';

/** What happens to a line: it is delivered or skipped, waits for the next `read`, or ends the reading before it. */
export type LineDecision = 'deliver' | 'skip' | 'hold' | 'stop';

/** Receives lines in pieces, so that a line of a gigabyte needs no more memory than one of ten bytes. */
export interface LineHandler {
  /**
   * A line begins; `bytes[from, to)` is what is here of its content. `stamp` is undefined for text without one, and the next line
   * overwrites it.
   */
  begin(stamp: Stamp | undefined, bytes: Buffer, from: number, to: number): LineDecision;
  content(bytes: Buffer, from: number, to: number): void;
  /** The line's newline. False stops the reading behind it. */
  end(): boolean;
}

/** Why the front must stop: it delivered the next stream's first line or its first two, or jumped over them into a newer file. */
export type Stop = { readonly kind: 'met'; readonly lines: number } | { readonly kind: 'jumped'; readonly to: Stamp };

/** What is known of a stream that begins. */
export interface StreamStart {
  /** The stream before it did not come to its end, so the two must overlap. */
  readonly isBroken: boolean;
  readonly first: readonly LineKey[];
  readonly firstEnd: LineEnd | undefined;
  /** The line at which the stream before it was stopped. */
  readonly jumpedTo: Readonly<Stamp> | undefined;
}

const NEWLINE = 10;
const STOPPED = -1;

/**
 * Cuts one answer of `pods/log` with `timestamps=true` into lines. Looks for newlines and reads stamps in the bytes as they are;
 * holds back no more than an unfinished stamp, a head while `needsHead` is set, or a possible error of the node.
 */
export class LineReader {
  /** Set: `begin` sees the whole line, or `HEAD_BYTES` of it. */
  needsHead = false;
  readonly #stamps = new StampReader();
  #state: 'between' | 'delivering' | 'skipping' = 'between';
  #carried: Buffer | undefined;
  /** A read with `sinceTime` may begin within a long line: the rest has no stamp, and an earlier stream delivered that line. */
  #mayBeginWithin: boolean;
  #hasStamps = false;
  #nodeError: string | undefined;

  constructor(options: { readonly mayBeginWithin: boolean }) {
    this.#mayBeginWithin = options.mayBeginWithin;
  }

  /**
   * What the node wrote instead of the rest of the log: it fails long after the status was sent, so its error comes as text, without a
   * stamp and without a newline, at the very end. Known after `finish`; no handler sees it.
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

  /** The answer has ended: reads what was held back. */
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

  /** More may come: then it was no error. */
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

  /** At the end of an answer a stamp that was cut off is dropped: its line comes again, or never came. */
  #carry(bytes: Buffer, at: number, final: boolean): number {
    if (!final) this.#carried = bytes.subarray(at);
    return bytes.length;
  }
}

/** Of a line that is not whole: a runtime cuts long lines, and the node's error follows such a piece without a newline. */
function endOfContent(bytes: Buffer, from: number): number {
  const start = Math.max(from, bytes.length - MAX_ERROR_BYTES);
  const at = findNodeError(bytes.subarray(start));
  return at < 0 ? bytes.length : start + at;
}

/** How the kubelet's errors behind a log begin; no program writes these (kuberuntime, cri-client/pkg/logs). */
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

/** Programs write the last two as well: after a stamp they are a program's, whose last line may have no newline. */
const BEGINNINGS = [...ONLY_THE_KUBELETS, 'failed to seek ', 'rpc error: code = '] as const;

/** A kubelet's error is one sentence with a path or two in it. */
const MAX_ERROR_BYTES = 4_096;

const MAX_LENGTH = Math.max(...BEGINNINGS.map((beginning) => beginning.length));

/** Whether text without a stamp is an error of the node's, or, as far as it has come, may become one. */
function mayBeNodeError(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, MAX_LENGTH);
  return BEGINNINGS.some((beginning) => beginning.startsWith(head) || head.startsWith(beginning));
}

/** Where in a line such an error begins that nobody else writes; -1 where there is none. */
function findNodeError(bytes: Buffer): number {
  const found = ONLY_THE_KUBELETS.map((beginning) => bytes.indexOf(beginning, 0, 'latin1')).filter((at) => at >= 0);
  return found.length === 0 ? -1 : Math.min(...found);
}
