import type { KdebugError } from '../../../core/errors.ts';
import type { LogRequest } from '../../../flow/ports/cluster.ts';
import { delayOf } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import { checkedContainer, podPath } from '../api/paths.ts';
import { isSameLine, isSameStamp, type Stamp, stepMs } from './line-identity.ts';
import type { Merge } from './line-merger.ts';
import type { LineReader, LineTaker, Verdict } from './line-reader.ts';
import { type LogClient, LogStream } from './log-stream.ts';
import type { LogTimes } from './log-times.ts';

export interface LogTools {
  readonly client: LogClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly times: LogTimes;
}

/**
 * The readings of one container's log: the one in front, from which content is taken, and those that wait their turn
 * behind it, each holding a log file open. Opens and closes them; decides nothing.
 */
export class LogStreams {
  readonly #tools: LogTools;
  readonly #request: LogRequest;
  readonly #merge: Merge;
  readonly #changed: () => void;
  /** Newest last; when there is one that does not follow (the final read), it is the last. */
  #waiting: LogStream[] = [];
  #front: LogStream | undefined;
  #openedAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #retryAtMs = 0;

  constructor(tools: LogTools, request: LogRequest, join: { readonly merge: Merge; readonly changed: () => void }) {
    this.#tools = tools;
    this.#request = request;
    this.#merge = join.merge;
    this.#changed = join.changed;
  }

  get front(): LogStream | undefined {
    return this.#front;
  }

  get next(): LogStream | undefined {
    return this.#waiting[0];
  }

