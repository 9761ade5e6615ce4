import type { PodResult } from '../../core/batch/batch.ts';
import { plansOf, runIdOf } from '../../core/batch/new-batch.ts';
import { podResult } from '../../core/batch/pod-result.ts';
import { containerName } from '../../core/container/build.ts';
import { fingerprintOf } from '../../core/container/fingerprint.ts';
import type { Plan } from '../../core/container/plan.ts';
import { believedReport } from '../../core/diagnosis/marked-report.ts';
import { KdebugError } from '../../core/errors.ts';
import { podHead } from '../../core/report/batch/batch-files.ts';
import { logDoubt } from '../../core/report/parts/log-caveats.ts';
import { type BatchRun, isBatchRun, isFinal } from '../../core/run/life-cycle.ts';
import type { Outcome } from '../../core/run/outcome.ts';
import { withoutSecret } from '../../core/run/reference.ts';
import type { Run } from '../../core/run/run.ts';
import { defined } from '../../lib/defined.ts';
import { conclude } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import { HeldRun } from '../held-run.ts';
import { type AdvanceContext, advance } from '../pipeline.ts';
import { isSealedFor, launchRequestOf } from '../stages/launch-request.ts';
import type { ReadLog } from '../stages/logs.ts';
import type { HeldBatch } from './held-batch.ts';
import type { HeadOf } from './logs.ts';
import { requestsOf } from './plan.ts';

/** What one container of a batch is worked on with. */
export interface PodRunContext {
  readonly batch: HeldBatch;
  readonly place: PodSlot;
  readonly part: HeldRun;
  readonly context: AdvanceContext;
}

/**
 * Takes one container of a batch through the stages of any run, and tells the batch where it is. Its end counts as soon as the
 * container has ended; what its log came to is told when that was read. @throws KdebugError lease_lost when it was given up
 */
export async function runPod(work: PodRunContext): Promise<void> {
  const { batch, place, part, context } = work;
  const { readers, batchLogs, deps } = context;
  const { index, container } = place;
  const stop = part.onChange(() => tell(work));
  try {
    await advance(part, context);
    const read = await readers.of(part.run.id)?.result;
    batch.move({ kind: 'ended', index, container, result: resultOf(part.run, deps, read) }, deps.clock.now());
    // Right away: whoever shares the file of a batch that has ended waits for all that were added.
    if (read) await batchLogs.of(batch.run).add(place, read.spool, (log) => headOf(batch, place, log));
    await conclude(part.run, deps);
  } finally {
    stop();
    // What was added of it is copied before it goes.
    await batchLogs.copied(batch.run.id);
    await readers.forget(part.run.id);
  }
}

/** The head of a container's log in the file of its batch, as far as is known. */
export function headOf({ run }: HeldBatch, place: PodSlot, log: Parameters<HeadOf>[0]): string {
  return isBatchRun(run) ? podHead(run, place.index, { container: place.container, ...log }) : '';
}

function tell({ batch, place, part, context }: PodRunContext): void {
  const { deps } = context;
  const { index, container } = place;
  const { run } = part;
  const atMs = deps.clock.now();
  if (run.state === 'running') batch.move({ kind: 'started', index }, atMs);
  if (run.state !== 'collecting' || !run.termination) return;
  batch.move({ kind: 'ended', index, container, result: { ...resultOf(run, deps), reading: true } }, atMs);
}

/** What a batch keeps of a container: while its log is read, of what is known by then. */
function resultOf(run: Run, { policies }: FlowDeps, read?: ReadLog): PodResult {
  const { plan, termination, refusal, log } = run;
  const policy = policies.current();
  const written = { logEnd: read?.end ?? '', terminationMessage: termination?.message ?? '' };
  const diagnosis = plan && read && believedReport(plan, policy, written);
  return podResult({
    outcome: outcomeOf(run),
    ...defined({ termination, message: refusal?.message }),
    ...(diagnosis && { findings: diagnosis.findings.map(({ code }) => code), verdict: diagnosis.verdict }),
    ...(isFinal(run.state) && log && { logBytes: log.bytes, logDoubt: logDoubt(log.completeness) }),
    redact: policy.output.redact,
  });
}

function outcomeOf({ outcome, refusal }: Run): Outcome {
  if (outcome) return outcome;
  return refusal ? { kind: 'denied', code: refusal.code } : { kind: 'internal', code: 'outcome_missing' };
}

/** One container of one pod of a batch, by their places. */
export interface PodSlot {
  readonly index: number;
  readonly container: number;
}

/** Parts are in no store: their batch and the cluster know all that a crash may leave to be done. */
const NO_STORE = { save: () => Promise.resolve('saved' as const), release: () => Promise.resolve() };

export type PodRun = Run & { readonly plan: Plan };

/** The run of one container of a batch, about to be launched. Its id is derived, so every replica arrives at the same one. */
export function podRunOf(batch: BatchRun, { index, container }: PodSlot): PodRun {
  const plan = plansOf(batch.batch, index)[container];
  if (!plan) throw new KdebugError('internal_error', { detail: 'a skipped pod is not worked on' });
  return {
    schema: 1,
    id: runIdOf(batch.id, plan.podUid, container),
    state: 'approved',
    origin: withoutSecret(batch.origin),
    request: requestsOf(batch)[container] ?? batch.request,
    commandLine: batch.commandLine,
    plan,
    ...defined({ planHash: batch.planHash, decision: batch.decision, approval: batch.approval }),
    partOf: batch.id,
    delivery: {},
  };
}

/** The same, when its container is in the pod already: it stands where a launch ends, and what follows is seen. */
export async function launchedPodRun(batch: BatchRun, place: PodSlot, deps: FlowDeps): Promise<PodRun> {
  const part = podRunOf(batch, place);
  const { plan } = part;
  const name = containerName(part.id, plan.podUid);
  const { launchedAtMs = deps.clock.now(), startedAtMs } = batch.batch.pods[place.index] ?? {};
  if (!(await holds(part, batch.rebuilt === true, deps))) return part;
  return {
    ...part,
    state: 'starting',
    containerName: name,
    notAfterMs: launchedAtMs + plan.startDeadlineMs,
    launchedAtMs,
    ...(startedAtMs !== undefined && { state: 'running', startedAtMs }),
  };
}

/** What another pod of a rebuilt batch was sent is not known to the letter any more; that it was by us is. */
async function holds(part: PodRun, isRebuilt: boolean, deps: FlowDeps): Promise<boolean> {
  const { plan } = part;
  const sent = fingerprintOf(launchRequestOf(part, plan, deps).container);
  try {
    const pod = await deps.clusters.get(plan.cluster).pod(plan.namespace, plan.podName);
    const held = pod.spec.ephemeralContainers.find((known) => isSealedFor(known, part, deps));
    return pod.metadata.uid === plan.podUid && held !== undefined && (isRebuilt || held.fingerprint === sent);
  } catch (thrown) {
    // A pod that is gone is told so by its launch.
    if (thrown instanceof KdebugError && thrown.code === 'pod_not_found') return false;
    throw thrown;
  }
}

export const heldPodRun = (run: Run, { clock }: Pick<FlowDeps, 'clock'>): HeldRun =>
  new HeldRun({ run, fence: 0 }, { clock, store: NO_STORE });
