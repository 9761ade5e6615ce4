import type { Plan } from '../../core/container/plan.ts';
import type { Pod } from '../../core/container/pod.ts';
import { kindOfTarget } from '../../core/container/profiles.ts';
import type { ClusterFacts } from '../../core/diagnosis/facts/facts.ts';
import type { Diagnosis } from '../../core/diagnosis/facts/report.ts';
import type { Verdict, VerdictFinding } from '../../core/diagnosis/facts/verdict.ts';
import { firstAnswer } from '../../core/diagnosis/first-answer.ts';
import { openInspector } from '../../core/diagnosis/images/open-inspector.ts';
import {
  believedReport,
  type ContainerOutput,
  lacksOnlyDiagnosticMark,
  withoutReport,
} from '../../core/diagnosis/marked-report.ts';
import { onceMoreVerdict } from '../../core/diagnosis/once-more-verdict.ts';
import { explanationOf, reportsDeath, verdictOf } from '../../core/diagnosis/report-verdict.ts';
import { tracedEndOf, wasEndedByTracer } from '../../core/diagnosis/traced-end.ts';
import { toKdebugError } from '../../core/errors.ts';
import { afterLook, afterNoLook, withLeftOpen } from '../../core/lookup/merge-verdicts.ts';
import type { Outcome } from '../../core/outcome.ts';
import { isDiagnostic } from '../../core/planning/resolve.ts';
import type { EndedRun } from '../../core/run/life-cycle.ts';
import type { Run, RunLog } from '../../core/run/run.ts';
import { sleep } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import { currentPod } from '../context/pod-room.ts';
import { readPodFacts } from '../first-answer/pod-facts.ts';
import { inTime } from '../first-answer/source.ts';
import { ownLogIn } from '../first-answer/target-logs.ts';
import type { LogReaders, ReadLog } from '../log/logs.ts';
import { shortLog } from '../log/short-log.ts';
import { orStopped } from './stop-end.ts';
import { orTargetEnded } from './target-end.ts';

/** One a second. */
const MAX_READS = 10;

/** Outcomes after which the log can no longer be read. */
const LOG_UNREACHABLE: ReadonlySet<Outcome['kind']> = new Set(['node-lost', 'pod-gone', 'no-status']);

/** Reads the rest of the log, then settles the outcome. After a crash it reads the log again. */
export async function collect(
  held: HeldRun,
  run: EndedRun,
  { deps, readers }: { readonly deps: FlowDeps; readonly readers: LogReaders },
): Promise<void> {
  const read = await readLog(run, readers);
  const report = await readTracedEnd(run, deps);
  const ended = await orStopped(held, await orTargetEnded(held, run, deps), deps);
  const outcome: Outcome = wasEndedByTracer(report, ended) ? { kind: 'timed-out' } : ended;
  const terminationMessage = run.termination?.message ?? '';
  // Batches report finding codes only; a full diagnosis would cost extra API calls for each of ten thousand pods.
  const logEnd = (read && (run.plan?.onceMore ? await shortLog(read) : read.end)) ?? '';
  const output = { logEnd, terminationMessage, termination: run.termination, outcome, ...defined({ report }) };
  const verdict = run.partOf === undefined ? await diagnose(run, output, deps) : undefined;
  await held.apply({
    kind: 'finished',
    outcome,
    ...defined({ log: read && shownLog(run, read.log, output, deps), verdict }),
    atMs: deps.clock.now(),
  });
}

/** The pod says whether the report is the tracer's, so one that cannot be read is read again. */
async function readTracedEnd({ id, plan, termination }: Run, deps: FlowDeps): Promise<Diagnosis | undefined> {
  if (!plan?.onceMore?.carrier) return undefined;
  for (let tries = 1; ; tries++) {
    try {
      const pod = await currentPod(plan, deps);
      return tracedEndOf({ plan, runId: id, termination, pod }, deps.policies.current().output.redact);
    } catch (thrown) {
      if (tries === MAX_READS) return undefined;
      deps.log.debug('pod not read for the report of a tracer', { runId: id, reason: toKdebugError(thrown).code });
      await sleep(deps.clock, 1_000);
    }
  }
}

async function readLog(run: EndedRun, readers: LogReaders): Promise<ReadLog | undefined> {
  const { kind } = run.outcome;
  const running = readers.of(run.id);
  if (!running) {
    const isLost = LOG_UNREACHABLE.has(kind) && !run.termination;
    return isLost ? undefined : (await readers.again(run))?.result;
  }
  // A timed-out container keeps running; its log is what it wrote so far.
  if (kind === 'timed-out' || LOG_UNREACHABLE.has(kind)) running.stop();
  else running.end();
  return running.result;
}

export interface CollectedOutput extends ContainerOutput {
  readonly outcome: Outcome;
  readonly termination: Run['termination'];
  /** Of the tracer of a second run. */
  readonly report?: Diagnosis;
}

/** Outcomes that the target's own state may explain without a report. */
const EXPLAINED: ReadonlySet<Outcome['kind']> = new Set(['target-ended', 'start-failed', 'no-status']);

/** Outcomes after which nobody may have closed what the image had opened in its target, which goes on. */
const CUT_OFF: ReadonlySet<Outcome['kind']> = new Set(['failed', 'oom-killed', 'timed-out', 'stopped']);

