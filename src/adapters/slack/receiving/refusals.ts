import type { Log, Metrics } from '../../../flow/ports/machine.ts';
import { type Clock, type Instant, instantOf } from '../../../lib/clock.ts';
import { Trouble } from '../../../lib/trouble.ts';

/** `form`: without Slack's headers. `clock`: its time is too far from ours. `signature`: not made with our secret. */
export type Refusal = 'signature' | 'clock' | 'form';

export interface RefusalsOptions {
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly log: Log;
  readonly metrics?: Pick<Metrics, 'requestRefused'>;
}

/** While requests of Slack get through, a refused one is a stranger's. */
const PROVEN_MS = 60_000;

const HINT = {
  signature:
    'Compare SLACK_SIGNING_SECRET with "Basic Information" of the app. If they are the same, a stranger sends these requests.',
  clock:
    'Set the clock of the node (timedatectl set-ntp true). If it is right, a stranger repeats old requests of Slack.',
} as const;

/**
 * Counts each refusal of a request over HTTP. Requests that claim to be Slack's and are refused, while none was
 * accepted for a minute, are a trouble: with a wrong secret or clock every command fails, and nobody else would see it.
 * Nobody can tell them from a stranger's, so they change no readiness; and a stranger causes at most two log lines for
 * each minute.
 */
export class Refusals {
  readonly #options: RefusalsOptions;
  readonly #trouble: Trouble;
  #acceptedAt: Instant | undefined;
  #refused: { readonly sinceMs: number; readonly by: Exclude<Refusal, 'form'>; count: number } | undefined;

  constructor(options: RefusalsOptions) {
    this.#options = options;
    this.#trouble = new Trouble(options, {
      begins: 'requests that claim to be from Slack are refused, and none is accepted',
      ends: 'a request from Slack is accepted again',
      level: 'error',
    });
  }

  accepted(): void {
    this.#acceptedAt = instantOf(this.#options.clock);
    this.#refused = undefined;
    this.#trouble.worked();
  }

  /** `aheadMs`: of our clock before the time in the request. */
  refused(by: Refusal, aheadMs = 0): void {
    this.#options.metrics?.requestRefused(by);
    // Anyone who finds the address can send such requests, so they say nothing about us.
    if (by === 'form' || this.#isProven()) return;
    this.#refused ??= { sinceMs: this.#options.clock.now(), by, count: 0 };
    this.#refused.count += 1;
    const off = by === 'clock' ? { aheadSeconds: Math.round(aheadMs / 1_000) } : {};
    this.#trouble.failed({ refused: by, ...off, hint: HINT[by] });
  }

  /** For people, and for the doctor. */
  lines(): readonly string[] {
    if (this.#refused) {
      const { sinceMs, by, count } = this.#refused;
      return [`refused since ${iso(sinceMs)}, ${count} in all, none accepted: ${by}`];
    }
    return [this.#acceptedAt ? `accepted, the last one ${iso(this.#acceptedAt.wallMs)}` : 'none came yet'];
  }

  #isProven(): boolean {
    const { elapsedMs } = this.#acceptedAt ?? { elapsedMs: Number.NEGATIVE_INFINITY };
    return this.#options.clock.elapsed() - elapsedMs < PROVEN_MS;
  }
}

const iso = (ms: number): string => new Date(ms).toISOString();
