import { toKdebugError } from '../../core/errors.ts';
import { isBatchRun } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { logFileName } from '../../core/run/shared-files.ts';
import { batchFileName } from '../../core/say/batch/batch-files.ts';
import { sleep } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import { Trouble } from '../../lib/trouble.ts';
import type { FlowDeps } from '../context/deps.ts';
import { destinationOf, resultDestinationOf } from '../context/destinations.ts';
import { isForGood } from '../context/post-once.ts';
import { isForRequesterAlone } from '../planning/channel-check.ts';
import type { SearchLane } from '../ports/slack.ts';

/** Of the 50 calls a minute that Slack allows for each kind of search (a run needs up to two of a kind): the others have the rest. */
const TURNS_PER_MINUTE = 20;
const MINUTE_MS = 60_000;
/** Longer than a search that Slack answers; when a replica dies in its turn, another one searches after this time. */
const TURN_MS = 30_000;
/** The pause after Slack or the store failed. */
const AGAIN_MS = 30_000;
/** For containers that ended, or were given up, longer ago, Slack has the result, or nobody waits for it any more. */
export const RECENT_MS = 60 * 60_000;

const LANE: SearchLane = 'background';

/** A run of the cluster, ended or given up, that the store may have lost. */
export interface EndedRun {
  readonly run: Run;
  readonly endedAtMs: number;
  readonly restore: () => Promise<void>;
}

/**
 * Searches Slack for the results of ended runs that the store does not know, and restores those without one. One at a time, the newest
 * first: of these the requester may still wait. All replicas share the turns, and remember for an hour what was found, so that neither
 * another replica nor a restart repeats a search. An error never ends it.
 */
export class EndedRuns {
  readonly #deps: FlowDeps;
  readonly #notBeforeMs = new Map<EndedRun, number>();
  readonly #failing: Trouble;
  readonly #waiting: Trouble;
  #isWorking = false;
  #stopped = false;

  constructor(deps: FlowDeps) {
    this.#deps = deps;
    this.#failing = new Trouble(deps, {
      begins: 'search for results of ended runs failed, will retry',
      ends: 'search for results of ended runs works again',
    });
    this.#waiting = new Trouble(deps, {
      begins: 'searches for results of ended runs wait for their turn',
      ends: 'search for lost results finished',
    });
  }

  /** The number of runs that were not searched for yet. */
  get left(): number {
    return this.#notBeforeMs.size;
  }

  add(ended: readonly EndedRun[]): void {
    for (const one of ended) this.#notBeforeMs.set(one, 0);
    if (ended.length > 0) {
      this.#deps.log.info('found ended runs in the cluster, searching for their results', {
        runs: this.left,
        perMinute: TURNS_PER_MINUTE,
      });
    }
    if (!this.#isWorking) void this.#work();
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    this.#isWorking = true;
    while (!this.#stopped && this.#notBeforeMs.size > 0) {
      const next = this.#next();
      if (next) await this.#attempt(next);
      else await this.#wait(Math.min(...this.#notBeforeMs.values()) - this.#deps.clock.elapsed());
    }
    this.#isWorking = false;
    if (!this.#stopped) this.#waiting.worked();
  }

  /** Undefined: each has to wait. */
  #next(): EndedRun | undefined {
    const nowMs = this.#deps.clock.elapsed();
    const due = [...this.#notBeforeMs].flatMap(([ended, notBeforeMs]) => (notBeforeMs <= nowMs ? [ended] : []));
    return due.sort((one, other) => other.endedAtMs - one.endedAtMs)[0];
  }

  async #attempt(ended: EndedRun): Promise<void> {
    try {
      await this.#searchFor(ended);
      this.#failing.worked();
    } catch (thrown) {
      this.#failing.failed({ runId: ended.run.id, reason: toKdebugError(thrown).code });
      // The others may do better.
      this.#notBeforeMs.set(ended, this.#deps.clock.elapsed() + 2 * AGAIN_MS);
      await this.#wait(AGAIN_MS);
    }
  }

  async #searchFor(ended: EndedRun): Promise<void> {
    const { store, clock } = this.#deps;
    const { id } = ended.run;
    if ((await store.read(id)) === undefined && !(await store.searches.wasFound(id))) {
      const turn = await store.searches.turn(id, { perMinute: TURNS_PER_MINUTE, heldMs: TURN_MS });
      if (turn.kind === 'none-left') {
        this.#waiting.failed({ runs: this.#notBeforeMs.size, perMinute: TURNS_PER_MINUTE });
        // A turn is free within a minute: a longer time is a wrong clock, or not of our making.
        return this.#wait(Math.min(turn.freeInMs || AGAIN_MS, MINUTE_MS));
      }
      if (turn.kind === 'held') {
        this.#notBeforeMs.set(ended, clock.elapsed() + TURN_MS);
        return;
      }
      if (await isInSlack(ended.run, this.#deps)) await store.searches.found(id, RECENT_MS);
      else if (!this.#stopped) await ended.restore();
    }
    this.#notBeforeMs.delete(ended);
  }

  #wait(ms: number): Promise<void> {
    return sleep(this.#deps.clock, Math.max(1, ms));
  }
}

/** If its result is in its thread already, only our record is lost. */
async function isInSlack(run: Run, deps: FlowDeps): Promise<boolean> {
  const { thread } = deps;
  const sinceMs = run.origin.receivedAtMs;
  try {
    const anchor = await thread.find(destinationOf(run), { run: run.id, kind: 'anchor' }, sinceMs, LANE);
    if (!anchor) return false;
    const isPrivate = await isForRequesterAlone(run, deps);
    const { threadGone, ...card } = anchor;
    const delivery = { anchor: card, ...defined({ threadsGone: threadGone === undefined ? undefined : [threadGone] }) };
    const there = await resultDestinationOf({ ...run, delivery }, isPrivate, thread);
    if (await thread.find(there, { run: run.id, kind: 'result' }, sinceMs, LANE)) return true;
    const name = isBatchRun(run) ? batchFileName(run, 'csv') : logFileName(run);
    return (await thread.findShared(there, [name], sinceMs, LANE)) !== undefined;
  } catch (thrown) {
    // One unreadable thread must not stop the search for the others; the recovered run looks elsewhere.
    if (!isForGood(toKdebugError(thrown).code)) throw thrown;
    return false;
  }
}
