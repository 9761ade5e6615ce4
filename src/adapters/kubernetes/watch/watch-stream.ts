import type { Pod } from '../../../core/container/pod.ts';
import { KdebugError } from '../../../core/errors.ts';
import type { BackOff } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ApiClient } from '../api/api-client.ts';
import { asNumber, asObject, asText } from '../api/json-fields.ts';
import { podsPath } from '../api/paths.ts';
import type { StreamControl } from '../api/stream.ts';
import { viewPod } from '../pod-view.ts';

/** Every duration of the shared watch, so that tests can shorten them. */
export interface WatchTimes {
  /** Each WATCH lasts a random time between these two, so that replicas never reconnect together. */
  readonly minSeconds: number;
  readonly maxSeconds: number;
  /** More than the minute between two bookmarks. */
  readonly silenceMs: number;
  readonly backOff: BackOff;
  /** An unused watch stays open this long: the next command often names the same namespace. */
  readonly lingerMs: number;
  readonly maxNamespaces: number;
}

export const WATCH_TIMES: WatchTimes = {
  minSeconds: 300,
  maxSeconds: 600,
  silenceMs: 95_000,
  backOff: { firstMs: 250, maxMs: 30_000 },
  lingerMs: 600_000,
  maxNamespaces: 200,
};

/** No API server sends a line this long. */
class LineTooLong extends Error {}

/**
 * Cuts a stream of bytes into lines, without their newline. Holds at most one unfinished line of `limitBytes`.
 * @throws LineTooLong from `push`
 */
class LineSplitter {
  readonly #limitBytes: number;
  #unfinished: Buffer[] = [];
  #unfinishedBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let newline = chunk.indexOf(10); newline >= 0; newline = chunk.indexOf(10, from)) {
      lines.push(this.#finish(chunk.subarray(from, newline)));
      from = newline + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
    return lines;
  }

  #finish(end: Buffer): string {
    if (this.#unfinishedBytes === 0) return end.toString('utf8');
    const line = Buffer.concat([...this.#unfinished, end]).toString('utf8');
    this.#unfinished = [];
    this.#unfinishedBytes = 0;
    return line;
  }

  #hold(part: Buffer): void {
    this.#unfinishedBytes += part.length;
    if (this.#unfinishedBytes > this.#limitBytes) throw new LineTooLong();
    this.#unfinished.push(part);
  }
}

/** An object has at most 3 MiB on the server; this leaves room and bounds the memory. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

export type PodChange = { readonly kind: 'set' | 'deleted'; readonly pod: Pod };

/** The end of one watch. `stale`: missed events are gone (410, or a stream that cannot be trusted): list again. */
export type WatchEnd =
  | { readonly kind: 'closed' }
  | { readonly kind: 'stale'; readonly reason: 'expired' | 'silent' | 'garbled' }
  | { readonly kind: 'failed'; readonly error: KdebugError };

export interface WatchRequest {
  readonly namespace: string;
  readonly resourceVersion: string;
  readonly timeoutSeconds: number;
  /** Bookmarks come every minute: a longer silence means a dead connection. */
  readonly silenceMs: number;
}

export interface WatchEvents {
  opened(): void;
  change(change: PodChange): void;
  /** All events up to this version have been applied. */
  reached(resourceVersion: string): void;
}

/** One WATCH request over the pods of a namespace, until it ends. `over` never rejects. */
export class WatchStream {
  readonly over: Promise<WatchEnd>;
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #events: WatchEvents;
  readonly #splitter = new LineSplitter(MAX_LINE_BYTES);
  readonly #control: StreamControl;
  #heardAtMs: number;
  #stopTimer: () => void = () => {};
  #finish: (end: WatchEnd) => void = () => {};

  constructor(
    tools: { readonly client: ApiClient; readonly clock: Clock },
    request: WatchRequest,
    events: WatchEvents,
  ) {
    this.#clock = tools.clock;
    this.#silenceMs = request.silenceMs;
    this.#events = events;
    this.#heardAtMs = this.#clock.elapsed();
    this.over = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.#control = tools.client.stream(
      {
        path: podsPath(request.namespace),
        query: {
          watch: 'true',
          allowWatchBookmarks: 'true',
          resourceVersion: request.resourceVersion,
          timeoutSeconds: String(request.timeoutSeconds),
        },
      },
      {
        opened: () => this.#events.opened(),
        data: (chunk) => this.#read(chunk),
        ended: (error) => this.#end(endOf(error)),
      },
    );
    this.#listen();
  }

  close(): void {
    this.#end({ kind: 'closed' });
  }

  #end(end: WatchEnd): void {
    this.#stopTimer();
    this.#finish(end);
    this.#control.close();
  }

  /** One timer, not one per chunk: it checks the time since the last byte and sleeps for the rest. */
  #listen(): void {
    const quietMs = this.#clock.elapsed() - this.#heardAtMs;
    if (quietMs >= this.#silenceMs) this.#end({ kind: 'stale', reason: 'silent' });
    else this.#stopTimer = this.#clock.after(this.#silenceMs - quietMs, () => this.#listen());
  }

  #read(chunk: Buffer): void {
    this.#heardAtMs = this.#clock.elapsed();
    try {
      for (const line of this.#splitter.push(chunk)) this.#apply(JSON.parse(line));
    } catch {
      // Garbage or an oversized line: its event is lost, so list again.
      this.#end({ kind: 'stale', reason: 'garbled' });
    }
  }

  #apply(raw: unknown): void {
    const { type, object } = asObject(raw);
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
      const pod = viewPod(object);
      this.#events.change({ kind: type === 'DELETED' ? 'deleted' : 'set', pod });
      this.#events.reached(pod.metadata.resourceVersion);
    } else if (type === 'BOOKMARK') {
      this.#events.reached(asText(asObject(asObject(object).metadata).resourceVersion));
    } else if (type === 'ERROR') {
      this.#end(endOfStatus(asObject(object)));
    }
    // A newer server may send other types; none is about known pods.
  }
}

function endOf(error: KdebugError | undefined): WatchEnd {
  if (!error) return { kind: 'closed' };
  return error.facts.status === 410 ? { kind: 'stale', reason: 'expired' } : { kind: 'failed', error };
}

/** A Status inside the stream, usually 410 Expired; after any other one the next list waits. */
function endOfStatus(status: Readonly<Record<string, unknown>>): WatchEnd {
  const code = asNumber(status.code) ?? 0;
  if (code === 410) return { kind: 'stale', reason: 'expired' };
  return {
    kind: 'failed',
    error: new KdebugError('cluster_failed', { detail: asText(status.message), facts: { status: code } }),
  };
}
