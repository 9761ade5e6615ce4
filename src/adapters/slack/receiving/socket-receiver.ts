import type { App, Receiver } from '@slack/bolt';
import { LogLevel } from '@slack/web-api';
import type { Log } from '../../../flow/ports/machine.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defined, isObject } from '../../../lib/object.ts';
import { clientOptions } from '../client.ts';
import type { Egress } from '../egress.ts';
import { ANSWERED_MS } from '../limits.ts';
import { deliver } from './delivery.ts';
import { InFlight } from './in-flight.ts';
import { type Envelope, SocketModeSwitch } from './socket-client.ts';
import { SocketConnection } from './socket-connection.ts';

export interface SocketOptions {
  readonly appToken: string;
  readonly apiUrl: string;
  readonly egress: Egress;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
}

/** Slack allows 10 connections per app. With two per replica, three replicas can recycle theirs at once. */
const LINES = 2;

/**
 * Slack's requests over Socket Mode: two supervised connections, because Slack recycles each now and then and sends every request to any
 * one. Ready while one is open.
 */
export class SocketReceiver implements Receiver {
  readonly #options: SocketOptions;
  readonly #inFlight = new InFlight();
  readonly #lines: readonly SocketConnection[];
  readonly #modeSwitch: SocketModeSwitch;
  #app: App | undefined;

  constructor(options: SocketOptions) {
    this.#options = options;
    this.#modeSwitch = new SocketModeSwitch(options.log);
    this.#lines = Array.from({ length: LINES }, () => this.#line());
  }

  init(app: App): void {
    this.#app = app;
  }

  get connected(): number {
    return this.#lines.filter((line) => line.isConnected()).length;
  }

  isReady(): boolean {
    return this.connected > 0;
  }

  /** In sequence: Slack answers near-simultaneous handshakes with 409. @throws KdebugError slack_token_rejected */
  async start(): Promise<void> {
    for (const line of this.#lines) await line.start();
  }

  async stop(): Promise<void> {
    await this.#inFlight.drained(this.#options.clock, ANSWERED_MS);
    await Promise.all(this.#lines.map((line) => line.stop()));
  }

  #line(): SocketConnection {
    const { appToken, apiUrl, egress, clock, log, random } = this.#options;
    const { logger: _ours, ...webOptions } = clientOptions(apiUrl, log, egress.fetch);
    return new SocketConnection({
      wayOut: () => egress.forLine(),
      clientOptions: () => ({
        appToken,
        autoReconnectEnabled: false,
        logLevel: LogLevel.WARN,
        clientOptions: { ...webOptions },
      }),
      clock,
      log,
      modeSwitch: this.#modeSwitch,
      random: random ?? Math.random,
      onEnvelope: (envelope) => this.#inFlight.track(this.#handle(envelope)),
    });
  }

  /** Never rejects. Slack repeats an unacknowledged envelope, or shows the person an error. */
  async #handle({ body, isEvent, retryNum, retryReason, ack }: Envelope): Promise<void> {
    const { log } = this.#options;
    if (this.#app === undefined) {
      log.warn('envelope before the start ignored');
      return;
    }
    const delivery = {
      body: isObject(body) ? body : {},
      // Slack counts what is not acknowledged, and may stop sending events.
      ackMalformed: isEvent,
      ...defined({
        retryNum: typeof retryNum === 'number' ? retryNum : undefined,
        retryReason: typeof retryReason === 'string' ? retryReason : undefined,
      }),
      answer: (answer: unknown) => ack(isObject(answer) ? answer : undefined),
    };
    await deliver(this.#app, delivery, log);
  }
}
