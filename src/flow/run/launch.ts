import { containerName } from '../../core/container/build.ts';
import { type Plan, planHash } from '../../core/container/plan.ts';
import type { Outcome } from '../../core/outcome.ts';
import { decide } from '../../core/planning/decide.ts';
import { asksTheSame, type Terms } from '../../core/planning/vote.ts';
import type { Refusal } from '../../core/request/origin.ts';
import type { PlannedRun } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { patchFacts, record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import { launchOutcome } from '../context/launch-words.ts';
import { currentPod, type PodRoom } from '../context/pod-room.ts';
import { refusal, refusalOfDecision } from '../context/refusals.ts';
import { isSealedFor, launchRequestOf, markOf } from '../planning/launch-request.ts';
import { accessProblem, muteProblem, unwanted } from '../planning/preflight.ts';
import type { LaunchResult } from '../ports/cluster.ts';
import { carryTracer } from './carrier.ts';
import { onceMoreProblem } from './once-more.ts';

/** The problem that forbids a launch right now, if any. */
export type CheckAtLaunch = (run: Run, plan: Plan, deps: FlowDeps) => Promise<Refusal | undefined>;

interface LaunchContext {
  readonly deps: FlowDeps;
  readonly room: PodRoom;
  readonly check?: CheckAtLaunch;
}

/**
 * Adds the run's ephemeral container exactly once, however often and by whichever replica this stage is entered: the
 * patch derives only from the run, and the API server refuses a second entry with that name (design, section 4.5). Adds
 * nothing if RBAC, Pod Security, a webhook or validation refuses the PATCH.
 */
export async function launch(
  held: HeldRun,
  { plan }: PlannedRun,
  { deps, room, check = problemNow }: LaunchContext,
): Promise<void> {
  if (held.run.state === 'approved') {
    const name = containerName(held.run.id, plan.podUid);
    const problem =
      (await muteProblem(deps)) ?? (await check(held.run, plan, deps)) ?? (await room.reserve(plan, name));
    if (problem) {
      await record(deps, held.run, 'decision', {
        kind: 'deny',
        code: problem.code,
        rule: problem.rule,
        at: 'launch',
      });
      await held.apply({ kind: 'denied', refusal: problem, atMs: deps.clock.now() });
      return;
    }
  } else {
    const problem = await problemOfRepeat(held.run, plan, { deps, check });
    if (problem) {
      room.release(plan, containerName(held.run.id, plan.podUid));
      await held.apply({ kind: 'ended', outcome: notStarted(problem), atMs: deps.clock.now() });
      return;
    }
  }
  // Save the state before sending the request, so a crash in between repeats the launch and never forgets it.
  const run = await held.apply({ kind: 'launching', ...markOf(held.run, plan, deps) });
  // The run was denied meanwhile, because Slack refused its card everywhere.
  if (run.state !== 'launching') return room.release(plan, containerName(run.id, plan.podUid));
  const outcome =
    (await carryTracer(held, plan, deps)) ??
    (await changedMeanwhile(run, plan, { deps, check })) ??
    (await send(run, plan, deps));
  const atMs = deps.clock.now();
  if (outcome) {
    room.release(plan, run.containerName ?? '');
    await held.apply({ kind: 'ended', outcome, atMs });
  } else await held.apply({ kind: 'launched', atMs });
}

const notStarted = ({ code, message }: Refusal): Outcome => ({ kind: 'start-failed', reason: code, message });

/** The container that brings a tracer may take a minute, so everything is asked again behind it. */
async function changedMeanwhile(
  run: Run,
  plan: Plan,
  { deps, check }: Required<Pick<LaunchContext, 'deps' | 'check'>>,
): Promise<Outcome | undefined> {
  if (!plan.onceMore?.carrier) return undefined;
  const problem = (await muteProblem(deps)) ?? (await problemOfRepeat(run, plan, { deps, check }));
  return problem && notStarted(problem);
}

/** Why its container is not in the pod. */
async function send(run: Run, plan: Plan, deps: FlowDeps): Promise<Outcome | undefined> {
  const container = { name: run.containerName, image: plan.image };
  await record(deps, run, 'patch', { ...patchFacts(plan, container), planHash: run.planHash });
  const answer = await deps.clusters.get(plan.cluster).launch(launchRequestOf(run, plan, deps));
  return launchOutcome(answer) ?? nameConflict(answer, run, plan, deps);
}

/**
 * Checks for a change since the decision: the plan, the policy, the approvers, the cluster's rights, or too much time
 * has passed. An approval holds only for the terms of its request. A grant's use was counted when it let the run
 * through, so it is not checked again.
 */
async function problemNow(run: Run, plan: Plan, deps: FlowDeps): Promise<Refusal | undefined> {
  if (planHash(plan) !== run.planHash) return refusal('approval_changed');
  const decision = decide(plan, deps.policies.current());
  const terms = termsOf(run);
  const isAnswered = terms !== undefined && asksTheSame(decision, terms);
  if (decision.kind !== 'allow' && !isAnswered) return refusalOfDecision(decision);
  return (await unwanted(run, deps)) ?? (await accessProblem(run, plan, deps)) ?? onceMoreProblem(run, plan, deps);
}

/**
 * Other containers refuse by themselves to begin too late (`KDEBUG_NOT_AFTER`); the program of a second run does not know it. So where its PATCH
 * was sent before and has not arrived, everything is asked again.
 */
async function problemOfRepeat(
  run: Run,
  plan: Plan,
  { deps, check }: Required<Pick<LaunchContext, 'deps' | 'check'>>,
): Promise<Refusal | undefined> {
  if (!plan.onceMore) return undefined;
  const pod = await currentPod(plan, deps);
  if (!pod || pod.spec.ephemeralContainers.some(({ name }) => name === run.containerName)) return undefined;
  return deps.clock.now() > (run.notAfterMs ?? 0) ? refusal('request_too_old') : check(run, plan, deps);
}

/** The terms of the approval, or of the one that a grant replaces. */
function termsOf({ approval, grantedBy, decision }: Run): Terms | undefined {
  if (approval || grantedBy === undefined || decision?.kind !== 'needs-approval') return approval;
  return { ...decision.approval, rule: decision.rule };
}

/** Only kdebug can seal the text in its containers: without the seal, somebody else used the name first. */
function nameConflict(answer: LaunchResult, run: Run, plan: Plan, deps: FlowDeps): Outcome | undefined {
  const pod = answer.kind === 'launched' ? answer.pod : undefined;
  const isOurs = pod?.spec.ephemeralContainers.some((held) => isSealedFor(held, { ...run, plan }, deps));
  if (!pod || isOurs) return undefined;
  return {
    kind: 'refused',
    by: 'name-taken',
    message: 'the container of this name in the pod does not carry kdebug’s seal',
  };
}
