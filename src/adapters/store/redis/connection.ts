import { Redis } from 'ioredis';
import { KdebugError } from '../../../core/errors.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import { type Clock, type Pause, pause, withDeadline } from '../../../lib/clock.ts';
import {
  causeOf,
  connectionOptions,
  type RedisAddress,
  refusalOf,
  replyCode,
  unreachable,
} from './connection-options.ts';

/** Sends one command; `notAfterMs` is Redis' time after which it must not be carried out any more. */
export type Send<Value> = (redis: Redis, notAfterMs: number) => Promise<Value>;

/** A call ends within this, one way or the other. */
const BUDGET_MS = 1_800;
/** While the connection was lost just now, calls wait for the next one; later they fail at once. */
const PATIENCE_MS = 1_000;

/** Refusals of Redis' and of TLS (Node's and OpenSSL's codes): wrong credentials, database or certificate, no TLS there. */
const HOPELESS = /^(?:ERR$|NOAUTH|NOPERM|WRONGPASS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO)/;

/** The one connection to Redis. Calls are answered, or fail, within 1.8 s, however Redis is: gone, frozen, failing over. */
export class RedisConnection {
  readonly clock = new ServerClock();
  readonly #redis: Redis;
  readonly #log: Log;
  readonly #waiting = new Set<Pause>();
  readonly #onUp = new Set<() => void>();
  #state: 'starting' | 'up' | 'down' | 'closed' = 'starting';
  #patientUntilMs = Number.POSITIVE_INFINITY;
  #lostAtMs = 0;
  #recoveredAtMs = Number.NEGATIVE_INFINITY;
  #lastCause: unknown;

