import type { RenderContext } from '../../core/report/run-messages.ts';
import type { Run } from '../../core/run/run.ts';
import { type BackOff, delayOf } from '../../lib/backoff.ts';
import type { FlowDeps } from '../deps.ts';
import { isForRequesterAlone } from './slack-connect.ts';

/** Ever longer pauses between two looks at a running container: nobody reads a tail that changes each second for long. */
const TAIL_EVERY_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
/** The same for a batch with pods in flight: its dashboard shows their age. */
const AGE_EVERY_MS = [15_000, 30_000, 60_000];
/** While the run waits for people or the cluster. */
const IDLE_MS = 60_000;
/** Pauses between tries while Slack does not accept a post. */
const RETRY: BackOff = { firstMs: 1_000, maxMs: 60_000 };
/** The least time between two updates of one card; the last one does not wait. */
const GATHER_MS = 1_500;
/** A batch's dashboard may be out of date by one sixth of the batch's age: some fifty updates, however long it runs. */
const SHARE_OF_AGE = 6;

/** How long to wait for news after the n-th look without any. */
export function lookAgainMs(run: Run, looks: number): number {
  if (run.batch) return run.batch.idleSinceMs === undefined ? step(AGE_EVERY_MS, looks) : Number.POSITIVE_INFINITY;
  return run.state === 'running' || run.state === 'collecting' ? step(TAIL_EVERY_MS, looks) : IDLE_MS;
}

/** How long to leave Slack alone after the n-th failure in a row. */
export const retryMs = (failures: number, random?: () => number): number => delayOf(RETRY, failures - 1, random);

/** How long after an update to gather news for the next one. */
export const gatherMs = ({ batch }: Run, nowMs: number): number =>
  Math.max(GATHER_MS, batch ? (nowMs - batch.createdAtMs - batch.idleMs) / SHARE_OF_AGE : 0);

/** What is shown without gathering more news: the end, and what people decide about a batch or have decided. */
export function urgentPart({ state, batch }: Run): string {
  if (!batch) return '';
  const { canary, paused, closed, parallelism, replicas } = batch;
  return [state, canary, paused?.atMs, closed?.atMs, parallelism, replicas].join('|');
}

const step = (steps: readonly number[], index: number): number => steps[Math.min(index, steps.length - 1)] ?? 0;

/** What a card or a result is rendered with, besides its run. @throws KdebugError as `isForRequesterAlone` */
export async function renderContextOf(
  { origin }: Run,
  deps: FlowDeps,
): Promise<RenderContext & { readonly isPrivate: boolean }> {
  const isPrivate = await isForRequesterAlone(origin, deps);
  return { nowMs: deps.clock.now(), approvers: deps.policies.current().approvers, isPrivate };
}
