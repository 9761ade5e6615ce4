import { type KdebugError, toKdebugError } from '../../core/errors.ts';
import type { DeliveryEvent } from '../../core/run/delivery.ts';
import { isFinal } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import type { PostRef } from '../../core/run/run-state.ts';
import type { Message } from '../../core/say/message/message.ts';
import type { Clock } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { HELD_FOR_POST_MS, type HeldRun } from '../context/held-run.ts';
import { isForGood, type Posted, postOnce } from '../context/post-once.ts';
import type { Destination, PostMeta } from '../ports/slack.ts';

/** Shared by all posts of one run: proves that we hold the run, decides whether to search before posting, and records what was posted. */
export class Voice {
  readonly held: HeldRun;
  readonly deps: FlowDeps;
  readonly refused: RefusedPosts;
  /** True when Slack may hold a post that we have no record of: after a crash, or an unanswered call. */
  doubt: boolean;
  #seq = 0;

  constructor(held: HeldRun, deps: FlowDeps) {
    this.held = held;
    this.deps = deps;
    this.refused = new RefusedPosts(deps.clock);
    this.doubt = held.recovered;
  }

  get run(): Run {
    return this.held.run;
  }

  /** Call before each Slack call. @throws KdebugError lease_lost */
  readonly assertHeld = (): Promise<void> => this.held.assertHeld(HELD_FOR_POST_MS);

  /** Posts, unless Slack has the post already. `toDirect: false`: never in a direct message instead. @throws as `postOnce` */
  async post(
    kind: PostMeta['kind'],
    destination: Destination,
    message: Message,
    { toDirect = true, doubt = this.doubt } = {},
  ): Promise<Posted> {
    await this.assertHeld();
    const { run, assertHeld } = this;
    const meta = this.meta(kind);
    return postOnce(this.deps.thread, { run, destination, message, meta, doubt, toDirect, assertHeld });
  }

  /**
   * False if Slack refused: the message was deleted, its channel is closed, or the app was reinstalled since. A `progress` update may queue
   * for a minute. If the run ends meanwhile, this no longer waits for it: the last update replaces it.
   */
  async update(
    kind: PostMeta['kind'],
    ref: PostRef,
    message: Message,
    lane: 'progress' | 'final' = 'final',
  ): Promise<boolean> {
    const updated = this.#update(kind, ref, message, lane);
    return lane === 'final' ? updated : Promise.race([updated, this.#ended(updated)]);
  }

  async #update(kind: PostMeta['kind'], ref: PostRef, message: Message, lane: 'progress' | 'final'): Promise<boolean> {
    const { thread, log } = this.deps;
    try {
      await thread.update(ref, message, this.meta(kind), lane);
      return true;
    } catch (thrown) {
      const { code, detail } = toKdebugError(thrown);
      if (!isForGood(code)) throw thrown;
      log.warn('Slack refused to update message', { runId: this.run.id, kind, reason: code, detail });
      return false;
    }
  }

  /** Resolves if the run ends before `work` does; else never. */
  #ended(work: Promise<unknown>): Promise<true> {
    return new Promise((resolve) => {
      const stop = this.held.onChange(() => isFinal(this.run.state) && resolve(true));
      work.finally(stop).catch(() => {});
    });
  }

  meta(kind: PostMeta['kind']): PostMeta {
    this.#seq += 1;
    const { id: run, alert, delivery } = this.run;
    // A storm of alerts is in the thread of one card, and many may end at once: whoever types a command meanwhile comes first.
    const isAside = kind === 'resolved' || (alert !== undefined && (alert.joined !== undefined || delivery.closed));
    return { run, kind, seq: this.#seq, ...defined({ isAside: isAside || undefined }) };
  }

  /** An event on record already changes nothing, because a change would wake the loop that posts. @throws as `HeldRun.apply` */
  async record(event: DeliveryEvent): Promise<void> {
    await this.held.apply({ kind: 'delivered', event });
  }
}

/** The tries, and the time, for a refusal that may pass: an operator may be granting a scope right now. */
const MAX_TRIES = 10;
const RETRY_REFUSED_MS = 15 * 60_000;

/** Permanent refusals: by then, every other destination has been tried. */
const CLOSED: ReadonlySet<string> = new Set(['slack_message_gone', 'slack_thread_closed', 'slack_channel_closed']);

export class RefusedPosts {
  readonly #clock: Clock;
  readonly #refused = new Map<string, { readonly sinceMs: number; readonly times: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a refused post; true to stop retrying. Other errors never stop the retries. */
  isOver(post: string, { code }: KdebugError): boolean {
    if (CLOSED.has(code)) return true;
    if (code !== 'slack_refused') return false;
    const nowMs = this.#clock.elapsed();
    const { sinceMs, times } = this.#refused.get(post) ?? { sinceMs: nowMs, times: 0 };
    this.#refused.set(post, { sinceMs, times: times + 1 });
    return times + 1 >= MAX_TRIES || nowMs - sinceMs >= RETRY_REFUSED_MS;
  }
}