  constructor(address: RedisAddress, log: Log) {
    this.#log = log;
    this.#redis = new Redis(connectionOptions(address));
    this.#redis.on('ready', () => void this.#greet());
    this.#redis.on('close', () => this.#lose());
    this.#redis.on('error', (error: unknown) => {
      this.#lastCause = error;
    });
    this.#redis.connect().catch(() => undefined);
  }

  /** Why there was no connection last, in a word; undefined when there was none missing. */
  get lastCause(): string | undefined {
    return this.#lastCause === undefined ? undefined : causeOf(this.#lastCause);
  }

  /** How long it has been since a lost connection was there again; infinite when none was ever lost. */
  get sinceRecoveryMs(): number {
    return performance.now() - this.#recoveredAtMs;
  }

  /** Calls `listener` whenever a lost connection is there again. */
  onRecovery(listener: () => void): void {
    this.#onUp.add(listener);
  }

  /** When a call that begins now must have ended, as `performance.now()`; for calls that are one to the caller. */
  deadline(): number {
    return performance.now() + BUDGET_MS;
  }

  /**
   * Sends a command, and again when the connection was lost before its answer: so the command must be repeatable.
   * @throws KdebugError store_unreachable; with the fact `maybeDone` when it may have been carried out
   */
  async call<Value>(send: Send<Value>, endsAtMs = this.deadline()): Promise<Value> {
    let sent = false;
    for (;;) {
      await this.#untilUp(endsAtMs, sent);
      sent = true;
      try {
        return await within(send(this.#redis, this.clock.at(endsAtMs)), endsAtMs);
      } catch (thrown) {
        const code = replyCode(thrown);
        if (code !== undefined) throw refusalOf(code);
        if (performance.now() >= endsAtMs) throw unreachable('no answer in time', true);
        // What this turn of the loop saw of the loss may be before the event that tells of it.
        this.#lose();
      }
    }
  }

  /**
   * Resolves with the first connection. @throws KdebugError store_misconfigured (Redis or TLS refuse us, which waiting does not
   * mend), store_unreachable after `ms`
   */
  async opened(ms: number): Promise<void> {
    const endsAtMs = performance.now() + ms;
    while (!this.#isUp()) {
      const cause = this.lastCause;
      if (cause !== undefined && HOPELESS.test(cause)) throw new KdebugError('store_misconfigured', { detail: cause });
      if (performance.now() >= endsAtMs) throw this.#absence(false);
      await this.#change(50);
    }
  }

  close(): void {
    this.#state = 'closed';
    this.#redis.disconnect();
    this.#wake();
  }

  async #untilUp(endsAtMs: number, sent: boolean): Promise<void> {
    if (this.#state === 'up') return;
    if (this.#state !== 'closed') {
      const waitMs = Math.min(endsAtMs, this.#patientUntilMs) - performance.now();
      if (waitMs > 0) await this.#change(waitMs);
    }
    if (!this.#isUp()) throw this.#absence(sent);
  }

  #isUp(): boolean {
    return this.#state === 'up';
  }

  #absence(sent: boolean): KdebugError {
    if (this.#state === 'closed') return unreachable('the store is closed', sent);
    return unreachable(`no connection (${this.lastCause ?? (this.#lostAtMs > 0 ? 'lost' : 'none yet')})`, sent);
  }

  async #change(ms: number): Promise<void> {
    const waiting = pause(TIMERS, ms);
    this.#waiting.add(waiting);
    await waiting.over;
    this.#waiting.delete(waiting);
  }

  #wake(): void {
    for (const waiting of this.#waiting) waiting.end();
  }

  /** A connection counts once Redis has told the time on it. */
  async #greet(): Promise<void> {
    try {
      // The library selects too, but goes on in database 0 when that is refused.
      if (this.#redis.options.db) await this.#redis.select(this.#redis.options.db);
      const [seconds, micros] = await this.#redis.time();
      this.clock.reset(Math.floor(Number(seconds) * 1_000 + Number(micros) / 1_000));
    } catch (thrown) {
      this.#lastCause = thrown;
      return this.#redis.disconnect(true);
    }
    if (this.#state === 'closed') return;
    const wasDown = this.#state === 'down';
    this.#state = 'up';
    this.#lastCause = undefined;
    this.#patientUntilMs = Number.POSITIVE_INFINITY;
    this.#wake();
    if (!wasDown) return;
    this.#recoveredAtMs = performance.now();
    this.#log.info('Redis answers again', { downMs: Math.round(this.#recoveredAtMs - this.#lostAtMs) });
    for (const listener of this.#onUp) listener();
  }

  #lose(): void {
    if (this.#state !== 'up') return;
    this.#state = 'down';
    this.#lostAtMs = performance.now();
    this.#patientUntilMs = this.#lostAtMs + PATIENCE_MS;
    this.#log.warn('Redis does not answer: nothing new is taken until it does', { cause: this.lastCause });
  }
}

/** Unlike the system's clock, these timers keep the process alive, until the store has answered. */
const TIMERS: Pick<Clock, 'after'> = {
  after(ms, wake) {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};

/** Rejects at a moment of `performance.now()`, whatever the promise does. */
const within = <Value>(promise: Promise<Value>, endsAtMs: number): Promise<Value> =>
  withDeadline(TIMERS, Math.max(0, endsAtMs - performance.now()), promise, () => {
    throw new Error('no answer in time');
  });

/**
 * Redis' clock as far as this process knows it, so that a command can say until when it may be carried out. Estimates are never
 * ahead of the truth: what they call "now" is not later than Redis' now, unless Redis' clock was set back since the last answer
 * on this connection.
 */
class ServerClock {
  /** Redis' ms minus ours, at most; ours is monotonic. */
  #aheadMs = Number.NEGATIVE_INFINITY;

  /** An answer that carried Redis' time came in just now. */
  observe(serverMs: number): void {
    this.#aheadMs = Math.max(this.#aheadMs, serverMs - performance.now());
  }

  /** The first answer on a new connection: what was learnt on another counts no more. */
  reset(serverMs: number): void {
    this.#aheadMs = serverMs - performance.now();
  }

  /** Redis' time, whole ms, at a moment of `performance.now()`. */
  at(localMs: number): number {
    return Math.floor(localMs + this.#aheadMs);
  }
}
