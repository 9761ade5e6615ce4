import type { EphemeralContainer } from '../../core/container/ephemeral-container.ts';
import type { Plan } from '../../core/container/plan.ts';
import { toKdebugError } from '../../core/errors.ts';
import { identityFor, isRefusedUnmapped, rulesFor, subjectFor } from '../../core/planning/identity.ts';
import { redactEnv, redactText, redactWords } from '../../core/redact/redact-text.ts';
import type { Refusal } from '../../core/request/origin.ts';
import { writeReference } from '../../core/run/reference.ts';
import type { Rehearsal, Run } from '../../core/run/run.ts';
import { defined } from '../../lib/object.ts';
import { type AuditSubject, record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import { launchProblem } from '../context/launch-words.ts';
import { refusal, refusalOfError } from '../context/refusals.ts';
import { lapsedVoters } from './approvers.ts';
import { channelProblem } from './channel-check.ts';
import { launchRequestOf } from './launch-request.ts';

/** The target of a rights check: one pod, or any pod of the namespace. */
export interface AccessTarget {
  readonly cluster: string;
  readonly namespace: string;
  readonly podName?: string;
}

/**
 * Checks this person's rights in the cluster: as themselves if the bot impersonates, else for the user that the policy
 * maps them to. `identity.unmapped` refuses an unmapped person, or lets them use the bot's own rights, which the PATCH
 * checks. Call it before reading the pod, so that nobody learns about a pod that the cluster denies them. Throws when
 * it cannot know.
 */
export async function accessProblem(
  run: AuditSubject,
  target: AccessTarget,
  deps: FlowDeps,
): Promise<Refusal | undefined> {
  const { identity } = deps.policies.current();
  if (isRefusedUnmapped(identity, run.origin.requesterId)) return refusal('identity_unmapped', run.origin.requesterId);
  const actingAs = identityFor(identity, run.origin);
  const subject = subjectFor(identity, run.origin.requesterId);
  if (!actingAs && !subject) return undefined;
  const answer = await deps.clusters.get(target.cluster).access({
    namespace: target.namespace,
    ...defined({ podName: target.podName, actingAs, subject }),
  });
  const user = actingAs?.user ?? subject?.user ?? '';
  await record(deps, run, 'access-review', {
    user,
    allowed: answer.kind === 'allowed',
    missing: answer.kind === 'denied' ? answer.missing.join(', ') : undefined,
  });
  if (answer.kind === 'allowed') return undefined;
  const words = `${user} may not ${answer.missing.join(', ')} in ${target.namespace}`;
  const { code, message, hint } = refusal(
    'access_denied',
    answer.reason === '' ? words : `${words} (${answer.reason})`,
  );
  const rules = rulesFor(answer.missing).join(', ');
  return {
    code,
    message,
    hint: `${hint} To grant it, bind ${user} to a Role in ${target.namespace} with these rules: [${rules}].`,
  };
}

/** Dry-runs the same patch on the server: RBAC, Pod Security, webhooks and validation answer before approvers do. */
export async function rehearse(run: Run, plan: Plan, deps: FlowDeps): Promise<Rehearsal> {
  // Webhooks and audit logs see this patch, so its seal opens for nothing.
  const ref = deps.seal(writeReference(run, plan, deps.clock.now()), 'dry-run');
  const request = launchRequestOf({ ...run, ref }, plan, deps);
  const answer = await deps.clusters.get(plan.cluster).launch({ ...request, dryRun: true });
  const rehearsal = {
    accepted: answer.kind === 'launched',
    cluster: launchProblem(answer) ?? 'The API server would accept it.',
    patch: shownPatch(request.container, deps.policies.current().output.redact),
  };
  await record(deps, run, 'dry-run', { accepted: rehearsal.accepted, answer: answer.kind });
  return rehearsal;
}

/** The patch without typed secrets. */
function shownPatch(container: EphemeralContainer, redact: readonly string[]): string {
  const { command, args, env } = container;
  const shown = {
    ...container,
    ...defined({ command: command && redactWords(command, redact), args: args && redactWords(args, redact) }),
    env: redactEnv(env, redact),
  };
  return redactText(JSON.stringify(shown, undefined, 2), redact);
}

type PreflightDeps = Pick<FlowDeps, 'policies' | 'directory' | 'clock' | 'log'>;

/** Nothing is launched while Slack rejects our token: nobody could be told of it. */
export const muteProblem = async ({ token }: Pick<FlowDeps, 'token'>): Promise<Refusal | undefined> =>
  (await token.confirm()) ? undefined : refusal('slack_token_rejected');

/** After downtime, requests and approvals older than `startDeadline` plus this are refused rather than started by surprise. */
const AWAY_MS = 15 * 60_000;

/**
 * Refuses the start of an earlier request that is too old, whose channel outsiders read now, or an approver of which
 * has left the group.
 */
export async function unwanted(run: Run, deps: PreflightDeps): Promise<Refusal | undefined> {
  return tooOld(run, deps) ?? (await channelProblem(run.origin, deps)) ?? problemOfVotes(run, deps);
}

/** Counts from the approval, if there is one, else from the request. A paused batch never becomes too old. */
export function tooOld(run: Run, { policies, clock }: PreflightDeps): Refusal | undefined {
  const { approval, approvedAtMs, origin, batch } = run;
  if (batch?.paused) return undefined;
  const wantedAtMs = (approval && approvedAtMs) ?? origin.receivedAtMs;
  const mostMs = policies.current().limits.startDeadlineMs + AWAY_MS;
  return clock.now() - wantedAtMs > mostMs ? refusal('request_too_old') : undefined;
}

/** Refuses when an approver has left the groups, or when their members are unknown. */
async function problemOfVotes({ approval }: Run, deps: PreflightDeps): Promise<Refusal | undefined> {
  try {
    const lapsed = approval ? await lapsedVoters(approval, deps) : [];
    return lapsed.length > 0 ? refusal('approver_left', undefined, approval?.rule) : undefined;
  } catch (thrown) {
    return refusalOfError(toKdebugError(thrown));
  }
}