  get newest(): LogStream | undefined {
    return this.#waiting.at(-1);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether a waiting reading begins with a line of this stamp. */
  hasFirstLine(stamp: Readonly<Stamp>): boolean {
    return this.#waiting.some(({ first: [first] }) => first !== undefined && isSameStamp(first, stamp));
  }

  get hasFinal(): boolean {
    return [this.#front, this.newest].some((stream) => stream !== undefined && !stream.follow);
  }

  /** Openings that failed since the last one that brought something. */
  get failures(): number {
    return this.#failures;
  }

  /** Our own clock. */
  get openedAtMs(): number {
    return this.#openedAtMs;
  }

  /** After failures there is a pause before the next opening. */
  get mayOpen(): boolean {
    return this.#tools.clock.now() >= this.#retryAtMs;
  }

  /** Opens a reading behind all others. */
  open(kind: 'follow' | 'final'): void {
    this.#openedAtMs = this.#tools.clock.now();
    this.#waiting.push(new LogStream({ client: this.#tools.client, changed: this.#changed }, this.#opening(kind)));
  }

  /** Puts the next one in front; the one that was is closed, unless somebody else keeps it. */
  advance(keeps: 'closed' | 'kept' = 'closed'): LogStream | undefined {
    if (keeps === 'closed') this.#front?.close();
    this.#front = this.#waiting.shift();
    this.#front?.promote();
    return this.#front;
  }

  /** Closes one that waits. */
  drop(stream: LogStream): void {
    stream.close();
    this.#waiting = this.#waiting.filter((other) => other !== stream);
  }

  /** Two that begin with the same line hold the same file: one is enough, and the final read is the better one. */
  dropDouble(): void {
    const [before, newest] = this.#waiting.slice(-2);
    const [first, other] = [newest?.first[0], before?.first[0]];
    if (!newest || !before || !first || !other || !isSameLine(first, other)) return;
    this.drop(newest.follow ? newest : before);
  }

  /** A reading ended in vain. */
  fail(): void {
    const { clock, times, random } = this.#tools;
    this.#retryAtMs = clock.now() + delayOf(times.backOff, this.#failures, random);
    this.#failures += 1;
  }

  succeed(): void {
    this.#failures = 0;
    this.#retryAtMs = 0;
  }

  close(): void {
    for (const stream of [this.#front, ...this.#waiting]) stream?.close();
    this.#front = undefined;
    this.#waiting = [];
  }

  #opening(kind: 'follow' | 'final') {
    const { pod, containerName, actingAs } = this.#request;
    const follow = kind === 'follow';
    const sinceSeconds = this.#sinceSeconds();
    return {
      follow,
      sinceSeconds,
      request: {
        path: `${podPath(pod.namespace, pod.name)}/log`,
        query: {
          container: checkedContainer(containerName),
          timestamps: 'true',
          ...(follow && { follow: 'true' }),
          ...(sinceSeconds !== undefined && { sinceTime: wholeSeconds(sinceSeconds) }),
        },
        actingAs,
      },
    };
  }

  /** A little before the newest line; the API server passes whole seconds on. */
  #sinceSeconds(): number | undefined {
    if (!this.#merge.hasAny) return undefined;
    return this.#merge.newest.seconds - Math.ceil(this.#tools.times.overlapMs / 1_000);
  }
}

const wholeSeconds = (seconds: number): string => `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;

/** Why a reading of the log failed, as a code: the API server says 400 while a container has no log (yet). */
export const codeOf = (error: KdebugError): string => (error.facts.status === 400 ? 'log_unavailable' : error.code);

/** A follow that was left because it was silent, although it had not ended. */
export interface Retired {
  readonly stream: LogStream;
  /** It goes on where the reading stopped. */
  readonly reader: LineReader;
  /** The line before which everything of its file was taken to be read. */
  readonly next: Readonly<Stamp>;
  /** It was only held up after all: lines of its file are missing. */
  readonly onLate: () => void;
}

/**
 * Follows that were silent for so long that their file was taken to be read to its end. They are listened to further: one that still
 * brings a line older than the next file's first proves that lines were left out.
 */
export class RetiredStreams {
  readonly #marginMs: number;
  #retired: Retired[] = [];
  #isLast = false;
  #waitedTicks = 0;

  constructor(marginMs: number) {
    this.#marginMs = marginMs;
  }

  add(retired: Retired): void {
    this.#retired.push(retired);
  }

  tick(): void {
    this.#waitedTicks += 1;
  }

  /** Hears what has come since; forgets those about which all is known. */
  listen(): void {
    this.#retired = this.#retired.filter((retired) => !this.#isDecided(retired));
  }

  /** All else is over: true once all of them have ended, or, after a moment, those that have not are said to be in doubt. */
  isOver(times: Pick<LogTimes, 'tickMs' | 'exhaustedMs'>): boolean {
    if (this.#retired.length === 0) return true;
    if (!this.#isLast) this.#waitedTicks = 0;
    this.#isLast = true;
    if (this.#waitedTicks * times.tickMs < times.exhaustedMs) return false;
    for (const { onLate } of this.#retired) onLate();
    return true;
  }

  close(): void {
    for (const { stream } of this.#retired) stream.close();
    this.#retired = [];
  }

  #isDecided({ stream, reader, next, onLate }: Retired): boolean {
    const verdict = new FirstLine(next, this.#marginMs);
    const goesOn = stream.take().every((chunk) => reader.read(chunk, verdict));
    if (goesOn && !stream.end) return false;
    if (verdict.isLate || stream.end?.error) onLate();
    stream.close();
    return true;
  }
}

/** Looks at the first stamp only: at the end of its file a follow may also go on into a newer one, which says nothing. */
class FirstLine implements LineTaker {
  readonly #next: Readonly<Stamp>;
  readonly #marginMs: number;
  isLate = false;

  constructor(next: Readonly<Stamp>, marginMs: number) {
    this.#next = next;
    this.#marginMs = marginMs;
  }

  begin(stamp: Stamp | undefined): Verdict {
    if (!stamp) return 'pass';
    this.isLate = stepMs(this.#next, stamp) <= this.#marginMs;
    return 'stop';
  }

  content(): void {}

  end(): boolean {
    return true;
  }
}
