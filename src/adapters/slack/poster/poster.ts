import { KdebugError } from '../../../core/errors.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import type { Clock } from '../../../lib/clock.ts';
import { troubleOf } from '../errors.ts';
import { LimitLog } from './limit-log.ts';
import { Budgets, type Lane, type Method } from './pace.ts';

export interface Call {
  readonly method: Method;
  readonly lane: Lane;
  readonly channelId?: string;
  /** Repeating it has no further effect. If unanswered, it is sent at most three times in all. */
  readonly repeatable: boolean;
  /** Slack refused it: whether `send` now says it in another way, which may pass. It then goes again, unless a newer one waits. */
  readonly reshape?: (refusal: KdebugError) => boolean;
}

interface Entry {
  readonly call: Call;
  readonly lane: Lane;
  readonly key: string | undefined;
  readonly send: () => Promise<void>;
  readonly done: readonly (() => void)[];
  readonly failed: readonly ((error: KdebugError) => void)[];
  readonly attempts: number;
  readonly refusals: number;
  readonly notBeforeMs: number;
  readonly sinceMs: number;
  readonly seq: number;
}

const RETRY_AFTER_MS = [500, 2_000] as const;
/** After more 429s than this, a call fails as unanswered. */
const MAX_REFUSALS = 10;
const MAX_WAITING = 10_000;
/** Results may overtake an `opening` for this long, so that it never starves. */
const GIVES_WAY_MS = 5_000;
const LANES = ['final', 'opening', 'progress', 'background'] as const;

/**
 * Sends `final` before `opening` (for at most five seconds) before `progress` before `background`, each method and channel within its
 * budget. A 429 stops only that method, or for a post that channel; the log says so once. Repeats a call only if Slack refused it (429) or
 * it is repeatable. With 10,000 calls waiting, the next one fails at once. Waits on the given clock.
 */
