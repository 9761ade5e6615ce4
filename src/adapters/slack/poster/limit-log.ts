import type { Log } from '../../../flow/ports/machine.ts';
import type { Clock } from '../../../lib/clock.ts';
import { Trouble } from '../../../lib/trouble.ts';
import type { Method } from './pace.ts';

interface LimitedCall {
  readonly method: Method;
  readonly channelId?: string | undefined;
}

const LINES = { begins: 'Slack limits our calls, they wait', ends: 'Slack takes our calls again' } as const;

/**
 * Logs one line when Slack begins to answer a method with 429 (for a channel, if the call names one), and one when such a call succeeds
 * again. Holds only what is limited right now.
 */
export class LimitLog {
  readonly #parts: { readonly clock: Clock; readonly log: Log };
  readonly #limited = new Map<string, Trouble>();

  constructor(parts: { readonly clock: Clock; readonly log: Log }) {
    this.#parts = parts;
  }

  limited({ method, channelId }: LimitedCall, retryAfterMs: number): void {
    const key = keyOf({ method, channelId });
    const trouble = this.#limited.get(key) ?? new Trouble(this.#parts, LINES);
    this.#limited.set(key, trouble);
    trouble.failed({ method, channelId, retryAfterMs });
  }

  worked(call: LimitedCall): void {
    const key = keyOf(call);
    this.#limited.get(key)?.worked();
    this.#limited.delete(key);
  }
}

const keyOf = ({ method, channelId = '' }: LimitedCall): string => `${method} ${channelId}`;
