import type { SocketModeOptions } from '@slack/socket-mode';
import type { Logger } from '@slack/web-api';
import { KdebugError } from '../../../core/errors.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import { delayOf } from '../../../lib/backoff.ts';
import { type Clock, withDeadline } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import { Trouble } from '../../../lib/trouble.ts';
import { libraryLogger } from '../client.ts';
import type { LineEgress } from '../egress.ts';
import { troubleOf } from '../errors.ts';
import { ANSWERED_MS } from '../limits.ts';
import { InFlight } from './in-flight.ts';
import { DrainingClient, type Envelope, type SocketClose, type SocketModeSwitch } from './socket-client.ts';

export interface LineOptions {
  readonly clientOptions: () => SocketModeOptions;
  /** Creates the proxied egress of one connection; undefined without a proxy. */
  readonly wayOut: () => LineEgress | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Shared by all connections: Socket Mode is on or off for the whole app. */
  readonly modeSwitch: SocketModeSwitch;
  /** 0 ≤ x < 1; spreads the reconnects of several replicas. */
  readonly random: () => number;
  /** Resolves when the envelope is handled; never rejects. */
  readonly onEnvelope: (envelope: Envelope) => Promise<void>;
}

const BACK_OFF = { firstMs: 200, maxMs: 10_000 };
const HELLO_MS = 15_000;
const CLOSE_MS = 1_000;

/** Slack's errors for an app-level token that can never open a connection, and the remedy. */
const NO_LINE_EVER: Readonly<Record<string, string>> = {
  missing_scope: 'SLACK_APP_TOKEN lacks the scope connections:write: make another one under "Basic Information"',
  not_allowed_token_type: 'SLACK_APP_TOKEN is not an app-level token',
};

function tokenRefusal(error: KdebugError): KdebugError | undefined {
  if (error.code === 'slack_token_rejected') return error;
  const detail = NO_LINE_EVER[String(error.facts.error)];
  return detail === undefined ? undefined : new KdebugError('slack_token_rejected', { detail, cause: error });
}

/**
 * A supervised Socket Mode connection: reopens until it is stopped, 200 ms to 10 s apart with jitter. When Slack recycles it, the old
 * connection serves until a new one is open, however many tries that takes; then drains and closes the old one. Handles all rejections.
 */
