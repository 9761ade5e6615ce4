import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { SocketModeClient, type SocketModeOptions } from '@slack/socket-mode';
import { REASONS } from '../../../core/errors.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import { isObject } from '../../../lib/object.ts';

export interface Envelope {
  /** An object, unless it is an event. */
  readonly body: unknown;
  readonly isEvent: boolean;
  readonly retryNum: unknown;
  readonly retryReason: unknown;
  /** @throws Error if the connection is closed */
  readonly ack: (body?: Record<string, unknown>) => Promise<void>;
}

/** The end of a WebSocket (RFC 6455): 1009 is a frame that was too large, 1006 an end without a word. */
export interface SocketClose {
  readonly code: number;
  /** Slack's words; may be empty. */
  readonly words: string;
}

export interface SocketEars {
  readonly onEnvelope: (envelope: Envelope) => void;
  /** Slack will close this connection, or will not open it. Called at most once. */
  readonly onRecycle: (reason: string) => void;
  readonly onMalformed: () => void;
  /** May be called again. Without `close` if we gave the connection up before its end. */
  readonly onClosed: (close: SocketClose | undefined) => void;
}

/** Slack, "Using Socket Mode". */
const ENVELOPES: ReadonlySet<unknown> = new Set(['events_api', 'interactive', 'slash_commands']);

/**
 * Slack's Socket Mode client, with two differences. When Slack announces a recycling (`disconnect`: `warning`, `refresh_requested`,
 * `link_disabled`), it reports that once and keeps its socket open; the original closes at once, which loses acknowledgements in flight and
 * leaves seconds without a socket (bolt-js issue 2496). And it hands on envelopes itself and drops all else; the original takes some event
 * types for its own signals, and rejects on an event without a type (`app_rate_limited`), which nobody catches and so ends the process. Every
 * event with an envelope's id is handed on, malformed too, so that it can be acknowledged.
 */
export class DrainingClient extends SocketModeClient {
  readonly #ears: SocketEars;
  #isRecycled = false;

  constructor(options: SocketModeOptions, ears: SocketEars) {
    super(options);
    this.#ears = ears;
    let ending: Ending | undefined;
    this.on('authenticated', ({ url }: { readonly url: string }) => {
      ending = new Ending(url);
    });
    // The client says so before its WebSocket says how.
    this.on('disconnected', () => queueMicrotask(() => ears.onClosed(ending?.read())));
  }

  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    const message = isBinary || typeof data !== 'string' ? undefined : readObject(data);
    if (message?.type === 'hello') return super.onWebSocketMessage(data, isBinary);
    if (message?.type === 'disconnect') return this.#recycle(message.reason);
    const envelope = message && this.#envelopeOf(message);
    if (envelope) this.#ears.onEnvelope(envelope);
    else this.#ears.onMalformed();
  }

  #recycle(reason: unknown): void {
    if (this.#isRecycled) return;
    this.#isRecycled = true;
    this.#ears.onRecycle(typeof reason === 'string' ? reason.slice(0, 80) : 'unknown');
  }

  #envelopeOf(message: Record<string, unknown>): Envelope | undefined {
    const { type, envelope_id: id, payload: body, retry_attempt: retryNum, retry_reason: retryReason } = message;
    const isEvent = type === 'events_api';
    if (!ENVELOPES.has(type) || typeof id !== 'string' || !(isEvent || isObject(body))) return undefined;
    return { body, isEvent, retryNum, retryReason, ack: (payload) => this.#acknowledge(id, payload) };
  }

  /** Without content by the id alone: an empty object is content, too, and may replace the message of an alert's button. */
  #acknowledge(envelope_id: string, payload: Record<string, unknown> | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.websocket?.isActive()) return reject(new Error('the Socket Mode connection is closed'));
      this.websocket.send(JSON.stringify({ envelope_id, payload }), (error) => (error ? reject(error) : resolve()));
    });
  }
}

const CLOSED = 'undici:websocket:close';

/** Learns how the WebSocket of one address ended: the client knows, and does not say. Each address is for one connection. */
class Ending {
  readonly #href: string;
  #close: SocketClose | undefined;

  constructor(url: string) {
    this.#href = new URL(url).href;
    subscribe(CLOSED, this.#learn);
  }

  read(): SocketClose | undefined {
    unsubscribe(CLOSED, this.#learn);
    return this.#close;
  }

  readonly #learn = (message: unknown): void => {
    if (!isObject(message) || !isObject(message.websocket) || message.websocket.url !== this.#href) return;
    const { code, reason } = message;
    if (typeof code === 'number') this.#close = { code, words: String(reason ?? '').slice(0, 123) };
  };
}

function readObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Slack, "Using Socket Mode". */
const OFF = 'link_disabled';

/**
 * Follows the app's setting for Socket Mode. Logs once when it goes off and once when it is on again, however many
 * connections Slack refuses meanwhile.
 */
export class SocketModeSwitch {
  readonly #log: Log;
  #isOff = false;

  constructor(log: Log) {
    this.#log = log;
  }

  get isOff(): boolean {
    return this.#isOff;
  }

  /** Slack closed or refused a connection for this reason. @returns whether Socket Mode is off */
  ended(reason: string): boolean {
    if (reason !== OFF) return false;
    if (!this.#isOff) {
      const { title, hint } = REASONS.slack_socket_mode_off;
      this.#log.error(title, { reason: 'slack_socket_mode_off', hint });
    }
    this.#isOff = true;
    return true;
  }

  opened(): void {
    if (this.#isOff) this.#log.info('Socket Mode is switched on again');
    this.#isOff = false;
  }
}
