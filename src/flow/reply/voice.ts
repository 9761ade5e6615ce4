import { type KdebugError, toKdebugError } from '../../core/errors.ts';
import type { Message } from '../../core/report/message.ts';
import type { DeliveryEvent } from '../../core/run/delivery.ts';
import { isFinal } from '../../core/run/life-cycle.ts';
import type { PostRef, Run } from '../../core/run/run.ts';
import type { Clock } from '../../lib/clock.ts';
import type { FlowDeps } from '../deps.ts';
import { HELD_FOR_POST_MS, type HeldRun } from '../held-run.ts';
import type { Destination, PostMeta } from '../ports/slack.ts';
import { isForGood, type Posted, postOnce } from './post-once.ts';

/** What every word on one run needs: that the run is still ours, what may stand in Slack already, and the record of what was said. */
export class Voice {
  readonly session: HeldRun;
  readonly deps: FlowDeps;
  readonly refused: RefusedPosts;
  /** Set when a post of ours may stand in Slack without our knowing: after a crash, or an unanswered call. */
  doubt: boolean;
  #seq = 0;

  constructor(session: HeldRun, deps: FlowDeps) {
    this.session = session;
    this.deps = deps;
    this.refused = new RefusedPosts(deps.clock);
    this.doubt = session.recovered;
  }

  get run(): Run {
    return this.session.run;
  }

  /** Before each call to Slack. @throws KdebugError lease_lost */
  readonly assertHeld = (): Promise<void> => this.session.assertHeld(HELD_FOR_POST_MS);

  /** Posts, unless it stands there already. `toDirect: false`: never in a direct message instead. @throws as `postOnce` */
  async post(
    kind: PostMeta['kind'],
    place: Destination,
    message: Message,
    { toDirect = true, doubt = this.doubt } = {},
  ): Promise<Posted> {
    await this.assertHeld();
    const { run, assertHeld: sure } = this;
    return postOnce(this.deps.thread, { run, place, message, meta: this.meta(kind), doubt, toDirect, sure });
  }

  /**
   * False: it stays as it is, deleted, in a closed channel, or not ours to change since the app was installed anew. An update of
   * `progress` may wait its turn for a minute: once the run has ended nobody waits for it, and the last one goes for both.
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
      log.warn(`the ${kind} stays as it is`, { runId: this.run.id, reason: code, detail });
      return false;
    }
  }

  /** Resolves when the run ends before `work` does; else never. */
  #ended(work: Promise<unknown>): Promise<true> {
    return new Promise((resolve) => {
      const stop = this.session.onChange(() => isFinal(this.run.state) && resolve(true));
      work.finally(stop).catch(() => {});
    });
  }

  meta(kind: PostMeta['kind']): PostMeta {
    this.#seq += 1;
    return { run: this.run.id, kind, seq: this.#seq };
  }

  /** What is on record already changes nothing: a change would wake the very loop that posts. @throws as `HeldRun.apply` */
  async record(event: DeliveryEvent): Promise<void> {
    await this.session.apply({ kind: 'delivered', event });
  }
}

/** How often, and for how long, a refusal that may pass is met: an operator may be giving the app a scope right now. */
const MAX_TRIES = 10;
const PATIENCE_MS = 15 * 60_000;

/** What Slack answers so again wherever it was asked: every other place has been tried by then. */
const CLOSED: ReadonlySet<string> = new Set(['slack_message_gone', 'slack_thread_closed', 'slack_channel_closed']);

/** Counts how often Slack refused a post of one run, so that no post is tried for ever. */
export class RefusedPosts {
  readonly #clock: Clock;
  readonly #refused = new Map<string, { readonly sinceMs: number; readonly times: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that a post was refused; whether that is the end of trying. What is no refusal never ends it. */
  isOver(post: string, { code }: KdebugError): boolean {
    if (CLOSED.has(code)) return true;
    if (code !== 'slack_refused') return false;
    const nowMs = this.#clock.now();
    const { sinceMs, times } = this.#refused.get(post) ?? { sinceMs: nowMs, times: 0 };
    this.#refused.set(post, { sinceMs, times: times + 1 });
    return times + 1 >= MAX_TRIES || nowMs - sinceMs >= PATIENCE_MS;
  }
}
