import type { KdebugError } from '../../../core/errors.ts';
import type { LogRequest } from '../../../flow/ports/cluster.ts';
import { delayOf } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import { checkedContainer, podPath } from '../api/paths.ts';
import type { StreamFacts, StreamsFacts } from './handover-policy.ts';
import { isSameLine, isSameStamp, type Stamp, stepMs } from './line-identity.ts';
import type { LineMerger } from './line-merger.ts';
import type { LineDecision, LineHandler } from './line-reader.ts';
import { type LogClient, LogStream, type Opening, type StreamCursor } from './log-stream.ts';
import type { LogTimes } from './log-times.ts';

export interface LogTools {
  readonly client: LogClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly times: LogTimes;
}

/**
 * The streams of one container's log: the front, which is read, and those waiting behind it, each holding a log file
 * open. Opens and closes them; decides nothing.
 */
export class LogStreams {
  readonly #tools: LogTools;
  readonly #request: LogRequest;
  readonly #context: { readonly merger: LineMerger; readonly changed: () => void };
  /** Newest last; a final read is always the last. */
  #waiting: LogStream[] = [];
  #front: LogStream | undefined;
  #frontEndedAtMs: number | undefined;
  #openedAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #retryAtMs = 0;

  constructor(
    tools: LogTools,
    request: LogRequest,
    context: { readonly merger: LineMerger; readonly changed: () => void },
  ) {
    this.#tools = tools;
    this.#request = request;
    this.#context = context;
  }

  get front(): LogStream | undefined {
    return this.#front;
  }

  get next(): LogStream | undefined {
    return this.#waiting[0];
  }

