import type { Plan } from '../../core/container/plan.ts';
import type { Pod } from '../../core/container/pod.ts';
import { kindOfTarget } from '../../core/container/profiles.ts';
import { outcomeOfTermination } from '../../core/container/status.ts';
import { TEMPLATE_HASH } from '../../core/diagnosis/cluster-findings.ts';
import type { ClusterFacts } from '../../core/diagnosis/look-at-cluster.ts';
import {
  believedReport,
  type ContainerOutput,
  lacksOnlyDiagnosticMark,
  withoutReport,
} from '../../core/diagnosis/marked-report.ts';
import type { Diagnosis } from '../../core/diagnosis/report.ts';
import { explanationOf, verdictOf } from '../../core/diagnosis/verdict.ts';
import { toKdebugError } from '../../core/errors.ts';
import type { EndedRun } from '../../core/run/life-cycle.ts';
import type { Outcome } from '../../core/run/outcome.ts';
import type { Run, RunLog, Verdict } from '../../core/run/run.ts';
import { withDeadline } from '../../lib/deadline.ts';
import { defined } from '../../lib/defined.ts';
import type { FlowDeps } from '../deps.ts';
import type { HeldRun } from '../held-run.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { LogReaders, ReadLog } from './logs.ts';

/** Outcomes of runs that cannot be read any more. */
const OUT_OF_REACH: ReadonlySet<Outcome['kind']> = new Set(['node-lost', 'pod-gone', 'no-status']);

/** Reads the rest of the log, then settles the outcome. Entered again after a crash, it reads the log anew. */
export async function collect(
  session: HeldRun,
  run: EndedRun,
  { deps, readers }: { readonly deps: FlowDeps; readonly readers: LogReaders },
): Promise<void> {
  const read = await readLog(run, readers);
  const outcome = await settle(run, run.outcome, deps);
  const terminationMessage = run.termination?.message ?? '';
  // Of a batch only the codes of the findings are told: nobody asks the API for more, ten thousand times.
  const left = { logEnd: read?.end ?? '', terminationMessage, outcome };
  const verdict = run.partOf === undefined ? await diagnose(run, left, deps) : undefined;
  await session.apply({
    kind: 'finished',
    outcome,
    ...defined({ log: read && shownLog(run, read.log, left, deps), verdict }),
    atMs: deps.clock.now(),
  });
}

async function readLog(run: EndedRun, readers: LogReaders): Promise<ReadLog | undefined> {
  const { kind } = run.outcome;
  const running = readers.of(run.id);
  if (!running) {
    const isLost = OUT_OF_REACH.has(kind) && !run.termination;
    return isLost ? undefined : (await readers.again(run))?.result;
  }
  // What timed out goes on in the cluster: what came so far is its log.
  if (kind === 'timed-out' || OUT_OF_REACH.has(kind)) running.stop();
  else running.end();
  return running.result;
}

/** The status of the target may come a moment after ours: with the log read, look once more. */
async function settle(run: Run, outcome: Outcome, deps: FlowDeps): Promise<Outcome> {
  const { plan, termination } = run;
  if (outcome.kind !== 'failed' || outcome.exitCode !== 137 || !plan || !termination) return outcome;
  try {
    const pod = await deps.clusters.get(plan.cluster).pod(plan.namespace, plan.podName);
    const same = pod.metadata.uid === plan.podUid ? pod : undefined;
    return outcomeOfTermination(same, termination, plan.targetContainerName);
  } catch {
    return outcome;
  }
}

/** What a run left behind. */
export interface CollectedOutput extends ContainerOutput {
  readonly outcome: Outcome;
}

/** How long the API is asked for what it knows besides: a verdict without it is better than a late one. */
const PATIENCE_MS = 2_000;
/** Ends without a report that the target's own state explains. */
const EXPLAINED: ReadonlySet<Outcome['kind']> = new Set(['target-ended', 'start-failed', 'no-status']);

/**
 * The verdict of a run: its image's report, where that is believed, together with what the API knows of the pod; without a report,
 * and where the target's own state explains the end, that alone; else undefined, and plain output stays as it is. The events and the node are asked
 * for only when there is a report. Never throws.
 */