/**
 * The verdict of a run: its image's report, if trusted, merged with the API's facts about the pod and with the first
 * answer. Without a report, the first answer; where there was none, the facts alone if they explain the end. Otherwise
 * undefined, and the reply shows the plain output. Reads facts only for a report, or for an end that they may explain.
 * Never throws.
 */
export async function diagnose(run: Run, output: CollectedOutput, deps: FlowDeps): Promise<Verdict | undefined> {
  const { plan, verdict: first } = run;
  if (!plan) return undefined;
  return (await verdictOfSecondRun(run, output, deps)) ?? diagnosePlanned(run, output, { plan, first, deps });
}

async function verdictOfSecondRun(
  { plan, containerName }: Run,
  output: CollectedOutput,
  deps: FlowDeps,
): Promise<Verdict | undefined> {
  if (!plan?.onceMore) return undefined;
  const { onceMore, timeoutMs } = plan;
  // Unread, it says nothing; it is known to be gone only where the cluster says so.
  const read = await currentPod(plan, deps).then(
    (pod) => ({ pod, isPodGoing: !pod || pod.metadata.deletionTimestamp !== undefined }),
    () => ({ pod: undefined, isPodGoing: false }),
  );
  const watchedMs = onceMore.carrier?.endsAfterMs ?? timeoutMs;
  return onceMoreVerdict(onceMore, { ...output, containerName, timeoutMs: watchedMs, ...read });
}

interface Diagnosed {
  readonly plan: Plan;
  readonly first: Verdict | undefined;
  readonly deps: FlowDeps;
}

async function diagnosePlanned(
  run: Run,
  output: CollectedOutput,
  { plan, first, deps }: Diagnosed,
): Promise<Verdict | undefined> {
  const diagnosis = believedReport(plan, deps.policies.current(), output);
  if (!diagnosis && !EXPLAINED.has(output.outcome.kind)) {
    const answer = first && afterNoLook(first, output.outcome, undefined);
    const left = leftOpen(run, output, deps);
    return left ? withLeftOpen(answer, left) : answer;
  }
  const pod = await inTime(deps, currentPod(plan, deps));
  // The target's last words say why it ended, and a first answer from before may call it well.
  const withLogs = diagnosis ? reportsDeath(diagnosis) : output.outcome.kind === 'target-ended';
  const facts = pod && (await factsOf(pod, run, { deps, plan, withLogs }));
  if (!diagnosis) return unlooked(run, { plan, facts, outcome: output.outcome });
  if (pod) await learn(diagnosis, plan, { pod, deps });
  const verdict = verdictOf(diagnosis, plan, facts, deps.policies.current(), first);
  const looked = { ...verdict, ...defined({ ownLog: ownLogIn(facts ? [facts] : []) }) };
  return first ? afterLook(looked, first, plan.podName) : looked;
}

function leftOpen(
  { plan, termination, endedAtMs }: Run,
  { outcome, logEnd }: CollectedOutput,
  { policies, clock }: FlowDeps,
): VerdictFinding | undefined {
  if (!plan || !CUT_OFF.has(outcome.kind) || !isDiagnostic(plan, policies.current())) return undefined;
  const finishedAtMs = Date.parse(termination?.finishedAt ?? '');
  return openInspector(logEnd, Number.isFinite(finishedAtMs) ? finishedAtMs : (endedAtMs ?? clock.now()));
}

interface Unlooked {
  readonly plan: Plan;
  readonly facts: ClusterFacts | undefined;
  readonly outcome: Outcome;
}

function unlooked({ verdict: first }: Run, { plan, facts, outcome }: Unlooked): Verdict | undefined {
  if (facts && outcome.kind === 'target-ended') {
    // A run that was cut off is no success, also where the target has done its work.
    const { healthy: _, ...now } = firstAnswer(facts);
    const answer = { ...now, ...defined({ ownLog: ownLogIn([facts]) }) };
    return first ? afterLook(answer, first, plan.podName) : answer;
  }
  const explanation = facts && explanationOf(facts, plan, outcome);
  return first ? afterNoLook(first, outcome, explanation) : explanation;
}

function factsOf(
  pod: Pod,
  run: Run,
  { deps, plan, withLogs }: { readonly deps: FlowDeps; readonly plan: Plan; readonly withLogs: boolean },
): Promise<ClusterFacts> {
  const { containerName, launchedAtMs } = run;
  const { targetContainerName } = plan;
  const launch =
    containerName !== undefined && launchedAtMs !== undefined ? { containerName, launchedAtMs } : undefined;
  const cluster = deps.clusters.get(plan.cluster);
  const wanted = { cluster, targetContainerName, launch };
  if (!withLogs) return readPodFacts(pod, wanted, deps);
  const reader = { subject: run, cluster: plan.cluster };
  // The run has ended, and says so also without the words that the audit log could not record.
  return readPodFacts(pod, { ...wanted, reader }, deps).catch(() => readPodFacts(pod, wanted, deps));
}

/** Stores the target's user, so that the next run there uses it at once (profile *auto*). Never stores root. */
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
 * The log as a reply shows it, without the report that the verdict presents. An untrusted report stays as plain output,
 * marked if the policy could allow it.
 */
export function shownLog({ plan }: Run, log: RunLog, output: CollectedOutput, { policies }: FlowDeps): RunLog {
  if (!plan) return log;
  const policy = policies.current();
  if (believedReport(plan, policy, output)) return { ...log, ...withoutReport(log) };
  return lacksOnlyDiagnosticMark(plan, policy, output) ? { ...log, isReportUnbelieved: true } : log;
}
