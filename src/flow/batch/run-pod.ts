import type { PodResult } from '../../core/batch/batch.ts';
import { plansOf, runIdOf } from '../../core/batch/new-batch.ts';
import { podResult } from '../../core/batch/pod-result.ts';
import { withFindings } from '../../core/compare/facts.ts';
import { containerName } from '../../core/container/build.ts';
import { fingerprintOf } from '../../core/container/fingerprint.ts';
import type { Plan } from '../../core/container/plan.ts';
import { believedReport } from '../../core/diagnosis/marked-report.ts';
import { KdebugError } from '../../core/errors.ts';
import type { Outcome } from '../../core/outcome.ts';
import { type BatchRun, isBatchRun, isFinal } from '../../core/run/life-cycle.ts';
import { withoutSecret } from '../../core/run/reference.ts';
import type { Run } from '../../core/run/run.ts';
import { folderOf, type PodFiles, podHead } from '../../core/say/batch/batch-files.ts';
import { logDoubt } from '../../core/say/parts/result-parts.ts';
import { defined } from '../../lib/object.ts';
import { conclude } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import { HeldRun } from '../context/held-run.ts';
import type { HeadOf } from '../log/batch-logs.ts';
import type { ReadLog } from '../log/logs.ts';
import { isSealedFor, launchRequestOf } from '../planning/launch-request.ts';
import { requestsOf } from '../planning/plan-batch.ts';
import { type AdvanceContext, advance } from '../run/pipeline.ts';
import type { HeldBatch } from './held-batch.ts';

export interface PodRunContext {
  readonly batch: HeldBatch;
  readonly slot: PodSlot;
  readonly podRun: HeldRun;
  readonly context: AdvanceContext;
}

/**
 * Takes one container of a batch through the stages of any run and reports its state to the batch. The container's own
 * end counts; its result is completed once its log is read. @throws KdebugError lease_lost if it was abandoned
 */
export async function runPod(work: PodRunContext): Promise<void> {
  const { batch, slot, podRun, context } = work;
  const { readers, batchLogs, deps } = context;
  const { index, container } = slot;
  const stop = podRun.onChange(() => reportState(work));
  try {
    await advance(podRun, context);
    const read = await readers.of(podRun.run.id)?.result;
    const files = read && (await filesOf(work, read));
    const result = resultOf(podRun.run, deps, read, files);
    batch.move({ kind: 'ended', index, container, result }, deps.clock.now());
    // Add it at once: an ended batch shares its file when all added logs are copied.
    if (read) await batchLogs.of(batch.run).add(slot, read.spool, (log) => headOf(batch, slot, log, files));
    await conclude(podRun.run, deps);
  } finally {
    stop();
    // Finish copying before the spool is removed.
    await batchLogs.copied(batch.run.id);
    await readers.forget(podRun.run.id);
  }
}

/** Before the batch can end, so that its archive is whole. */
async function filesOf({ batch, slot, context }: PodRunContext, read: ReadLog): Promise<PodFiles | undefined> {
  const { run } = batch;
  const { batchLogs, deps } = context;
  if (!isBatchRun(run) || read.log.files === undefined) return undefined;
  const folder = folderOf(run, slot.index, slot.container);
  return batchLogs.of(run).archive.add(folder, read, deps.clock.now());
}

export function headOf({ run }: HeldBatch, slot: PodSlot, log: Parameters<HeadOf>[0], files?: PodFiles): string {
  const { index, container } = slot;
  return isBatchRun(run) ? podHead(run, index, { container, ...log, ...defined({ files }) }) : '';
}

function reportState({ batch, slot, podRun, context }: PodRunContext): void {
  const { deps } = context;
  const { index, container } = slot;
  const { run } = podRun;
  const atMs = deps.clock.now();
  if (run.state === 'running') batch.move({ kind: 'started', index }, atMs);
  if (run.state !== 'collecting' || !run.termination) return;
  batch.move({ kind: 'ended', index, container, result: { ...resultOf(run, deps), reading: true } }, atMs);
}

