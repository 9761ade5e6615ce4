import { KdebugError, toKdebugError } from '../../core/errors.ts';
import { asUserId } from '../../core/ids.ts';
import { GRANT_MS, GRANT_RUNS, type Grant, grantScope, grantTarget } from '../../core/policy/grant.ts';
import { isSamePerson } from '../../core/policy/identity.ts';
import type { PendingApproval, Vote, Voter } from '../../core/policy/vote.ts';
import type { Form } from '../../core/report/message.ts';
import type { Run } from '../../core/run/run.ts';
import { defined } from '../../lib/defined.ts';
import { own } from '../../lib/own-property.ts';
import type { FlowDeps } from '../deps.ts';
import type { AuditEntry } from '../ports/machine.ts';
import { isForGood } from '../reply/post-once.ts';

type Asked = Pick<FlowDeps, 'policies' | 'directory'>;

/**
 * Whether somebody is in one of these groups, by the policy as it is now. With `sinceMs`, what Slack said of the groups before that
 * moment does not count, and they must be a full member of the workspace still: so it is asked where a word of theirs decides.
 * @throws KdebugError what `Directory.members` and `inChannel` throw: nobody may anything then
 */
export async function isApprover(
  from: readonly string[],
  userId: string,
  { policies, directory }: Asked,
  sinceMs?: number,
): Promise<boolean> {
  const { approvers } = policies.current();
  const groups = from.flatMap((name) => own(approvers, name) ?? []);
  const channels = groups.flatMap(({ channel }) => channel ?? []);
  const isNamed = groups.some(({ users }) => users.some((member) => member === userId));
  const usergroups = groups.flatMap(({ usergroup }) => usergroup ?? []);
  const asked = isNamed
    ? []
    : [
        ...usergroups.map((usergroup) => directory.members(usergroup, sinceMs)),
        ...channels.map((channel) => inChannel(channel, directory, sinceMs)),
      ];
  // At the same time: whoever clicked is answered within Slack's three seconds.
  const [isThere, ...answers] = await Promise.all([
    sinceMs === undefined || isFullMember(userId, directory, sinceMs),
    ...asked.map(settled),
  ]);
  if (!isThere) return false;
  if (isNamed || answers.some((answer) => answer.status === 'fulfilled' && answer.value.has(userId))) return true;
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (failed) throw failed.reason;
  return false;
}

/**
 * Who is in a channel whose members may decide. @throws KdebugError approvers_channel_closed where the bot may not look, or there are
 * too many to be told apart: nobody there may anything then; what `Directory.channelMembers` throws for a while
 */
export async function inChannel(
  channel: string,
  directory: Pick<Asked['directory'], 'channelMembers'>,
  sinceMs?: number,
): Promise<ReadonlySet<string>> {
  try {
    return await directory.channelMembers(channel, sinceMs);
  } catch (thrown) {
    const { code } = toKdebugError(thrown);
    throw isForGood(code) ? new KdebugError('approvers_channel_closed', { detail: channel, cause: thrown }) : thrown;
  }
}

async function settled<Value>(answer: Promise<Value>): Promise<PromiseSettledResult<Value>> {
  const [result] = await Promise.allSettled([answer]);
  return result;
}

async function isFullMember(userId: string, directory: Asked['directory'], sinceMs: number): Promise<boolean> {
  try {
    return (await directory.person(userId, sinceMs)).kind === 'member';
  } catch (thrown) {
    if (thrown instanceof KdebugError && thrown.code === 'person_unknown') return false;
    throw thrown;
  }
}

/** Who voted and is in none of the groups any more. @throws as `isApprover` */
export async function lapsedVoters(
  { from, votes }: PendingApproval,
  asked: Asked,
  sinceMs?: number,
): Promise<readonly string[]> {
  const voters = votes.map(({ userId }) => userId);
  const still = await Promise.all(voters.map((userId) => isApprover(from, userId, asked, sinceMs)));
  return voters.filter((_, index) => still[index] !== true);
}

/** A vote as somebody gives it. */
export interface VoteInput {
  readonly action: 'approve' | 'approve-grant' | 'reject';
  readonly userId: string;
  readonly reason?: string;
}

/** A run that waits for votes. */
export type PendingRun = Run & { readonly approval: PendingApproval };

/** The vote with all that has to be looked up to judge it; with `sinceMs`, nothing that Slack said before that moment counts. */
export async function votedOf(run: PendingRun, given: VoteInput, deps: FlowDeps, sinceMs?: number) {
  const vote = voteOf(given, deps.clock.now());
  const [voter, lapsed] = await Promise.all([
    voterOf(run, given.userId, deps, sinceMs),
    vote.kind === 'approve' ? lapsedVoters(run.approval, deps, sinceMs) : [],
  ]);
  const grant = given.action === 'approve-grant' ? grantOf(run, given.userId, vote.atMs) : undefined;
  return { kind: 'voted', vote, voter, lapsed, ...defined({ grant }) } as const;
}

function voteOf({ action, userId, reason }: VoteInput, atMs: number): Vote {
  const kind = action === 'reject' ? 'reject' : 'approve';
  return { userId, kind, atMs, ...defined({ reason }) };
}

async function voterOf(run: PendingRun, userId: string, deps: FlowDeps, sinceMs?: number): Promise<Voter> {
  const { identity } = deps.policies.current();
  return {
    userId,
    isRequester: isSamePerson(identity, run.origin, userId),
    isAlso: (other) => isSamePerson(identity, { ...run.origin, requesterId: asUserId(other) }, userId),
    isApprover: await isApprover(run.approval.from, userId, deps, sinceMs),
  };
}

function grantOf({ plan, approval }: PendingRun, byUserId: string, atMs: number): Grant | undefined {
  if (!plan) return undefined;
  const scope = grantScope(plan);
  return { byUserId, rule: approval.rule, scope, expiresAtMs: atMs + GRANT_MS, maxRuns: GRANT_RUNS, uses: [] };
}

/** What exactly was granted, for the record. */
export function grantFacts({ grant, plan }: Run): AuditEntry['facts'] {
  if (!grant || !plan) return {};
  const { scope, maxRuns: grantRuns, expiresAtMs } = grant;
  const grantUntil = new Date(expiresAtMs).toISOString();
  return { grantTo: plan.requesterId, grantPlace: grantTarget(plan), grantScope: scope, grantRuns, grantUntil };
}

/** The form that asks for the reason of a vote. */
export const VOTE_REASON = 'vote-reason';

export const reasonForm = (run: Run, action: VoteInput['action']): Form => ({
  name: VOTE_REASON,
  value: `${action}:${run.id}`,
  title: action === 'reject' ? 'Reject' : 'Approve',
  submit: action === 'reject' ? 'Reject' : 'Approve',
  intro: `Run ${run.id}: /kdebug ${run.commandLine}`,
  fields: [
    {
      id: 'reason',
      label: 'Reason',
      kind: 'lines',
      optional: false,
      maxLength: 500,
      hint: 'It is shown on the card and kept.',
    },
  ],
});
