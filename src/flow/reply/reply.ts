import { KdebugError, toKdebugError } from '../../core/errors.ts';
import { dueAtMs, isFinal } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { type Pause, pause } from '../../lib/clock.ts';
import { LatestValue } from '../../lib/latest-value.ts';
import { Rounds } from '../../lib/rounds.ts';
import { Trouble } from '../../lib/trouble.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import type { BatchLogs } from '../log/batch-logs.ts';
import type { LogReaders } from '../log/logs.ts';
import { RunPosts } from './posts.ts';
import { gatherMs, newsWaitMs, retryMs } from './schedule.ts';
import { Voice } from './voice.ts';

/**
 * Keeps Slack up to date with one run: decides when to look, how long to gather news and when to retry. The run's state decides what to
 * post (`nextPost`); `RunPosts` posts it.
 */
export class Reply {
  readonly #held: HeldRun;
  readonly #deps: FlowDeps;
  readonly #voice: Voice;
  readonly #posts: RunPosts;
  readonly #trouble: Trouble;
  #failures = 0;
  #pausing: Pause | undefined;
  #isAdvanced = false;
  #wake: () => void = () => {};

  constructor(
    held: HeldRun,
    deps: FlowDeps,
    context: {
      readonly readers: LogReaders;
      readonly batchLogs: BatchLogs;
      readonly beforeClosing: () => Promise<void>;
    },
  ) {
    const { readers, batchLogs, beforeClosing } = context;
    this.#held = held;
    this.#deps = deps;
    this.#voice = new Voice(held, deps);
    this.#trouble = new Trouble(deps, {
      begins: 'Slack update failed, will retry',
      ends: 'Slack update succeeded after retries',
    });
    this.#posts = new RunPosts(this.#voice, { held, deps, readers, batchLogs }, beforeClosing);
  }

  /**
   * Resolves when Slack has everything and only people or the clock can bring more, with the run as Slack shows it.
   * @throws KdebugError lease_lost
   */
  async catchUp(): Promise<Run> {
    const changes = new LatestValue<true>(this.#deps.clock);
    this.#isAdvanced = false;
    this.#wake = () => changes.put(true);
    const stopListening = [
      this.#held.onChange(() => {
        changes.put(true);
        if (this.#held.isOver) this.#pausing?.end();
      }),
      this.#deps.token.onAccepted(() => this.#retryNow()),
    ];
    try {
      const rounds = new Rounds(this.#deps.clock);
      let waits = 0;
      for (;;) {
        await rounds.next();
        if (this.#isLeft()) return this.#held.run;
        const before = this.#held.run;
        if ((await this.#postAll()) && this.#isQuiet(before)) return before;
        waits = (await this.#rest(changes, waits)) ? 0 : waits + 1;
      }
    } finally {
      for (const stop of stopListening) stop();
    }
  }

  /** The stages wait for people. A vote may start the next one while approvers are being notified. */
  advanced(): void {
    this.#isAdvanced = true;
    if (this.#isLeft()) this.#wake();
  }

  /** Slack accepts the token again: nobody should wait out the pause between two tries. */
  #retryNow(): void {
    if (this.#failures === 0) return;
    this.#pausing?.end();
    this.#wake();
  }

  #isLeft(): boolean {
    const { state } = this.#held.run;
    return this.#isAdvanced && state !== 'pending-approval' && !isFinal(state);
  }

  /**
   * Only people or the clock can change the run, and nobody has since we posted `before`. When a parked run is due, its holder starts
   * again.
   */
  #isQuiet(before: Run): boolean {
    const { run } = this.#held;
    const isShown =
      run.state === before.state &&
      run.approval === before.approval &&
      run.grant === before.grant &&
      run.stop === before.stop &&
      run.alert === before.alert;
    return isShown && dueAtMs(run) > 0;
  }

  /** Resolves with whether there was news. */
  async #rest(changes: LatestValue<true>, waits: number): Promise<boolean> {
    if (this.#failures === 0) return this.#nextNews(changes, newsWaitMs(this.#held.run, waits));
    const waitMs = retryMs(this.#failures, this.#deps.random);
    // A finished run brings no more news: only time helps.
    if (!isFinal(this.#held.run.state)) return this.#nextNews(changes, waitMs);
    this.#pausing = pause(this.#deps.clock, waitMs);
    await this.#pausing.over;
    return false;
  }

  /** Waits at most `ms` for news, then gathers what follows soon: a quick run costs three calls in all. */
  async #nextNews(changes: LatestValue<true>, ms: number): Promise<boolean> {
    const { clock } = this.#deps;
    const untilMs = clock.elapsed() + ms;
    const settledMs = this.#posts.cardAtMs + gatherMs(this.#held.run, clock.now());
    let changed = (await changes.next(untilMs)) !== undefined;
    const anyNews = changed;
    while (
      changed &&
      !this.#held.isOver &&
      !this.#isLeft() &&
      clock.elapsed() < settledMs &&
      this.#held.run.delivery.anchor &&
      !isFinal(this.#held.run.state) &&
      // Do not make a click at another replica wait for us.
      dueAtMs(this.#held.run) === 0 &&
      !this.#posts.lacksUrgent(this.#held.run)
    ) {
      changed = (await changes.next(settledMs)) !== undefined;
    }
    return anyNews;
  }

  /** Resolves with whether Slack accepted everything. */
  async #postAll(): Promise<boolean> {
    try {
      await this.#voice.assertHeld();
      await this.#posts.makeAll();
      this.#failures = 0;
      this.#trouble.worked();
      return true;
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (error.code === 'lease_lost') throw error;
      if (this.#held.isOver) throw new KdebugError('lease_lost', { cause: thrown });
      // The failure may concern the record of a post that Slack accepted.
      this.#voice.doubt = true;
      this.#failures += 1;
      // The run may have ended while its last post failed.
      this.#posts.concludeEnd(this.#held.run);
      this.#trouble.failed({ runId: this.#held.run.id, reason: error.code, detail: error.detail });
      return false;
    }
  }
}