export class SocketConnection {
  readonly #options: LineOptions;
  readonly #open = new Map<DrainingClient, InFlight>();
  readonly #ways = new WeakMap<DrainingClient, LineEgress>();
  readonly #reasons = new WeakMap<DrainingClient, string>();
  readonly #trouble: Trouble;
  #current: DrainingClient | undefined;
  #failures = 0;
  #stopped = false;
  #cancelWait: (() => void) | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#trouble = new Trouble(options, {
      begins: 'Socket Mode connection not opened',
      ends: 'Socket Mode connection opened again',
    });
  }

  isConnected(): boolean {
    return this.#current !== undefined;
  }

  /** Resolves after the first try, even a failed one; supervision continues. @throws KdebugError slack_token_rejected */
  async start(): Promise<void> {
    const error = await this.#connect();
    const refusal = error && tokenRefusal(error);
    if (!refusal) return;
    await this.stop();
    throw refusal;
  }

  /** Closes all connections within about a second and reopens none. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelWait?.();
    this.#current = undefined;
    await Promise.all([...this.#open.keys()].map((client) => this.#close(client)));
  }

  /** One try. On failure, plans the next one. Never rejects. */
  async #connect(): Promise<KdebugError | undefined> {
    const way = this.#options.wayOut();
    const inFlight = new InFlight();
    const client = new DrainingClient(
      { ...this.#options.clientOptions(), logger: this.#logger(), ...defined({ dispatcher: way?.dispatcher }) },
      {
        onEnvelope: (envelope) => void inFlight.track(this.#options.onEnvelope(envelope)),
        onRecycle: (reason) => this.#recycle(client, reason),
        onMalformed: () => this.#options.log.warn('malformed Socket Mode message ignored'),
        onClosed: (close) => this.#onClosed(client, close),
      },
    );
    if (way) this.#ways.set(client, way);
    this.#open.set(client, inFlight);
    try {
      await this.#inTime(client.start());
    } catch (thrown) {
      return this.#onFailed(client, thrown);
    }
    if (this.#stopped) {
      await this.#close(client);
      return undefined;
    }
    this.#failures = 0;
    this.#trouble.worked();
    const old = this.#current;
    this.#current = client;
    this.#options.modeSwitch.opened();
    if (old) void this.#drainAndClose(old);
    return undefined;
  }

  async #onFailed(client: DrainingClient, thrown: unknown): Promise<KdebugError> {
    const trouble = troubleOf(thrown);
    const error = trouble.kind === 'error' ? trouble.error : new KdebugError('slack_unreachable');
    this.#logNotOpened(error, this.#reasons.get(client));
    this.#planNext(trouble.kind === 'limited' ? trouble.retryAfterMs : 0);
    await this.#close(client);
    return error;
  }

  #logNotOpened({ code, detail }: KdebugError, reason: string | undefined): void {
    if (this.#options.modeSwitch.isOff) return;
    this.#trouble.failed({ code, detail, ...defined({ reason }) });
  }

  /** The library repeats its words at every try: from the second failure on they are for debugging alone. */
  #logger(): Logger {
    const { log } = this.#options;
    return libraryLogger(this.#trouble.isOn ? { warn: (message, fields) => log.debug(message, fields) } : log);
  }

  /** Keeps to a plan that it has: an old connection may end while a new one waits as long as Slack demands. */
  #planNext(atLeastMs: number): void {
    if (this.#stopped || this.#cancelWait !== undefined) return;
    const backOffMs = delayOf(BACK_OFF, this.#failures, this.#options.random);
    this.#failures += 1;
    this.#cancelWait = this.#options.clock.after(Math.max(atLeastMs, backOffMs), () => {
      this.#cancelWait = undefined;
      void this.#connect();
    });
  }

  #onClosed(client: DrainingClient, close: SocketClose | undefined): void {
    this.#open.delete(client);
    this.#ways.get(client)?.destroy();
    if (this.#current !== client) return;
    this.#current = undefined;
    const reason = this.#reasons.get(client) ?? 'unknown';
    this.#options.log.info('Socket Mode connection closed', { reason, ...close });
    this.#planNext(0);
  }

  /** Opens the replacement; the connection serves until then. While Socket Mode is off there is none, and Slack sends nothing more. */
  #recycle(client: DrainingClient, reason: string): void {
    const { log, modeSwitch } = this.#options;
    this.#reasons.set(client, reason);
    const isOff = modeSwitch.ended(reason);
    if (this.#current !== client || this.#stopped) return;
    if (!isOff) log.info('Slack recycles Socket Mode connection', { reason });
    if (!isOff) return void this.#connect();
    this.#current = undefined;
    this.#planNext(0);
    void this.#drainAndClose(client);
  }

  /** Answers the envelopes in flight first. */
  async #drainAndClose(client: DrainingClient): Promise<void> {
    await this.#open.get(client)?.drained(this.#options.clock, ANSWERED_MS);
    await this.#close(client);
  }

  async #inTime(started: Promise<unknown>): Promise<void> {
    await withDeadline(this.#options.clock, HELLO_MS, started, () => {
      throw new KdebugError('slack_unanswered', { facts: { kind: 'no_hello' } });
    });
  }

  /** Asks for an orderly end, then destroys the connection: Slack may leave it open (node-slack-sdk issue 2752). */
  async #close(client: DrainingClient): Promise<void> {
    if (!this.#open.has(client)) return;
    await withDeadline(this.#options.clock, CLOSE_MS, client.disconnect(), () => undefined);
    if (this.#open.delete(client)) client.disconnect().catch(() => undefined);
    this.#ways.get(client)?.destroy();
  }
}