/** The stored result of a container; partial while its log is being read. */
function resultOf(run: Run, { policies }: FlowDeps, read?: ReadLog, files?: PodFiles): PodResult {
  const { plan, termination, refusal, log } = run;
  const policy = policies.current();
  const written = { logEnd: read?.end ?? '', terminationMessage: termination?.message ?? '' };
  const diagnosis = plan && read && believedReport(plan, policy, written);
  return podResult({
    outcome: outcomeOf(run),
    ...defined({
      termination,
      message: refusal?.message,
      findings: diagnosis?.findings.map(({ code }) => code),
      verdict: diagnosis?.verdict,
      facts: run.compareKey === undefined || !diagnosis ? undefined : withFindings(diagnosis.facts, diagnosis.findings),
      logBytes: isFinal(run.state) && log ? log.bytes : undefined,
      logDoubt: isFinal(run.state) && log ? logDoubt(log.completeness) : undefined,
      files: files?.whole,
      filesMissing: files?.missing.length,
    }),
    redact: policy.output.redact,
  });
}

function outcomeOf({ outcome, refusal }: Run): Outcome {
  if (outcome) return outcome;
  return refusal ? { kind: 'denied', code: refusal.code } : { kind: 'internal', code: 'outcome_missing' };
}

/** One container of one pod, by their indexes in the batch. */
export interface PodSlot {
  readonly index: number;
  readonly container: number;
}

/** Pod runs are in no store: after a crash, the batch and the cluster have everything needed to continue. */
const NO_STORE = { save: () => Promise.resolve('saved' as const), release: () => Promise.resolve() };

export type PodRun = Run & { readonly plan: Plan };

/** The run of one container, ready to launch. Its id is derived, so every replica computes the same one. */
export function podRunOf(batch: BatchRun, { index, container }: PodSlot): PodRun {
  const plan = plansOf(batch.batch, index)[container];
  if (!plan) throw new KdebugError('internal_error', { detail: 'a skipped pod has no run' });
  return {
    schema: 1,
    id: runIdOf(batch.id, plan.podUid, container),
    state: 'approved',
    origin: withoutSecret(batch.origin),
    request: requestsOf(batch)[container] ?? batch.request,
    commandLine: batch.commandLine,
    plan,
    ...defined({
      planHash: batch.planHash,
      decision: batch.decision,
      approval: batch.approval,
      compareKey: batch.batch.comparison?.key,
    }),
    partOf: batch.id,
    delivery: {},
  };
}

/** The same run if its container is already in the pod: it continues after the launch. */
export async function launchedPodRun(batch: BatchRun, slot: PodSlot, deps: FlowDeps): Promise<PodRun> {
  const podRun = podRunOf(batch, slot);
  const { plan } = podRun;
  const name = containerName(podRun.id, plan.podUid);
  const { launchedAtMs = deps.clock.now(), startedAtMs } = batch.batch.pods[slot.index] ?? {};
  if (!(await hasContainer(podRun, batch.rebuilt === true, deps))) return podRun;
  return {
    ...podRun,
    state: startedAtMs === undefined ? 'starting' : 'running',
    containerName: name,
    notAfterMs: launchedAtMs + plan.startDeadlineMs,
    launchedAtMs,
    ...defined({ startedAtMs }),
  };
}

/** In a rebuilt batch the exact patch of other pods is unknown; only the seal proves that kdebug sent it. */
async function hasContainer(podRun: PodRun, isRebuilt: boolean, deps: FlowDeps): Promise<boolean> {
  const { plan } = podRun;
  const sent = fingerprintOf(launchRequestOf(podRun, plan, deps).container);
  try {
    const pod = await deps.clusters.get(plan.cluster).pod(plan.namespace, plan.podName);
    const ours = pod.spec.ephemeralContainers.find((known) => isSealedFor(known, podRun, deps));
    return pod.metadata.uid === plan.podUid && ours !== undefined && (isRebuilt || ours.fingerprint === sent);
  } catch (thrown) {
    // The launch reports a missing pod.
    if (thrown instanceof KdebugError && thrown.code === 'pod_not_found') return false;
    throw thrown;
  }
}

export const heldPodRun = (run: Run, { clock, metrics }: Pick<FlowDeps, 'clock' | 'metrics'>): HeldRun =>
  new HeldRun({ run, fence: 0 }, { clock, metrics, store: NO_STORE });