export async function diagnose(run: Run, left: CollectedOutput, deps: FlowDeps): Promise<Verdict | undefined> {
  const { plan } = run;
  if (!plan) return undefined;
  const diagnosis = believedReport(plan, deps.policies.current(), left);
  if (!diagnosis && !EXPLAINED.has(left.outcome.kind)) return undefined;
  const pod = await inTime(deps, podOf(plan, deps));
  const facts = pod && (await factsOf(pod, run, { deps, plan, asks: diagnosis !== undefined }));
  if (!diagnosis) return facts && explanationOf(facts, plan, left.outcome);
  if (pod) await learn(diagnosis, plan, { pod, deps });
  return verdictOf(diagnosis, plan, facts);
}

async function podOf({ cluster, namespace, podName, podUid }: Plan, deps: FlowDeps): Promise<Pod | undefined> {
  const pod = await deps.clusters.get(cluster).pod(namespace, podName);
  return pod.metadata.uid === podUid ? pod : undefined;
}

async function factsOf(
  pod: Pod,
  { containerName, launchedAtMs }: Run,
  { deps, plan, asks }: { readonly deps: FlowDeps; readonly plan: Plan; readonly asks: boolean },
): Promise<ClusterFacts> {
  const cluster = deps.clusters.get(plan.cluster);
  const [siblings, events, node] = await Promise.all([
    inTime(deps, siblingsOf(pod, cluster)),
    asks ? inTime(deps, cluster.events(pod.metadata)) : undefined,
    asks && pod.spec.nodeName !== undefined ? inTime(deps, cluster.node(pod.spec.nodeName)) : undefined,
  ]);
  const { targetContainerName } = plan;
  const launch =
    containerName !== undefined && launchedAtMs !== undefined ? { containerName, launchedAtMs } : undefined;
  return { pod, targetContainerName, siblings: siblings ?? [], events, node, nowMs: deps.clock.now(), launch };
}

/** From the watch that is open anyway; a pod that no Deployment made has none. */
const siblingsOf = async (pod: Pod, cluster: Cluster): Promise<readonly Pod[]> =>
  TEMPLATE_HASH in pod.metadata.labels ? cluster.pods(pod.metadata.namespace, TEMPLATE_HASH) : [];

/** Undefined when it fails, or is not there in time: the verdict says what is missing. */
async function inTime<Value>(deps: FlowDeps, asked: Promise<Value>): Promise<Value | undefined> {
  const answered = asked.catch((thrown: unknown) => {
    deps.log.debug('left out of a verdict', { reason: toKdebugError(thrown).code });
    return undefined;
  });
  return withDeadline(deps.clock, PATIENCE_MS, answered, () => undefined);
}

/** The next run there has the right eyes at once (profile *auto*). Root needs no remembering. */
async function learn(
  { target, findings }: Diagnosis,
  { cluster, targetContainerName }: Plan,
  { pod, deps }: { readonly pod: Pod; readonly deps: FlowDeps },
): Promise<void> {
  const { effective = false, uid = 0, gid } = target ?? {};
  const kind = targetContainerName === undefined ? undefined : kindOfTarget(pod, targetContainerName, cluster);
  if (findings.some(({ code }) => code === 'target_unclear')) return;
  if (!effective || uid === 0 || gid === undefined || kind === undefined) return;
  await inTime(deps, deps.store.learn(kind, { uid, gid }));
}

/**
 * The log as a reply shows it: a report that the verdict tells is only in the file. One that is not believed is plain output, with
 * a note where the policy could say otherwise.
 */
export function shownLog({ plan }: Run, log: RunLog, left: CollectedOutput, { policies }: FlowDeps): RunLog {
  if (!plan) return log;
  const policy = policies.current();
  if (believedReport(plan, policy, left)) return { ...log, ...withoutReport(log) };
  return lacksOnlyDiagnosticMark(plan, policy, left) ? { ...log, isReportUnbelieved: true } : log;
}
