import { performance } from 'node:perf_hooks';
import { Agent, request } from 'undici';
import { isJson } from '../api/args.ts';
import type { Envelope, Sockets } from '../serve/sockets.ts';
import type { Json } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import { type Forgery, type SignedRequest, signedRequest } from './signed.ts';

/** What is brought to the app, whatever the way. */
export interface Parcel {
  readonly type: Envelope['type'];
  readonly payload: Json;
}

export interface DeliveryOptions extends Forgery {
  /** Default: Socket Mode when a client is connected, else HTTP. */
  readonly via?: 'http' | 'socket';
  /** Sent as `x-slack-retry-num` and `x-slack-retry-reason`, or in the envelope. */
  readonly retry?: { readonly attempt: number; readonly reason: string };
}

export interface Delivery {
  readonly parcel: Parcel;
  readonly via: 'http' | 'socket';
  /** The HTTP status; 200 for an acknowledged envelope; 0 without an answer. */
  readonly status: number;
  /** What rode on the acknowledgement: JSON, also an empty object, text, or nothing (`''`). */
  readonly body: Json | string;
  readonly ms: number;
  /** What a person sees when the app failed: `operation_timeout`, `dispatch_failed`, `http_client_error`, `http_service_error`. */
  readonly error?: string;
  /** The bytes sent over HTTP; give them to `replay`. */
  readonly request?: SignedRequest;
}

/** Brings parcels to the app, and measures how long the acknowledgement takes. */
export class Courier {
  private readonly agent = new Agent({ connections: 256, keepAliveTimeout: 30_000 });
  private readonly slack: SlackState;
  private readonly sockets: Sockets;
  /** Where the app listens (`http://127.0.0.1:3000/slack/events`); may be set once the app is up. */
  requestUrl: string | undefined;
  /** Slack waits 3 s for an acknowledgement. */
  ackLimitMs = 3_000;

  constructor(slack: SlackState, sockets: Sockets, requestUrl: string | undefined) {
    this.slack = slack;
    this.sockets = sockets;
    this.requestUrl = requestUrl;
  }

  /** How a parcel with these options would travel now. */
  wayOf({ via }: DeliveryOptions): Delivery['via'] {
    return via ?? (this.sockets.count > 0 || this.requestUrl === undefined ? 'socket' : 'http');
  }

  async deliver(parcel: Parcel, options: DeliveryOptions = {}): Promise<Delivery> {
    const via = this.wayOf(options);
    this.slack.tell({
      kind: 'delivered',
      what: String(parcel.payload.type ?? parcel.payload.command),
      payload: parcel.payload,
    });
    return via === 'socket' ? this.bySocket(parcel, options) : this.byHttp(parcel, this.signed(parcel, options));
  }

  /** The very same bytes, headers and signature again. */
  async replay(delivery: Delivery): Promise<Delivery> {
    if (delivery.request === undefined) throw new Error('only what went over HTTP can be replayed byte by byte');
    return this.byHttp(delivery.parcel, delivery.request);
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async bySocket(parcel: Parcel, { retry }: DeliveryOptions): Promise<Delivery> {
    const begun = performance.now();
    const connected = this.sockets.count > 0;
    const ack = await this.sockets.deliver({ ...parcel, ...(retry === undefined ? {} : { retry }) }, this.ackLimitMs);
    const ms = performance.now() - begun;
    if (ack !== undefined) return { parcel, via: 'socket', status: 200, body: ack.payload ?? '', ms };
    return {
      parcel,
      via: 'socket',
      status: 0,
      body: '',
      ms,
      error: connected ? 'operation_timeout' : 'dispatch_failed',
    };
  }

  private signed({ type, payload }: Parcel, options: DeliveryOptions): SignedRequest {
    const form = 'application/x-www-form-urlencoded';
    const content =
      type === 'events_api'
        ? { type: 'application/json', body: JSON.stringify(payload) }
        : {
            type: form,
            body: type === 'slash_commands' ? formOf(payload) : formOf({ payload: JSON.stringify(payload) }),
          };
    const made = signedRequest(this.slack.app.signingSecret, this.slack.now(), content, options);
    if (options.retry === undefined) return made;
    const { attempt, reason } = options.retry;
    return {
      ...made,
      headers: { ...made.headers, 'x-slack-retry-num': String(attempt), 'x-slack-retry-reason': reason },
    };
  }

  private async byHttp(parcel: Parcel, bytes: SignedRequest): Promise<Delivery> {
    if (this.requestUrl === undefined) throw new Error('no requestUrl: tell the local Slack where the app listens');
    const begun = performance.now();
    const done = (status: number, body: Json | string, error?: string): Delivery => {
      const ms = performance.now() - begun;
      return { parcel, via: 'http', status, body, ms, request: bytes, ...(error === undefined ? {} : { error }) };
    };
    try {
      const signal = AbortSignal.timeout(this.ackLimitMs);
      const response = await request(this.requestUrl, { method: 'POST', ...bytes, dispatcher: this.agent, signal });
      const text = await response.body.text();
      return done(response.statusCode, parsed(text), errorFor(response.statusCode));
    } catch (error) {
      const timedOut = error instanceof Error && error.name === 'TimeoutError';
      return done(0, '', timedOut ? 'operation_timeout' : 'dispatch_failed');
    }
  }
}

function errorFor(status: number): string | undefined {
  if (status < 300) return undefined;
  return status < 500 ? 'http_client_error' : 'http_service_error';
}

function formOf(fields: Json): string {
  return new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
}

function parsed(text: string): Json | string {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : text;
  } catch {
    return text;
  }
}
