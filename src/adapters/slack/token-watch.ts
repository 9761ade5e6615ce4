import { REASONS } from '../../core/errors.ts';
import type { Log } from '../../flow/ports/machine.ts';
import type { TokenState } from '../../flow/ports/slack.ts';
import { type BackOff, delayOf } from '../../lib/backoff.ts';
import { type Clock, withDeadline } from '../../lib/clock.ts';
import { Trouble } from '../../lib/trouble.ts';
import { troubleOf } from './errors.ts';

export interface TokenWatchOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** A call that changes nothing (auth.test), sent through `watched`. */
  readonly ask: () => Promise<unknown>;
  /** Called at the start, and when the answer changes. */
  readonly onChange?: (isAccepted: boolean) => void;
}

/** A launch needs an accepted call this young: a token that was revoked since is not used to launch. */
const FRESH_MS = 5_000;
const ANSWER_MS = 1_500;
/** Without other calls Slack is asked this often, so that a bot without work learns of a revocation too. */
const QUIET_MS = 60_000;
/** The method whose answer is about the token alone: any other may have its own reasons, for one channel or one person. */
const QUESTION = 'auth.test';
/** The pause before the next question while the token is rejected, unless another call is answered. */
const REJECTED: BackOff = { firstMs: 5_000, maxMs: 60_000 };

/**
 * Learns from every answer of the Web API whether Slack accepts our token. A success says yes. `slack_token_rejected` says
 * no if auth.test has it; any other method makes us ask auth.test. Other errors say nothing. The log has one line when a
 * rejection begins and one when it ends. An answer to a call that began before the last change is too old to change it back.
 */
export class TokenWatch implements TokenState {
  readonly #options: TokenWatchOptions;
  readonly #trouble: Trouble;
  readonly #listeners = new Set<() => void>();
  #isAccepted = true;
  /** Another method than auth.test rejected it, and no call was accepted since. */
  #isDoubted = false;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  /** Counts the changes. */
  #era = 0;
  #acceptedAtMs = Number.NEGATIVE_INFINITY;
  #rejections = 0;
  #question: Promise<void> | undefined;
  #isRunning = false;
  #cancel: () => void = () => {};

  constructor(options: TokenWatchOptions) {
    this.#options = options;
    this.#trouble = new Trouble(options, {
      begins: 'Slack rejects the bot token, nothing new starts',
      ends: 'Slack accepts the bot token again',
      level: 'error',
    });
  }

  isAccepted(): boolean {
    return this.#isAccepted;
  }

  async confirm(): Promise<boolean> {
    const { clock } = this.#options;
    const isFresh = this.#sinceMs(this.#acceptedAtMs) < FRESH_MS;
    if (this.#isAccepted && !isFresh) await withDeadline(clock, ANSWER_MS, this.#ask(), () => undefined);
    return this.#isAccepted && !this.#isDoubted;
  }

  onAccepted(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Makes a call of the Web API with our token and, from `start` on, learns from its answer. */
  async watched<Value>(call: () => Promise<Value>, method = QUESTION): Promise<Value> {
    if (!this.#isRunning) return call();
    const era = this.#era;
    const beganAtMs = this.#options.clock.elapsed();
    try {
      const value = await call();
      if (era === this.#era) this.#accepted(beganAtMs);
      return value;
    } catch (thrown) {
      const trouble = troubleOf(thrown);
      const isRejection = trouble.kind === 'error' && trouble.error.code === 'slack_token_rejected';
      if (isRejection && era === this.#era) {
        if (method === QUESTION) this.#rejected(trouble.error.detail);
        else await this.#doubt();
      }
      throw thrown;
    }
  }

  /** Call when Slack has just accepted the token. From now on also asks by itself. */
  start(): void {
    this.#isRunning = true;
    this.#acceptedAtMs = this.#options.clock.elapsed();
    this.#options.onChange?.(true);
    this.#next(QUIET_MS);
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancel();
  }

  /** Asks at once, but not more often than every 5 s: one odd method must not flood Slack. Never rejects. */
  async #doubt(): Promise<void> {
    if (!this.#isAccepted || this.#isDoubted) return;
    const { clock } = this.#options;
    this.#isDoubted = true;
    this.#era += 1;
    this.#acceptedAtMs = Number.NEGATIVE_INFINITY;
    this.#next(FRESH_MS);
    if (this.#sinceMs(this.#triedAtMs) >= FRESH_MS) await withDeadline(clock, ANSWER_MS, this.#ask(), () => undefined);
  }

  #accepted(beganAtMs: number): void {
    this.#acceptedAtMs = Math.max(this.#acceptedAtMs, beganAtMs);
    this.#isDoubted = false;
    if (this.#isAccepted) return;
    this.#change(true);
    this.#rejections = 0;
    this.#trouble.worked();
    for (const listener of [...this.#listeners]) listener();
    this.#next(QUIET_MS);
  }

  #rejected(detail: string | undefined): void {
    const { hint } = REASONS.slack_token_rejected;
    this.#trouble.failed({ reason: 'slack_token_rejected', detail, hint });
    if (this.#isAccepted) this.#change(false);
    this.#next(delayOf(REJECTED, this.#rejections));
    this.#rejections += 1;
  }

  #sinceMs(atMs: number): number {
    return this.#options.clock.elapsed() - atMs;
  }

  #change(isAccepted: boolean): void {
    this.#isAccepted = isAccepted;
    this.#era += 1;
    this.#options.onChange?.(isAccepted);
  }

  /** Asks after `ms`, unless a call was accepted shortly before. */
  #next(ms: number): void {
    const { clock } = this.#options;
    this.#cancel();
    if (!this.#isRunning) return;
    this.#cancel = clock.after(ms, () => {
      const quietMs = this.#sinceMs(this.#acceptedAtMs);
      if (this.#isAccepted && quietMs < QUIET_MS) this.#next(QUIET_MS - quietMs);
      else void this.#ask().then(() => this.#next(this.#pauseMs()));
    });
  }

  #pauseMs(): number {
    if (!this.#isAccepted) return delayOf(REJECTED, this.#rejections);
    return this.#isDoubted ? FRESH_MS : QUIET_MS;
  }

  /** Never rejects. */
  #ask(): Promise<void> {
    if (this.#question === undefined) this.#triedAtMs = this.#options.clock.elapsed();
    this.#question ??= this.#options
      .ask()
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        this.#question = undefined;
      });
    return this.#question;
  }
}
