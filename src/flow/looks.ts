import type { Command } from '../core/command/command.ts';
import type { Message } from '../core/report/message.ts';
import { limitedMessage } from '../core/report/private-messages.ts';
import type { FlowDeps } from './deps.ts';

/** They start no run, so no store counts them, but they cost work. */
type Look = Command['kind'] | 'talk';
const COSTLY: ReadonlySet<Look> = new Set(['can-i', 'whoami', 'export', 'apply', 'talk']);
const MINUTE_MS = 60_000;
/** Persons that are remembered before those who have not asked for a minute are forgotten. */
const MANY = 1_000;

/**
 * How often a person asks for what starts no run but costs work: `can-i`, `whoami`, `export`, `apply`, and talk for which a pod is
 * looked up. Counted here and not in the store, because it is this process' time that is spent.
 */
export class Looks {
  readonly #deps: Pick<FlowDeps, 'clock' | 'policies'>;
  readonly #byPerson = new Map<string, readonly number[]>();

  constructor(deps: Pick<FlowDeps, 'clock' | 'policies'>) {
    this.#deps = deps;
  }

  /** Counts one look, by the policy's `runsPerUserPerMinute`; when the last minute is full, counts nothing and says when it is not. */
  refusal(userId: string, kind: Look): Message | undefined {
    if (!COSTLY.has(kind)) return undefined;
    const nowMs = this.#deps.clock.now();
    const { runsPerUserPerMinute: most } = this.#deps.policies.current().limits;
    const recent = (this.#byPerson.get(userId) ?? []).filter((atMs) => atMs > nowMs - MINUTE_MS);
    const blocking = recent[recent.length - most];
    if (blocking !== undefined) {
      const retryAtMs = blocking + MINUTE_MS;
      return limitedMessage('limit_per_person', { count: recent.length, max: most, retryAtMs });
    }
    if (this.#byPerson.size >= MANY) this.#forget(nowMs - MINUTE_MS);
    this.#byPerson.set(userId, [...recent, nowMs]);
    return undefined;
  }

  #forget(beforeMs: number): void {
    for (const [userId, times] of this.#byPerson) if ((times.at(-1) ?? 0) <= beforeMs) this.#byPerson.delete(userId);
  }
}
