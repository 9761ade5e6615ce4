import type { Run } from '../../core/run/run.ts';
import type { RenderContext } from '../../core/say/run/run-messages.ts';
import { type BackOff, delayOf } from '../../lib/backoff.ts';
import type { FlowDeps } from '../context/deps.ts';
import { isForRequesterAlone } from '../planning/channel-check.ts';

/** Growing pauses between looks at a running container: nobody reads for long a tail that changes each second. */
const TAIL_EVERY_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
/** The same for a batch with pods in flight, whose dashboard shows their age. */
const AGE_EVERY_MS = [15_000, 30_000, 60_000];
const IDLE_MS = 60_000;
const RETRY: BackOff = { firstMs: 1_000, maxMs: 60_000 };
/** The least time between two updates of a card; the last update does not wait. */
const GATHER_MS = 1_500;
/** A batch's dashboard may lag by one sixth of the batch's age: some fifty updates, however long it runs. */
const SHARE_OF_AGE = 6;

/** The time to wait for news after `waits` waits without any. */
export function newsWaitMs(run: Run, waits: number): number {
  if (run.batch) return run.batch.idleSinceMs === undefined ? step(AGE_EVERY_MS, waits) : Number.POSITIVE_INFINITY;
  return run.state === 'running' || run.state === 'collecting' ? step(TAIL_EVERY_MS, waits) : IDLE_MS;
}

export const retryMs = (failures: number, random?: () => number): number => delayOf(RETRY, failures - 1, random);

export const gatherMs = ({ batch }: Run, nowMs: number): number =>
  Math.max(GATHER_MS, batch ? (nowMs - batch.createdAtMs - batch.idleMs) / SHARE_OF_AGE : 0);

/** Shown without gathering more news: the end, and people's decisions. */
export function urgentPart({ state, batch, approval }: Run): string {
  if (!batch) return approval && state !== 'pending-approval' ? 'decided' : '';
  const { canary, paused, closed, parallelism, replicas } = batch;
  return [state, canary, paused?.atMs, closed?.atMs, parallelism, replicas].join('|');
}

const step = (steps: readonly number[], index: number): number => steps[Math.min(index, steps.length - 1)] ?? 0;

/** @throws KdebugError as `isForRequesterAlone` */
export async function renderContextOf(
  run: Run,
  deps: FlowDeps,
): Promise<RenderContext & { readonly isPrivate: boolean }> {
  const isPrivate = await isForRequesterAlone(run, deps);
  return {
    nowMs: deps.clock.now(),
    approvers: deps.policies.current().approvers,
    isPrivate,
  };
}
