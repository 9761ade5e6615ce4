import type { Dispatcher } from 'undici';
import { KdebugError } from '../../../core/errors.ts';
import { defined } from '../../../lib/object.ts';
import { toClusterError, toUnreachable } from './api-errors.ts';
import type { HeaderLines, Route } from './connection.ts';
import { retryAfterMs } from './server-clock.ts';

/** Events of a stream, in this order: at most one `opened`, any number of `data`, exactly one `ended`. */
export interface StreamEvents {
  opened(): void;
  data(chunk: Buffer): void;
  /** Without an error: a clean end, or a call of `close`. */
  ended(error?: KdebugError): void;
}

/** A paused stream reads nothing from its socket, so the server waits. Never call `resume` from within `data`. */
export interface StreamControl {
  pause(): void;
  resume(): void;
  close(): void;
}

interface StreamRequest {
  readonly method: 'GET';
  readonly path: string;
  readonly headers: HeaderLines;
}

interface StreamOptions {
  route(): Promise<Route & { renew(): Promise<Route> }>;
  request(route: Route): StreamRequest;
  /** Gets the response's status and `Date` header, and when the request was sent. */
  learn(status: number, date: unknown, sentAtMs: number): void;
  /** As `Clock.elapsed`. */
  elapsed(): number;
  readonly events: StreamEvents;
}

const HEADERS_TIMEOUT_MS = 30_000;
/** Reads this much of a response that is not 200, for its message. */
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Uses undici's own dispatch, not its stream objects: a kubelet sends every line as a separate chunk, 60,000 a second.
 */
export function openStream(options: StreamOptions): StreamControl {
  const stream = new Stream(options);
  void stream.start();
  return stream;
}

class Stream implements StreamControl {
  readonly #options: StreamOptions;
  #controller: Dispatcher.DispatchController | undefined;
  #paused = false;
  #over = false;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    try {
      const route = await this.#options.route();
      this.#dispatch(route, () => void this.#startAgain(route.renew()));
    } catch (error) {
      this.#end(toUnreachable(error));
    }
  }

  async #startAgain(renewed: Promise<Route>): Promise<void> {
    try {
      this.#dispatch(await renewed, undefined);
    } catch (error) {
      this.#end(toUnreachable(error));
    }
  }

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#controller?.resume();
  }

  close(): void {
    if (this.#over) return;
    this.#end();
    this.#controller?.abort(new KdebugError('cluster_unreachable', { detail: 'closed' }));
  }

  #end(error?: KdebugError): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.events.ended(error);
  }

  #dispatch(route: Route, onUnauthenticated: (() => void) | undefined): void {
    if (this.#over) return;
    const request = this.#options.request(route);
    route.streams.dispatch(
      { ...request, origin: route.origin, headersTimeout: HEADERS_TIMEOUT_MS, bodyTimeout: 0, blocking: true },
      this.#handler(onUnauthenticated),
    );
  }

  #handler(onUnauthenticated: (() => void) | undefined): Dispatcher.DispatchHandler {
    const { events } = this.#options;
    const sentAtMs = this.#options.elapsed();
    const refused: Buffer[] = [];
    let refusedBytes = 0;
    let status = 0;
    let retryAfter: number | undefined;
    return {
      onRequestStart: (controller) => {
        this.#controller = controller;
        if (this.#over) controller.abort(new KdebugError('cluster_unreachable', { detail: 'closed' }));
      },
      onResponseStart: (controller, statusCode, headers) => {
        if (statusCode < 200) return;
        this.#options.learn(statusCode, headers.date, sentAtMs);
        status = statusCode;
        retryAfter = retryAfterMs(headers['retry-after']);
        if (status !== 200 || this.#over) return;
        events.opened();
        if (this.#paused) controller.pause();
      },
      onResponseData: (_controller, chunk) => {
        if (this.#over) return;
        if (status === 200) {
          events.data(chunk);
          return;
        }
        refusedBytes += chunk.length;
        if (refusedBytes <= MAX_ERROR_BYTES) refused.push(chunk);
      },
      onResponseEnd: () => {
        if (status === 200) this.#end();
        else if (status === 401 && onUnauthenticated) onUnauthenticated();
        else this.#end(errorOf(status, Buffer.concat(refused), retryAfter));
      },
      onResponseError: (_controller, error) => this.#end(toUnreachable(error)),
    };
  }
}

function errorOf(status: number, body: Buffer, retryAfter: number | undefined): KdebugError {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    parsed = undefined;
  }
  const answer = { status, body: parsed, ...defined({ retryAfterMs: retryAfter }) };
  return toClusterError(answer, 'pod_not_found');
}
