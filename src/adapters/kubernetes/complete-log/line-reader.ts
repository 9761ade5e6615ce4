import { HEAD_BYTES, NEEDS_MORE, NO_STAMP, type Stamp, StampReader } from './line-identity.ts';

/** What becomes of a line: it is taken, passed over, kept for the next `read`, or reading stops before it. */
export type Verdict = 'take' | 'pass' | 'hold' | 'stop';

/** Takes lines in pieces, so that a line of a gigabyte needs no more memory than one of ten bytes. */
export interface LineTaker {
  /**
   * A line begins; `bytes[from, to)` is what is here of its content. `stamp` is undefined for text without one, and
   * is overwritten by the next line's.
   */
  begin(stamp: Stamp | undefined, bytes: Buffer, from: number, to: number): Verdict;
  content(bytes: Buffer, from: number, to: number): void;
  /** The line's newline. False stops the reading behind it. */
  end(): boolean;
}

const NEWLINE = 10;
const STOPPED = -1;

/**
 * Cuts one answer of `pods/log` with `timestamps=true` into lines. Looks for newlines and reads stamps in the bytes as they are;
 * holds back no more than an unfinished stamp, a head while `needsHead` is set, or what may be the node's words.
 */
export class LineReader {
  /** Set: `begin` sees the whole line, or `HEAD_BYTES` of it. */
  needsHead = false;
  readonly #stamps = new StampReader();
  #state: 'between' | 'taking' | 'passing' = 'between';
  #carried: Buffer | undefined;
  /** A read with `sinceTime` may begin within a long line: its rest comes without a stamp, and its line was delivered before. */
  #mayBeginWithin: boolean;
  #hasStamps = false;
  #nodeWords: string | undefined;

  constructor(options: { readonly mayBeginWithin: boolean }) {
    this.#mayBeginWithin = options.mayBeginWithin;
  }

  /**
   * What the node wrote instead of the rest of the log: the status is long sent when it fails, so its error comes as text, without
   * a stamp and without a newline, at the very end. Known after `finish`; no taker sees it.
   */
  get nodeWords(): string | undefined {
    return this.#nodeWords;
  }

  /** False when the taker has stopped the reading; what is left of `chunk` is then dropped. */
  read(chunk: Buffer, taker: LineTaker): boolean {
    const bytes = this.#carried ? Buffer.concat([this.#carried, chunk]) : chunk;
    this.#carried = undefined;
    return this.#readAll(bytes, taker, false);
  }

  /** The answer has ended: nothing is held back any longer. */
  finish(taker: LineTaker): boolean {
    const bytes = this.#carried;
    this.#carried = undefined;
    return bytes === undefined || this.#readAll(bytes, taker, true);
  }

  #readAll(bytes: Buffer, taker: LineTaker, final: boolean): boolean {
    let at = 0;
    while (at < bytes.length) {
      at = this.#state === 'between' ? this.#begin(bytes, at, taker, final) : this.#goOn(bytes, at, taker, final);
      if (at === STOPPED) return false;
    }
    return true;
  }

  #begin(bytes: Buffer, at: number, taker: LineTaker, final: boolean): number {
    const length = this.#stamps.read(bytes, at);
    if (length === NEEDS_MORE) return this.#carry(bytes, at, final);
    const from = at + length;
    const newline = bytes.indexOf(NEWLINE, from);
    const to = newline < 0 ? endOfContent(bytes, from) : newline;
    if (newline < 0 && length === NO_STAMP && this.#isNodeWords(bytes.subarray(at)))
      return this.#hear(bytes, at, final);
    if (this.needsHead && newline < 0 && to - from < HEAD_BYTES && !final) return this.#carry(bytes, at, final);
    const verdict = this.#isRest(length) ? 'pass' : taker.begin(this.#stampOf(length), bytes, from, to);
    if (verdict === 'stop') return STOPPED;
    if (verdict === 'hold') return this.#carry(bytes, at, false);
    this.#state = verdict === 'take' ? 'taking' : 'passing';
    return this.#goTo(bytes, from, newline, taker, final);
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
  #hear(bytes: Buffer, at: number, final: boolean): number {
    if (final) this.#nodeWords = bytes.toString('utf8', at);
    return this.#carry(bytes, at, final);
  }

  /** Where lines have stamps the kubelet writes none without; elsewhere only its known words are taken for an error. */
  #isNodeWords(text: Buffer): boolean {
    return text.length <= MAX_WORDS_BYTES && (this.#hasStamps || mayBeNodeWords(text));
  }

  #goOn(bytes: Buffer, at: number, taker: LineTaker, final: boolean): number {
    return this.#goTo(bytes, at, bytes.indexOf(NEWLINE, at), taker, final);
  }

  #goTo(bytes: Buffer, from: number, newline: number, taker: LineTaker, final: boolean): number {
    const to = newline < 0 ? endOfContent(bytes, from) : newline;
    const isTaken = this.#state === 'taking';
    if (isTaken && to > from) taker.content(bytes, from, to);
    if (newline < 0) return to < bytes.length ? this.#hear(bytes, to, final) : to;
    this.#state = 'between';
    return isTaken && !taker.end() ? STOPPED : newline + 1;
  }

  /** At the end of an answer a stamp that was cut off is dropped: its line comes again, or never came. */
  #carry(bytes: Buffer, at: number, final: boolean): number {
    if (!final) this.#carried = bytes.subarray(at);
    return bytes.length;
  }
}

/** Of a line that is not whole: a runtime cuts long lines, and behind such a piece the node's words stand without a newline. */
function endOfContent(bytes: Buffer, from: number): number {
  const start = Math.max(from, bytes.length - MAX_WORDS_BYTES);
  const at = findNodeWords(bytes.subarray(start));
  return at < 0 ? bytes.length : start + at;
}

/** With these the kubelet alone begins what it writes behind a log that it could not read on (kuberuntime, cri-client/pkg/logs). */
const ITS_OWN = [
  'failed to create fsnotify watcher: ',
  'failed to watch directory "',
  'failed to try resolving symlinks in path "',
  'failed to open log file "',
  'failed to read log file "',
  'failed to reset seek in log file "',
  'failed to get parse function: ',
  'unable to retrieve container logs for ',
] as const;

/** And with these, which programs write too: after a stamp they are a program's, whose last line may have no newline. */
const BEGINNINGS = [...ITS_OWN, 'failed to seek ', 'rpc error: code = '] as const;

/** The kubelet's words are one sentence with a path or two in it. */
export const MAX_WORDS_BYTES = 4_096;

const MAX_LENGTH = Math.max(...BEGINNINGS.map((beginning) => beginning.length));

/** Whether text without a stamp is an error of the node's, or, as far as it has come, may become one. */
export function mayBeNodeWords(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, MAX_LENGTH);
  return BEGINNINGS.some((beginning) => beginning.startsWith(head) || head.startsWith(beginning));
}

/** Where in a line such an error begins that nobody else writes; -1 where there is none. */
export function findNodeWords(bytes: Buffer): number {
  const found = ITS_OWN.map((beginning) => bytes.indexOf(beginning, 0, 'latin1')).filter((at) => at >= 0);
  return found.length === 0 ? -1 : Math.min(...found);
}
