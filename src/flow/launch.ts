import { buildEphemeralContainer, containerName } from '../core/container/build.ts';
import type { Plan } from '../core/container/plan.ts';
import { KdebugError } from '../core/errors.ts';
import { decide } from '../core/policy/decide.ts';
import { identityFor } from '../core/policy/identity.ts';
import type { Outcome } from '../core/run/outcome.ts';
import type { Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import type { LaunchAnswer } from './ports.ts';
import { refusalOfDecision } from './refusals.ts';
import type { RunSession } from './session.ts';

/**
 * Adds the run's ephemeral container, exactly once however often this stage is entered and by whom: what is sent is derived
 * from the run alone, and the API server refuses a second entry of that name (design, section 4.5).
 */
export async function launch(session: RunSession, deps: FlowDeps): Promise<void> {
  const { plan } = session.run;
  if (!plan) throw new KdebugError('internal_error', { detail: 'an approved run has no plan' });
  if (session.run.state === 'approved' && (await deniedNow(session, plan, deps))) return;
  // The state is stored before the request is sent: a crash in between is repeated, never forgotten.
  const run = await session.apply({ kind: 'launching', ...markOf(session.run, plan, deps) });
  const answer = await deps.clusters.get(plan.cluster).launch(requestOf(run, plan, deps));
  const outcome = outcomeOf(answer);
  const atMs = deps.clock.now();
  if (outcome) await session.apply({ kind: 'ended', outcome, atMs });
  else await session.apply({ kind: 'launched', atMs });
}

/** The policy may have changed since the decision: what is not allowed now is not launched. */
async function deniedNow(session: RunSession, plan: Plan, deps: FlowDeps): Promise<boolean> {
  const decision = decide(plan, deps.policies.current());
  if (decision.kind === 'allow') return false;
  await session.apply({ kind: 'denied', refusal: refusalOfDecision(decision), atMs: deps.clock.now() });
  return true;
}

function markOf(run: Run, plan: Plan, deps: FlowDeps): { containerName: string; notAfterMs: number; ref: string } {
  return {
    containerName: containerName(run.id, plan.podUid),
    notAfterMs: run.notAfterMs ?? deps.clock.now() + plan.startDeadlineMs,
    ref: run.ref ?? deps.seal(JSON.stringify({ channel: run.origin.channelId, thread: run.origin.threadTs })),
  };
}

function requestOf(run: Run, plan: Plan, deps: FlowDeps) {
  const actingAs = identityFor(deps.policies.current().identity, run.origin);
  return {
    pod: { namespace: plan.namespace, name: plan.podName, uid: plan.podUid },
    container: buildEphemeralContainer(plan, {
      runId: run.id,
      approverIds: [],
      notAfterMs: run.notAfterMs ?? 0,
      ref: run.ref ?? '',
    }),
    runId: run.id,
    ...(actingAs && { actingAs }),
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
