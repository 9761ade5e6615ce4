import { Redis } from 'ioredis';
import { KdebugError, toKdebugError } from '../../../core/errors.ts';
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

/** Sends one command; Redis must not execute it after `notAfterMs` of its own clock. */
export type Send<Value> = (redis: Redis, notAfterMs: number) => Promise<Value>;

/** Called after each call: its name, `ok` or the error's code, and how long it took. */
export type OnRedisCall = (name: string, result: string, durationMs: number) => void;

/** Every call succeeds or fails within this. */
const BUDGET_MS = 1_800;
/** For this long after a loss, calls wait for a new connection; later they fail at once. */
const AWAIT_RECONNECT_MS = 1_000;

/** Refusals by Redis and TLS (codes of Node and OpenSSL): wrong credentials, database or certificate, or no TLS. */
const HOPELESS = /^(?:ERR$|NOAUTH|NOPERM|WRONGPASS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO)/;

/** The one connection. Calls succeed or fail within 1.8 s, even when Redis is gone, frozen or failing over. */
export class RedisConnection {
  readonly clock = new ServerClock();
  readonly #redis: Redis;
  readonly #log: Log;
  readonly #onCall: OnRedisCall;
  readonly #waiting = new Set<Pause>();
  readonly #onUp = new Set<() => void>();
  #state: 'starting' | 'up' | 'down' | 'closed' = 'starting';
  #patientUntilMs = Number.POSITIVE_INFINITY;
  #lostAtMs = 0;
  #recoveredAtMs = Number.NEGATIVE_INFINITY;
  #lastCause: unknown;

  constructor(address: RedisAddress, log: Log, onCall: OnRedisCall = () => undefined) {
    this.#log = log;
    this.#onCall = onCall;
    this.#redis = new Redis(connectionOptions(address));
    this.#redis.on('ready', () => void this.#greet());
    this.#redis.on('close', () => this.#lose());
    this.#redis.on('error', (error: unknown) => {
      this.#lastCause = error;
    });
    this.#redis.connect().catch(() => undefined);
  }

  /** The cause of the last loss in a word; undefined when the connection was never lost. */
  get lastCause(): string | undefined {
    return this.#lastCause === undefined ? undefined : causeOf(this.#lastCause);
  }

  /** Time since the last reconnection; infinite when the connection was never lost. */
  get sinceRecoveryMs(): number {
    return performance.now() - this.#recoveredAtMs;
  }

  /** Calls `listener` after every reconnection. */
  onRecovery(listener: () => void): void {
    this.#onUp.add(listener);
  }

  /** Deadline of a call that begins now, as `performance.now()`; several commands can share it. */
  deadline(): number {
    return performance.now() + BUDGET_MS;
  }

  /**
   * Sends a command (`name`: for the metrics), and sends it again when the connection dies before the answer: the command must be repeatable.
   * @throws KdebugError store_unreachable; with the fact `maybeDone` when Redis may have executed it
   */
  async call<Value>(name: string, send: Send<Value>, endsAtMs = this.deadline()): Promise<Value> {
    const beganAtMs = performance.now();
    let result = 'ok';
    try {
      return await this.#call(send, endsAtMs);
    } catch (thrown) {
      result = toKdebugError(thrown).code;
      throw thrown;
    } finally {
      this.#onCall(name, result, performance.now() - beganAtMs);
    }
  }

  async #call<Value>(send: Send<Value>, endsAtMs: number): Promise<Value> {
    let sent = false;
    for (;;) {
      await this.#untilUp(endsAtMs, sent);
      sent = true;
      try {
        return await within(send(this.#redis, this.clock.at(endsAtMs)), endsAtMs);
      } catch (thrown) {
        const code = replyCode(thrown);
        if (code !== undefined) throw refusalOf(code);
        if (thrown === LATE || performance.now() >= endsAtMs) throw unreachable('no answer in time', true);
        // The call can fail before ioredis emits `close`.
        this.#lose();
      }
    }
  }

  /**
   * Resolves with the first connection.
   * @throws KdebugError store_misconfigured (Redis or TLS refuses us, and waiting does not help), store_unreachable
   * after `ms`
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

  /** A connection counts once Redis has sent its time on it. */
  async #greet(): Promise<void> {
    try {
      // The library selects too, but continues in database 0 after a refusal.
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
    this.#patientUntilMs = this.#lostAtMs + AWAIT_RECONNECT_MS;
    this.#log.warn('Redis does not answer, refusing new requests', { cause: this.lastCause });
  }
}

/** Unlike the system clock's, these timers keep the process alive until the store answers. */
const TIMERS: Pick<Clock, 'after'> = {
  after(ms, wake) {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};

/** Says nothing about the connection, which stays in use. Timers fire up to 2 ms early, so the clock does not show it. */
const LATE = new Error('no answer in time');

/** Rejects with `LATE` at that `performance.now()` if the promise is still pending. */
const within = <Value>(promise: Promise<Value>, endsAtMs: number): Promise<Value> =>
  withDeadline(TIMERS, Math.max(0, endsAtMs - performance.now()), promise, () => {
    throw LATE;
  });

/**
 * Redis' clock as this process knows it, so that a command can carry a deadline. An estimate never runs ahead: its
 * "now" is not later than Redis' now, unless somebody set Redis' clock back since the last answer on this connection.
 */
class ServerClock {
  /** Redis' ms minus ours, at most; our clock is monotonic. */
  #aheadMs = Number.NEGATIVE_INFINITY;

  /** Call when an answer with Redis' time arrives. */
  observe(serverMs: number): void {
    this.#aheadMs = Math.max(this.#aheadMs, serverMs - performance.now());
  }

  /** Call on the first answer of a new connection: forgets what the old one taught. */
  reset(serverMs: number): void {
    this.#aheadMs = serverMs - performance.now();
  }

  /** Redis' time, whole ms, at that `performance.now()`. */
  at(localMs: number): number {
    return Math.floor(localMs + this.#aheadMs);
  }
}