  facts(isReadable: boolean): StreamsFacts {
    const { merger } = this.#context;
    const [front, next, newest] = [this.#front, this.next, this.#waiting.at(-1)];
    const [nextFirst] = next?.first ?? [];
    return {
      front: front && {
        ...factsOf(front),
        isReadable,
        wasOpened: front.wasOpened,
        isFromStart: front.sinceSeconds === undefined,
        endedAtMs: this.#frontEndedAtMs,
      },
      next: next && {
        ...factsOf(next),
        stepMs: nextFirst && stepMs(merger.newest, nextFirst),
        mayBeDelivered: merger.mayHaveGlued(next.firstEnd),
      },
      waiting: this.#waiting.length,
      isOneOpening: newest !== undefined && newest.first.length === 0 && !newest.end,
      hasFinalRead: [front, newest].some((stream) => stream !== undefined && !stream.follow),
      openedAtMs: this.#openedAtMs,
      failures: this.#failures,
      mayOpen: this.#tools.clock.elapsed() >= this.#retryAtMs,
    };
  }

  /** A waiting stream begins with a line of this stamp. */
  hasFirstLine(stamp: Readonly<Stamp>): boolean {
    return this.#waiting.some(({ first: [first] }) => first !== undefined && isSameStamp(first, stamp));
  }

  /** Opens a stream behind all others. */
  open(kind: 'follow' | 'final'): void {
    this.#openedAtMs = this.#tools.clock.elapsed();
    const { changed } = this.#context;
    this.#waiting.push(new LogStream({ client: this.#tools.client, changed }, this.#opening(kind)));
  }

  advance(oldFront: 'close' | 'leave open'): void {
    if (oldFront === 'close') this.#front?.close();
    this.#front = this.#waiting.shift();
    this.#frontEndedAtMs = undefined;
    this.#front?.promote();
  }

  drop(stream: LogStream): void {
    stream.close();
    this.#waiting = this.#waiting.filter((other) => other !== stream);
  }

  /** Two streams with the same first line hold the same file: keep one, preferably the final read. */
  dropDouble(): void {
    const [before, newest] = this.#waiting.slice(-2);
    const [first, other] = [newest?.first[0], before?.first[0]];
    if (!newest || !before || !first || !other || !isSameLine(first, other)) return;
    this.drop(newest.follow ? newest : before);
  }

  /** The front has ended: while the container runs even a clean end is a failure, which lengthens the pause. */
  frontEnded(isContainerRunning: boolean): void {
    if (!this.#front || this.#frontEndedAtMs !== undefined) return;
    const { clock, times, random } = this.#tools;
    this.#frontEndedAtMs = clock.elapsed();
    if (!this.#front.end?.error && !isContainerRunning) return;
    this.#retryAtMs = clock.elapsed() + delayOf(times.backOff, this.#failures, random);
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

  #opening(kind: 'follow' | 'final'): Opening {
    const { pod, containerName, actingAs } = this.#request;
    const follow = kind === 'follow';
    const sinceSeconds = this.#sinceSeconds();
    const query = {
      container: checkedContainer(containerName),
      timestamps: 'true',
      ...defined({
        follow: follow ? 'true' : undefined,
        sinceTime: sinceSeconds === undefined ? undefined : wholeSeconds(sinceSeconds),
      }),
    };
    const request = { path: `${podPath(pod.namespace, pod.name)}/log`, query, actingAs };
    return { follow, sinceSeconds, request };
  }

  /** A little before the newest line; the API server rounds to whole seconds. */
  #sinceSeconds(): number | undefined {
    const { merger } = this.#context;
    if (!merger.hasAny) return undefined;
    return merger.newest.seconds - Math.ceil(this.#tools.times.overlapMs / 1_000);
  }
}

const wholeSeconds = (seconds: number): string => `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;

export const factsOf = ({ follow, end, first }: LogStream): StreamFacts => ({
  follow,
  end: end && (end.error ? 'failed' : 'clean'),
  firstLines: first.length,
});

/** A stream's failure as a code: the API server answers 400 while a container has no log (yet). */
export const reasonOf = (error: KdebugError): string => (error.facts.status === 400 ? 'log_unavailable' : error.code);

/** A follow that lost the front because of its silence, although it had not ended. */
interface AbandonedStream {
  readonly cursor: StreamCursor;
  /** The first line of the next file: all lines before it should have been read. */
  readonly next: Readonly<Stamp>;
  /** Called when the stream was only delayed: lines of its file are missing. */
  readonly onLateLine: () => void;
}

/** Keeps listening: a line older than the next file's first proves that lines are missing. */
export class AbandonedStreams {
  readonly #marginMs: number;
  #streams: AbandonedStream[] = [];
  #isLast = false;
  #waitedTicks = 0;

  constructor(marginMs: number) {
    this.#marginMs = marginMs;
  }

  add(stream: AbandonedStream): void {
    this.#streams.push(stream);
  }

  tick(): void {
    this.#waitedTicks += 1;
  }

  /** Reads new bytes, and closes the streams that have proved one thing or the other. */
  listen(): void {
    this.#streams = this.#streams.filter((abandoned) => !this.#isDecided(abandoned));
  }

  /** Call when all other streams have ended: true once these have too, or when the rest count as gaps. */
  isOver(times: Pick<LogTimes, 'tickMs' | 'readToEndMs'>): boolean {
    if (this.#streams.length === 0) return true;
    if (!this.#isLast) this.#waitedTicks = 0;
    this.#isLast = true;
    if (this.#waitedTicks * times.tickMs < times.readToEndMs) return false;
    for (const { onLateLine } of this.#streams) onLateLine();
    return true;
  }

  close(): void {
    for (const { cursor } of this.#streams) cursor.stream.close();
    this.#streams = [];
  }

  #isDecided({ cursor: { stream, reader }, next, onLateLine }: AbandonedStream): boolean {
    const firstStamp = new FirstStamp();
    const goesOn = stream.read().every((chunk) => reader.read(chunk, firstStamp));
    if (goesOn && !stream.end) return false;
    const { stamp } = firstStamp;
    if ((stamp && stepMs(next, stamp) <= this.#marginMs) || stream.end?.error) onLateLine();
    stream.close();
    return true;
  }
}

/** Reads the first stamp only: at the end of its file a follow may continue into a newer one, which proves nothing. */
class FirstStamp implements LineHandler {
  stamp: Stamp | undefined;

  begin(stamp: Stamp | undefined): LineDecision {
    if (!stamp) return 'skip';
    this.stamp = { ...stamp };
    return 'stop';
  }

  content(): void {}

  end(): boolean {
    return true;
  }
}
