import { SocketModeClient, type SocketModeOptions } from '@slack/socket-mode';

/**
 * Slack's Socket Mode client, except that it does not close its socket the moment Slack announces a recycling
 * (`disconnect`: `warning`, `refresh_requested`, `link_disabled`): acknowledgements under way could not be sent any
 * more, and there would be seconds without a socket (bolt-js issue 2496). It says so instead, once.
 */
export class DrainingClient extends SocketModeClient {
  #onRecycle: ((reason: string) => void) | undefined;

  constructor(options: SocketModeOptions, onRecycle: (reason: string) => void) {
    super(options);
    this.#onRecycle = onRecycle;
  }

  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    const reason = isBinary || typeof data !== 'string' ? undefined : recyclingReason(data);
    if (reason === undefined) return super.onWebSocketMessage(data, isBinary);
    const onRecycle = this.#onRecycle;
    this.#onRecycle = undefined;
    onRecycle?.(reason);
  }
}

function recyclingReason(data: string): string | undefined {
  // Cheap first look: nearly every message is an envelope.
  if (!data.includes('"disconnect"')) return undefined;
  try {
    const message: unknown = JSON.parse(data);
    if (typeof message !== 'object' || message === null || !('type' in message) || message.type !== 'disconnect')
      return undefined;
    return 'reason' in message ? String(message.reason) : 'unknown';
  } catch {
    return undefined;
  }
}
