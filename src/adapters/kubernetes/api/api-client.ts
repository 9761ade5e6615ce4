import { KdebugError, type ReasonCode } from '../../../core/errors.ts';
import type { ActingAs } from '../../../flow/ports/cluster.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import { type ApiResponse, toClusterError, toUnreachable } from './api-errors.ts';
import { type Connection, type HeaderLines, identityHeaders, type Route } from './connection.ts';
import { Pace } from './pace.ts';
import { retryAfterMs, ServerClock } from './server-clock.ts';
import { openStream, type StreamControl, type StreamEvents } from './stream.ts';

export interface ApiRequest {
  readonly method?: 'GET' | 'PATCH' | 'POST';
  /** From `paths.ts`, which checks names before building a path. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: { readonly type: string; readonly value: unknown };
  readonly actingAs?: ActingAs | undefined;
  readonly timeoutMs?: number;
  /** A longer answer fails (`isTooLarge`): it is parsed in one turn, at some 10 ms a megabyte, while everybody else waits. */
  readonly maxBytes?: number;
}

/**
 * Called after each call with its HTTP method in lower case, `ok` or the error's code, and its duration. A stream (`watch`,
 * `log`) counts when its answer begins.
 */
export type OnCall = (method: string, result: string, durationMs: number) => void;

const TIMEOUT_MS = 20_000;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

export const isTooLarge = ({ facts }: KdebugError): boolean => facts.tooLarge === true;

interface Sent {
  readonly headers: HeaderLines;
  readonly sentAtMs: number;
}

/** JSON requests to one API server. Never follows redirects: one could carry the credentials elsewhere. */
export class ApiClient {
  readonly #connection: Connection;
  readonly #userAgent: string;
  readonly #clock: Clock;
  readonly #pace: Pace;
  readonly #onCall: OnCall | undefined;
  readonly serverClock: ServerClock;

  constructor(connection: Connection, userAgentVersion: string, clock: Clock, onCall?: OnCall) {
    this.#connection = connection;
    this.#userAgent = `kdebug/${userAgentVersion}`;
    this.#clock = clock;
    this.#onCall = onCall;
    this.#pace = new Pace(clock);
    this.serverClock = new ServerClock(clock);
  }

  /** Calls that wait because the server asked for fewer. */
  get queued(): number {
    return this.#pace.waiting;
  }

  /** Sends once, or twice when the first response is 401. Resolves with any status. @throws KdebugError cluster_unreachable */
  async send(request: ApiRequest): Promise<ApiResponse> {
    const route = await this.#connection.route();
    const answer = await this.#sendTo(route, request);
    return answer.status === 401 ? this.#sendTo(await route.renew(), request) : answer;
  }

  /** The body of a successful response. @throws KdebugError those of `toClusterError`; `notFound` is the code of a 404 */
  async json(request: ApiRequest, notFound?: ReasonCode): Promise<unknown> {
    const answer = await this.send(request);
    if (answer.status < 200 || answer.status > 299) throw toClusterError(answer, notFound);
    return answer.body;
  }

  /** Opens a response to read as it arrives, without a time limit. Calls `events.ended` exactly once. */
  stream(request: ApiRequest, events: StreamEvents): StreamControl {
    const method = request.path.endsWith('/log') ? 'log' : 'watch';
    let sinceMs: number | undefined = this.#clock.elapsed();
    return openStream({
      route: () => this.#pace.turn().then(() => this.#connection.route()),
      request: (route) => ({ method: 'GET', path: pathOf(route, request), headers: this.#headers(route, request) }),
      learn: (status, date, sentAtMs) => {
        sinceMs = undefined;
        this.#onCall?.(method, resultOf(status), this.#clock.elapsed() - sentAtMs);
        this.#pace.learn(status);
        this.serverClock.learn(date, sentAtMs);
      },
      elapsed: () => this.#clock.elapsed(),
      events: {
        opened: () => events.opened(),
        data: (chunk) => events.data(chunk),
        ended: (error) => {
          if (error && sinceMs !== undefined) this.#onCall?.(method, error.code, this.#clock.elapsed() - sinceMs);
          events.ended(error);
        },
      },
    });
  }

  /** Reports the call's duration without its wait in the queue. */
  async #sendTo(route: Route, request: ApiRequest): Promise<ApiResponse> {
    const headers = this.#headers(route, request);
    await this.#pace.turn();
    const sentAtMs = this.#clock.elapsed();
    let result: string = 'cluster_unreachable';
    try {
      const answer = await this.#exchange(route, request, { headers, sentAtMs });
      result = resultOf(answer.status, answer.body);
      return answer;
    } finally {
      this.#onCall?.((request.method ?? 'GET').toLowerCase(), result, this.#clock.elapsed() - sentAtMs);
    }
  }

  async #exchange(route: Route, request: ApiRequest, { headers, sentAtMs }: Sent): Promise<ApiResponse> {
    const timeoutMs = request.timeoutMs ?? TIMEOUT_MS;
    try {
      const response = await route.calls.request({
        origin: route.origin,
        path: pathOf(route, request),
        method: request.method ?? 'GET',
        headers,
        ...defined({ body: request.body && JSON.stringify(request.body.value) }),
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      });
      this.#pace.learn(response.statusCode);
      this.serverClock.learn(response.headers.date, sentAtMs);
      const retryAfter = retryAfterMs(response.headers['retry-after']);
      const body = await readAll(response.body, request.maxBytes);
      return {
        status: response.statusCode,
        body: parse(body),
        bytes: body.length,
        ...defined({ retryAfterMs: retryAfter }),
      };
    } catch (cause) {
      throw toUnreachable(cause);
    }
  }

  #headers(route: Route, request: ApiRequest): HeaderLines {
    return {
      ...route.headers,
      ...identityHeaders(request.actingAs),
      'User-Agent': this.#userAgent,
      Accept: 'application/json',
      ...defined({ 'Content-Type': request.body?.type }),
    };
  }
}

const resultOf = (status: number, body?: unknown): string =>
  status < 300 ? 'ok' : toClusterError({ status, body }).code;

function pathOf(route: Route, request: ApiRequest): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) if (value !== undefined) query.set(name, value);
  const text = query.toString();
  return `${route.basePath}${request.path}${text === '' ? '' : `?${text}`}`;
}

async function readAll(body: AsyncIterable<Buffer>, maxBytes = MAX_RESPONSE_BYTES): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new KdebugError('cluster_failed', { detail: 'the answer is too large', facts: { tooLarge: true } });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A body that is not JSON (a proxy's page) reads as undefined: only its status counts. */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
