import type { EphemeralContainer } from '../../core/container/ephemeral-container.ts';
import type { Plan } from '../../core/container/plan.ts';
import { toKdebugError } from '../../core/errors.ts';
import { identityFor, isRefusedUnmapped, rulesFor, subjectFor } from '../../core/policy/identity.ts';
import { redactEnv, redactText, redactWords } from '../../core/report/log/redact-text.ts';
import { writeReference } from '../../core/run/reference.ts';
import type { Refusal, Rehearsal, Run } from '../../core/run/run.ts';
import { defined } from '../../lib/defined.ts';
import { lapsedVoters } from '../approval/approvers.ts';
import { type AuditSubject, record } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import { refusal, refusalOfError } from '../inbox/refusals.ts';
import type { LaunchAnswer } from '../ports/cluster.ts';
import { channelProblem } from '../reply/slack-connect.ts';
import { launchRequestOf } from './launch-request.ts';

/** Where somebody wants to debug: one pod, or any pod of the namespace. */
export interface AccessTarget {
  readonly cluster: string;
  readonly namespace: string;
  readonly podName?: string;
}

/**
 * Asks the cluster whether this person may do it: as themselves where the bot impersonates, else about the user that the policy
 * maps them to. Who is not mapped is refused, or acts with the bot's own rights, which the PATCH itself will meet: as
 * `identity.unmapped` says. It is asked before the pod is read, so that nobody learns of a pod what the cluster denies them to get.
 * Fails closed by throwing.
 */
export async function accessProblem(
  run: AuditSubject,
  place: AccessTarget,
  deps: FlowDeps,
): Promise<Refusal | undefined> {
  const { identity } = deps.policies.current();
  if (isRefusedUnmapped(identity, run.origin.requesterId)) return refusal('identity_unmapped', run.origin.requesterId);
  const actingAs = identityFor(identity, run.origin);
  const subject = subjectFor(identity, run.origin.requesterId);
  if (!actingAs && !subject) return undefined;
  const answer = await deps.clusters.get(place.cluster).access({
    namespace: place.namespace,
    ...defined({ podName: place.podName, actingAs, subject }),
  });
  const user = actingAs?.user ?? subject?.user ?? '';
  await record(deps, run, 'access-review', {
    user,
    allowed: answer.kind === 'allowed',
    missing: answer.kind === 'denied' ? answer.missing.join(', ') : undefined,
  });
  if (answer.kind === 'allowed') return undefined;
  const words = `${user} may not ${answer.missing.join(', ')} in ${place.namespace}`;
  const { code, message, hint } = refusal(
    'access_denied',
    answer.reason === '' ? words : `${words} (${answer.reason})`,
  );
  const rules = rulesFor(answer.missing).join(', ');
  return {
    code,
    message,
    hint: `${hint} A Role in ${place.namespace} with the rules [${rules}], bound to ${user}, would do.`,
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
    patch: shownPatch(request.container, deps.policies.current().output.redact),
  };
  await record(deps, run, 'dry-run', { accepted: rehearsal.accepted, answer: answer.kind });
  return rehearsal;
}

/** What would be sent, without the secrets that were typed. */
function shownPatch(container: EphemeralContainer, redact: readonly string[]): string {
  const { command, args, env } = container;
  const shown = {
    ...container,
    ...defined({ command: command && redactWords(command, redact), args: args && redactWords(args, redact) }),
    env: redactEnv(env, redact),
  };
  return redactText(JSON.stringify(shown, undefined, 2), redact);
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

type Asked = Pick<FlowDeps, 'policies' | 'directory' | 'clock' | 'log'>;

/** How long kdebug may have been away, beyond the time for a start: nobody expects any more what they asked for before that. */
const AWAY_MS = 15 * 60_000;

/** What stands against beginning what people wanted once: it was too long ago, outsiders read its channel now, or who approved it may not any more. */
export async function unwanted(run: Run, asked: Asked): Promise<Refusal | undefined> {
  return tooOld(run, asked) ?? (await channelProblem(run.origin, asked)) ?? problemOfVotes(run, asked);
}

/** That the request, or the approval as the later word, was too long ago. A batch that is paused waits for people however long. */
export function tooOld(run: Run, { policies, clock }: Asked): Refusal | undefined {
  const { approval, approvedAtMs, origin, batch } = run;
  if (batch?.paused) return undefined;
  const wantedAtMs = (approval && approvedAtMs) ?? origin.receivedAtMs;
  const mostMs = policies.current().limits.startDeadlineMs + AWAY_MS;
  return clock.now() - wantedAtMs > mostMs ? refusal('request_too_old') : undefined;
}

/** That who approved it has left the groups, or that nobody can say who is in them. */
async function problemOfVotes({ approval }: Run, asked: Asked): Promise<Refusal | undefined> {
  try {
    const lapsed = approval ? await lapsedVoters(approval, asked) : [];
    return lapsed.length > 0 ? refusal('approver_left', undefined, approval?.rule) : undefined;
  } catch (thrown) {
    return refusalOfError(toKdebugError(thrown));
  }
}
