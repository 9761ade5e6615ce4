import { SocketModeClient, type SocketModeOptions } from '@slack/socket-mode';
import { REASONS } from '../../../core/errors.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import { isObject } from '../../../lib/object.ts';

export interface SocketEars {
  /** Slack will close this connection, or will not open it. Called at most once. */
  readonly onRecycle: (reason: string) => void;
  readonly onMalformed: () => void;
}

/** Slack, "Using Socket Mode". */
const ENVELOPES: ReadonlySet<unknown> = new Set(['events_api', 'interactive', 'slash_commands']);

/**
 * Slack's Socket Mode client, with two differences. When Slack announces a recycling (`disconnect`: `warning`, `refresh_requested`,
 * `link_disabled`), it reports that once and keeps its socket open; the original closes at once, which loses acknowledgements in flight and
 * leaves seconds without a socket (bolt-js issue 2496). And it drops messages that are no envelope; the original rejects on some, which
 * nobody catches and so ends the process, and takes some event types for its own signals.
 */
export class DrainingClient extends SocketModeClient {
  #onRecycle: SocketEars['onRecycle'] | undefined;
  readonly #onMalformed: SocketEars['onMalformed'];

  constructor(options: SocketModeOptions, { onRecycle, onMalformed }: SocketEars) {
    super(options);
    this.#onRecycle = onRecycle;
    this.#onMalformed = onMalformed;
  }

  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    const message = isBinary || typeof data !== 'string' ? undefined : readObject(data);
    if (message?.type === 'disconnect') return this.#recycle(message.reason);
    if (message?.type === 'hello' || (message && this.#isEnvelope(message))) {
      return super.onWebSocketMessage(data, isBinary);
    }
    this.#onMalformed();
  }

  #recycle(reason: unknown): void {
    const onRecycle = this.#onRecycle;
    this.#onRecycle = undefined;
    onRecycle?.(typeof reason === 'string' ? reason.slice(0, 80) : 'unknown');
  }

  #isEnvelope({ type, envelope_id: id, payload }: Record<string, unknown>): boolean {
    if (!ENVELOPES.has(type) || typeof id !== 'string' || !isObject(payload)) return false;
    if (type !== 'events_api') return true;
    const { event } = payload;
    return isObject(event) && typeof event.type === 'string' && !this.eventNames().includes(event.type);
  }
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
 * Whether Socket Mode is on in the app's settings. Logs once when it goes off and once when it is on again, however many connections Slack
 * refuses meanwhile.
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
