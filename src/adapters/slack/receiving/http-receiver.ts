import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type App, isValidSlackRequest, type Receiver } from '@slack/bolt';
import { KdebugError } from '../../../core/errors.ts';
import type { Log, Metrics } from '../../../flow/ports/machine.ts';
import type { Clock } from '../../../lib/clock.ts';
import { BodyRoom, readBody } from '../../../lib/streams/http-body.ts';
import { Strangers } from '../../../lib/streams/strangers.ts';
import { ANSWERED_MS, MAX_BODY_BYTES, MAX_SKEW_MS, MAX_STRANGERS, MAX_UNVERIFIED_BYTES } from '../limits.ts';
import { type DeliveryResult, deliver } from './delivery.ts';
import { InFlight } from './in-flight.ts';
import { parseBody } from './parse-body.ts';
import { type Refusal, Refusals } from './refusals.ts';

export interface HttpOptions {
  readonly signingSecret: string;
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Pick<Metrics, 'requestRefused'>;
}

const PATH = '/slack/events';

const STATUS: Readonly<Record<Exclude<DeliveryResult, 'acknowledged'>, number>> = { malformed: 400, failed: 500 };

/** The claim in the headers; only the body proves it. */
interface Claim {
  readonly signature: string;
  readonly timestamp: number;
}

/**
 * Slack's requests at `/slack/events`. Only the signature check of Bolt's own receiver is used: the receiver accepts requests from the
 * future, ends the process on a signed body of `null`, acknowledges events before they are stored, and cannot drain. Answers 401 to
 * unsigned, stale or future requests before it reads their body, 413 to bodies over 1 MiB, 503 to evicted bodies, 400 to signed but
 * malformed ones. Slack's occasional look at the certificate, `GET …?ssl_check=1` (its page about slash commands), gets 200.
 */
export class HttpReceiver implements Receiver {
  readonly #options: HttpOptions;
  readonly #server: Server;
  readonly #strangers: Strangers;
  readonly #room = new BodyRoom(MAX_UNVERIFIED_BYTES);
  readonly #inFlight = new InFlight();
  readonly #refusals: Refusals;
  #app: App | undefined;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#refusals = new Refusals(options);
    // A slow or idle client holds a connection for seconds only.
    const limits = {
      headersTimeout: 5_000,
      requestTimeout: 10_000,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 1_000,
    };
    this.#server = createServer(limits, (request, response) => {
      void this.#inFlight.track(this.#handle(request, response));
    });
    this.#strangers = new Strangers(this.#server, MAX_STRANGERS);
  }

  init(app: App): void {
    this.#app = app;
  }

  isReady(): boolean {
    return this.#server.listening;
  }

  /** Sums up the requests in one line. */
  requests(): readonly string[] {
    return this.#refusals.lines();
  }

  port(): number | undefined {
    const address = this.#server.address();
    return typeof address === 'object' ? address?.port : undefined;
  }

  /** @throws KdebugError slack_port_unavailable */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const onError = (cause: Error) =>
        reject(new KdebugError('slack_port_unavailable', { detail: cause.message, cause }));
      this.#server.once('error', onError);
      this.#server.listen(this.#options.port, () => {
        this.#server.off('error', onError);
        resolve();
      });
    });
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await this.#inFlight.drained(this.#options.clock, ANSWERED_MS);
    this.#server.closeAllConnections();
    await closed;
  }

  /** Never rejects. */
  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const status = await this.#answer(request, response);
      if (status !== undefined) end(response, status);
    } catch (thrown) {
      // Anybody can cause this, so it must not fill the log.
      this.#options.log.debug('request to the Slack endpoint broke off', { error: thrown });
      if (!response.headersSent) end(response, 400);
    }
  }

  /** Undefined if a listener has answered. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<number | undefined> {
    const [path, query] = (request.url ?? '').split('?', 2);
    if (path !== PATH) return 404;
    if (request.method === 'GET' && new URLSearchParams(query).get('ssl_check') === '1') return 200;
    if (request.method !== 'POST') return 405;
    const claim = claimOf(request);
    if (!claim) return this.#refuse('form');
    // By the wall clock, as Slack's own check: the request names a moment of Slack's.
    const aheadMs = this.#options.clock.now() - claim.timestamp * 1000;
    if (Math.abs(aheadMs) > MAX_SKEW_MS) return this.#refuse('clock', aheadMs);
    const { read, release } = readBody(request, { limit: MAX_BODY_BYTES, room: this.#room });
    try {
      const got = await read;
      if (got.kind === 'too-long') return 413;
      if (got.kind === 'no-room') return 503;
      const text = got.body.toString();
      if (!this.#isTrue(claim, text)) return this.#refuse('signature');
      this.#refusals.accepted();
      this.#strangers.vouchFor(request.socket);
      return await this.#accept(text, request, response);
    } finally {
      release();
    }
  }

  async #accept(text: string, request: IncomingMessage, response: ServerResponse): Promise<number | undefined> {
    const body = parseBody(text, request.headers['content-type'] ?? '');
    if (body === undefined || this.#app === undefined) return 400;
    if (body.ssl_check === '1') return 200;
    if (body.type === 'url_verification') {
      if (typeof body.challenge !== 'string') return 400;
      sendJson(response, { challenge: body.challenge });
      return undefined;
    }
    const delivery = {
      body,
      ...retryOf(request),
      answer: async (answer: unknown) => (answer ? sendJson(response, answer) : end(response, 200)),
    };
    const delivered = await deliver(this.#app, delivery, this.#options.log);
    return delivered === 'acknowledged' ? undefined : STATUS[delivered];
  }

  #refuse(by: Refusal, aheadMs?: number): number {
    this.#refusals.refused(by, aheadMs);
    return 401;
  }

  #isTrue({ signature, timestamp }: Claim, body: string): boolean {
    const { signingSecret, clock } = this.#options;
    const headers = { 'x-slack-signature': signature, 'x-slack-request-timestamp': timestamp };
    return isValidSlackRequest({ signingSecret, body, headers, nowMilliseconds: clock.now() });
  }
}

/** Both headers in Slack's form. */
function claimOf(request: IncomingMessage): Claim | undefined {
  const signature = headerOf(request, 'x-slack-signature');
  const seconds = headerOf(request, 'x-slack-request-timestamp');
  const isInForm = /^v0=[0-9a-f]{64}$/.test(signature) && /^\d{1,12}$/.test(seconds);
  return isInForm ? { signature, timestamp: Number(seconds) } : undefined;
}

const headerOf = (request: IncomingMessage, name: string): string => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
};

function retryOf(request: IncomingMessage): { retryNum?: number; retryReason?: string } {
  const number = headerOf(request, 'x-slack-retry-num');
  if (!/^\d{1,3}$/.test(number)) return {};
  return { retryNum: Number(number), retryReason: headerOf(request, 'x-slack-retry-reason') };
}

function end(response: ServerResponse, status: number): void {
  // Unread bytes of a refused body must not become the next request.
  response.writeHead(status, status >= 400 ? { connection: 'close' } : {});
  response.end();
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
