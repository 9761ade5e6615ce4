import { containerName } from '../../core/container/build.ts';
import { type Plan, planHash } from '../../core/container/plan.ts';
import { decide } from '../../core/policy/decide.ts';
import { asksTheSame, type Terms } from '../../core/policy/vote.ts';
import type { PlannedRun } from '../../core/run/life-cycle.ts';
import type { Outcome } from '../../core/run/outcome.ts';
import type { Refusal, Run } from '../../core/run/run.ts';
import { record } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import type { HeldRun } from '../held-run.ts';
import { refusal, refusalOfDecision } from '../inbox/refusals.ts';
import type { LaunchAnswer } from '../ports/cluster.ts';
import { isSealedFor, launchRequestOf, markOf } from './launch-request.ts';
import type { PodRoom } from './pod-room.ts';
import { accessProblem, unwanted } from './preflight.ts';

/** What stands against a launch at its very moment. */
export type CheckAtLaunch = (run: Run, plan: Plan, deps: FlowDeps) => Promise<Refusal | undefined>;

interface LaunchContext {
  readonly deps: FlowDeps;
  readonly room: PodRoom;
  readonly check?: CheckAtLaunch;
}

/**
 * Adds the run's ephemeral container, exactly once however often this stage is entered and by whom: what is sent is derived
 * from the run alone, and the API server refuses a second entry of that name (design, section 4.5). The PATCH is its own last
 * rehearsal: nothing is added when RBAC, Pod Security, a webhook or validation says no to it.
 */
export async function launch(
  session: HeldRun,
  { plan }: PlannedRun,
  { deps, room, check = problemNow }: LaunchContext,
): Promise<void> {
  if (session.run.state === 'approved') {
    const name = containerName(session.run.id, plan.podUid);
    const problem = (await check(session.run, plan, deps)) ?? (await room.take(plan, name));
    if (problem) {
      await record(deps, session.run, 'decision', {
        kind: 'deny',
        code: problem.code,
        rule: problem.rule,
        at: 'launch',
      });
      await session.apply({ kind: 'denied', refusal: problem, atMs: deps.clock.now() });
      return;
    }
  }
  // The state is stored before the request is sent: a crash in between is repeated, never forgotten.
  const run = await session.apply({ kind: 'launching', ...markOf(session.run, plan, deps) });
  // It was denied in this very moment: its card could be posted nowhere.
  if (run.state !== 'launching') return room.giveBack(plan, containerName(run.id, plan.podUid));
  await record(deps, run, 'patch', {
    cluster: plan.cluster,
    pod: `${plan.namespace}/${plan.podName}`,
    podUid: plan.podUid,
    container: run.containerName,
    image: plan.image,
    planHash: run.planHash,
  });
  const answer = await deps.clusters.get(plan.cluster).launch(launchRequestOf(run, plan, deps));
  const outcome = outcomeOf(answer) ?? strangerIn(answer, run, plan, deps);
  const atMs = deps.clock.now();
  if (outcome) {
    room.giveBack(plan, run.containerName ?? '');
    await session.apply({ kind: 'ended', outcome, atMs });
  } else await session.apply({ kind: 'launched', atMs });
}

/**
 * What has changed since the decision: the plan itself, the policy, who its approvers are, the cluster's rights, or too
 * much time has gone by. An approval stands only for the
 * terms on which it was asked for, and a grant that let the run through was counted then, so it is not asked again.
 */
async function problemNow(run: Run, plan: Plan, deps: FlowDeps): Promise<Refusal | undefined> {
  if (planHash(plan) !== run.planHash) return refusal('approval_changed');
  const decision = decide(plan, deps.policies.current());
  const terms = termsOf(run);
  const isAnswered = terms !== undefined && asksTheSame(decision, terms);
  if (decision.kind !== 'allow' && !isAnswered) return refusalOfDecision(decision);
  return (await unwanted(run, deps)) ?? accessProblem(run, plan, deps);
}

/** Of the approval that was given, or that a grant stands in for. */
function termsOf({ approval, grantedBy, decision }: Run): Terms | undefined {
  if (approval || grantedBy === undefined || decision?.kind !== 'needs-approval') return approval;
  return { ...decision.approval, rule: decision.rule };
}

/** Only we can seal what a container of ours carries: without it, somebody else took the name before us. */
function strangerIn(answer: LaunchAnswer, run: Run, plan: Plan, deps: FlowDeps): Outcome | undefined {
  const pod = answer.kind === 'launched' ? answer.pod : undefined;
  const isOurs = pod?.spec.ephemeralContainers.some((held) => isSealedFor(held, { ...run, plan }, deps));
  if (!pod || isOurs) return undefined;
  return {
    kind: 'refused',
    by: 'name-taken',
    message: 'the container of this name in the pod does not carry our seal',
  };
}

function outcomeOf(answer: LaunchAnswer): Outcome | undefined {
  switch (answer.kind) {
    case 'launched':
      return undefined;
    case 'refused':
      return { kind: 'refused', by: answer.by, message: answer.message };
    case 'pod-gone':
    case 'pod-replaced':
      return { kind: answer.kind };
    case 'unsupported':
      return {
        kind: 'refused',
        by: 'validation',
        message: 'This API server has no ephemeralcontainers subresource (Kubernetes 1.25 and newer have it).',
      };
  }
}
