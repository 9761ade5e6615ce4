import type { Plan } from '../core/container/plan.ts';
import { identityFor, subjectFor } from '../core/policy/identity.ts';
import { rulesFor } from '../core/policy/missing-rights.ts';
import { writeReference } from '../core/run/reference.ts';
import type { Refusal, Rehearsal, Run } from '../core/run/run.ts';
import { record } from './audit.ts';
import type { FlowDeps } from './deps.ts';
import { launchRequestOf } from './launch-request.ts';
import type { LaunchAnswer } from './ports/cluster.ts';
import { refusal } from './refusals.ts';

/**
 * Asks the cluster whether this person may do it: as themselves where the bot impersonates, else about the user that the policy
 * maps them to; who is not mapped acts with the bot's own rights, which the PATCH itself will meet. Fails closed by throwing.
 */
export async function accessProblem(run: Run, plan: Plan, deps: FlowDeps): Promise<Refusal | undefined> {
  const { identity } = deps.policies.current();
  const actingAs = identityFor(identity, run.origin);
  const subject = subjectFor(identity, run.origin.requesterId);
  if (!actingAs && !subject) return undefined;
  const answer = await deps.clusters.get(plan.cluster).access({
    namespace: plan.namespace,
    podName: plan.podName,
    ...(actingAs && { actingAs }),
    ...(subject && { subject }),
  });
  const user = actingAs?.user ?? subject?.user ?? '';
  await record(deps, run, 'access-review', {
    user,
    allowed: answer.kind === 'allowed',
    missing: answer.kind === 'denied' ? answer.missing.join(', ') : undefined,
  });
  if (answer.kind === 'allowed') return undefined;
  const words = `${user} may not ${answer.missing.join(', ')} in ${plan.namespace}`;
  const { code, message, hint } = refusal(
    'access_denied',
    answer.reason === '' ? words : `${words} (${answer.reason})`,
  );
  const rules = rulesFor(answer.missing).join(', ');
  return {
    code,
    message,
    hint: `${hint} A Role in ${plan.namespace} with the rules [${rules}], bound to ${user}, would do.`,
  };
}

/** A server-side dry run of the very patch: RBAC, Pod Security, webhooks and validation speak before a person is bothered. */
export async function rehearse(run: Run, plan: Plan, deps: FlowDeps): Promise<Rehearsal> {
  // The rehearsal's patch is seen by webhooks and audit logs: what it carries opens nowhere.
  const ref = deps.seal(writeReference(run, plan, deps.clock.now()), 'dry-run');
  const request = launchRequestOf({ ...run, ref }, plan, deps);
  const answer = await deps.clusters.get(plan.cluster).launch({ ...request, dryRun: true });
  const rehearsal = {
    accepted: answer.kind === 'launched',
    cluster: wordsOf(answer),
    patch: JSON.stringify(request.container, undefined, 2),
  };
  await record(deps, run, 'dry-run', { accepted: rehearsal.accepted, answer: answer.kind });
  return rehearsal;
}

function wordsOf(answer: LaunchAnswer): string {
  switch (answer.kind) {
    case 'launched':
      return 'The API server would take it.';
    case 'refused':
      return answer.message;
    case 'pod-gone':
      return 'The pod is gone.';
    case 'pod-replaced':
      return 'Another pod has that name now.';
    case 'unsupported':
      return 'This API server has no ephemeralcontainers subresource.';
  }
}