export class Poster {
  readonly #clock: Clock;
  readonly #budgets = new Budgets();
  readonly #limits: LimitLog;
  readonly #waiting: Record<Lane, Entry[]> = { final: [], opening: [], progress: [], background: [] };
  readonly #busyKeys = new Set<string>();
  #cancelWake: (() => void) | undefined;
  #pumping = false;
  #closed = false;
  #added = 0;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#limits = new LimitLog({ clock, log });
  }

  /** Calls that wait for their turn. */
  get waiting(): number {
    return LANES.reduce((sum, lane) => sum + this.#waiting[lane].length, 0);
  }

  /** @throws KdebugError the codes of the `Thread` port */
  call<T>(call: Call, send: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const sendAndResolve = async () => resolve(await send());
      this.#add(this.#entryOf(call, undefined, sendAndResolve, { done: [], failed: [reject] }));
    });
  }

  /**
   * Like `call`, but sends only the newest of several waiting calls with the same key, and settles all with it. Never has two calls with
   * one key in flight.
   */
  newest(key: string, call: Call, send: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#add(this.#entryOf(call, key, send, { done: [resolve], failed: [reject] }));
    });
  }

  /** Fails every waiting and later call as unanswered. */
  close(): void {
    this.#closed = true;
    this.#cancelWake?.();
    for (const lane of LANES) {
      for (const entry of this.#waiting[lane].splice(0)) fail(entry, notSent());
    }
  }

  #add(entry: Entry): void {
    if (this.#closed || this.waiting >= MAX_WAITING) {
      fail(entry, notSent());
      return;
    }
    const older = this.#removeWaiting(entry.key);
    const merged = older ? merge(older, entry) : entry;
    this.#waiting[merged.lane].push(merged);
    this.#pumpSoon();
  }

  #removeWaiting(key: string | undefined): Entry | undefined {
    if (key === undefined) return undefined;
    for (const lane of LANES) {
      const waiting = this.#waiting[lane];
      const index = waiting.findIndex((entry) => entry.key === key);
      if (index >= 0) return waiting.splice(index, 1)[0];
    }
    return undefined;
  }

  /** Keeps the entry's position. A newer entry with the same key replaces it and settles both. */
  #return(entry: Entry): void {
    if (this.#closed) {
      fail(entry, notSent());
      return;
    }
    const newer = this.#removeWaiting(entry.key);
    const merged = newer ? merge(entry, newer) : entry;
    const waiting = this.#waiting[merged.lane];
    const next = waiting.findIndex(({ seq }) => seq > entry.seq);
    waiting.splice(next < 0 ? waiting.length : next, 0, merged);
  }

  #pumpSoon(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    queueMicrotask(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    let wakeInMs = Number.POSITIVE_INFINITY;
    const entries = this.#inTurn();
    for (const lane of LANES) this.#waiting[lane] = [];
    for (const entry of entries) {
      const waitMs = this.#waitMs(entry);
      if (waitMs === 0) this.#start(entry);
      else this.#waiting[entry.lane].push(entry);
      if (waitMs > 0) wakeInMs = Math.min(wakeInMs, waitMs);
    }
    if (Number.isFinite(wakeInMs)) this.#cancelWake = this.#clock.after(wakeInMs, () => this.#pump());
  }

  #inTurn(): readonly Entry[] {
    const { final, opening, progress, background } = this.#waiting;
    if (opening.length === 0) return [...final, ...progress, ...background];
    const urgent = [...final, ...opening].sort((a, b) => turnMs(a) - turnMs(b) || a.seq - b.seq);
    return [...urgent, ...progress, ...background];
  }

  /** Infinity while a call with the same key is in flight; its end pumps the queue again. */
  #waitMs({ call, lane, key, notBeforeMs, sinceMs }: Entry): number {
    if (key !== undefined && this.#busyKeys.has(key)) return Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.elapsed();
    const paces = this.#budgets.of(call.method, call.channelId, nowMs);
    const waitMs = (as: Lane): number => Math.max(0, ...paces.map((pace) => pace.waitMs(as, nowMs)));
    // At its turn, an `opening` may use the reserve for results.
    const paceMs =
      lane === 'opening'
        ? Math.min(waitMs('opening'), Math.max(waitMs('final'), sinceMs + GIVES_WAY_MS - nowMs))
        : waitMs(lane);
    return Math.max(0, notBeforeMs - nowMs, paceMs);
  }

  #start(entry: Entry): void {
    const nowMs = this.#clock.elapsed();
    for (const pace of this.#budgets.of(entry.call.method, entry.call.channelId, nowMs)) pace.sent(entry.lane, nowMs);
    if (entry.key !== undefined) this.#busyKeys.add(entry.key);
    void this.#send(entry);
  }

  /** Never rejects. */
  async #send(entry: Entry): Promise<void> {
    try {
      // Yield first: no call may settle while the queue is iterated.
      await Promise.resolve();
      await entry.send();
      this.#limits.worked(entry.call);
      for (const done of entry.done) done();
    } catch (thrown) {
      this.#settle(entry, thrown);
    }
    if (entry.key !== undefined) this.#busyKeys.delete(entry.key);
    this.#pumpSoon();
  }

  #settle(entry: Entry, thrown: unknown): void {
    const { call, attempts, refusals } = entry;
    const trouble = troubleOf(thrown);
    const nowMs = this.#clock.elapsed();
    if (trouble.kind === 'limited') {
      this.#budgets.limited(call.method, call.channelId, nowMs, trouble.retryAfterMs);
      this.#limits.limited(call, trouble.retryAfterMs);
      if (refusals < MAX_REFUSALS) this.#return({ ...entry, refusals: refusals + 1 });
      else fail(entry, notSent());
      return;
    }
    if (call.reshape?.(trouble.error)) {
      this.#return(entry);
      return;
    }
    const waitMs = RETRY_AFTER_MS[attempts];
    const again = call.repeatable && trouble.error.code === 'slack_unanswered' && waitMs !== undefined;
    if (again) this.#return({ ...entry, attempts: attempts + 1, notBeforeMs: nowMs + waitMs });
    else fail(entry, trouble.error);
  }

  #entryOf(
    call: Call,
    key: string | undefined,
    send: () => Promise<void>,
    settle: Pick<Entry, 'done' | 'failed'>,
  ): Entry {
    this.#added += 1;
    const came = { sinceMs: this.#clock.elapsed(), seq: this.#added };
    return { call, lane: call.lane, key, send, ...settle, attempts: 0, refusals: 0, notBeforeMs: 0, ...came };
  }
}

const turnMs = ({ lane, sinceMs }: Entry): number => (lane === 'opening' ? sinceMs + GIVES_WAY_MS : sinceMs);

const merge = (older: Entry, newer: Entry): Entry => ({
  ...newer,
  lane: older.lane === 'final' ? 'final' : newer.lane,
  done: [...older.done, ...newer.done],
  failed: [...older.failed, ...newer.failed],
  notBeforeMs: Math.max(older.notBeforeMs, newer.notBeforeMs),
});

function fail(entry: Entry, error: KdebugError): void {
  for (const failed of entry.failed) failed(error);
}

/** To the caller: a search finds nothing, so it posts again when there is room. */
const notSent = (): KdebugError => new KdebugError('slack_unanswered', { facts: { kind: 'not_sent' } });
