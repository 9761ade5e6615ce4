import { KdebugError, toKdebugError } from '../../core/errors.ts';
import { asUserId } from '../../core/ids.ts';
import { GRANT_MS, GRANT_RUNS, type Grant, grantScope, grantTarget } from '../../core/planning/grant.ts';
import { isSamePerson } from '../../core/planning/identity.ts';
import type { PendingApproval, Vote, Voter } from '../../core/planning/vote.ts';
import { type ApproverGroup, DIRECT } from '../../core/policy/policy.ts';
import type { Run } from '../../core/run/run.ts';
import type { Form } from '../../core/say/message/message.ts';
import { COMMAND } from '../../core/shown-names.ts';
import { defined, own } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { isForGood } from '../context/post-once.ts';
import type { Directory, HowFresh } from '../ports/directory.ts';
import type { AuditEntry } from '../ports/machine.ts';

type Deps = Pick<FlowDeps, 'policies' | 'directory'>;

/**
 * True if a person is in one of these groups, by the current policy. With a moment, ignores older answers of Slack, and
 * the person must still be a full member of the workspace: use it where their vote decides. With `shown`, only to show
 * something.
 * @throws KdebugError what `Directory.members` and `inChannel` throw: then nobody counts as approver
 */
export async function isApprover(
  from: readonly string[],
  userId: string,
  { policies, directory }: Deps,
  howFresh?: HowFresh,
): Promise<boolean> {
  const { approvers } = policies.current();
  const groups = from.flatMap((name) => own(approvers, name) ?? []);
  return isInGroups(groups, userId, directory, howFresh);
}

/**
 * Only for showing the groups of a person. Undefined: kdebug may not read the members of the group's channel.
 * @throws KdebugError as `isApprover`, so that an unreadable group never grants access
 */
export async function isInGroup(name: string, userId: string, deps: Deps): Promise<boolean | undefined> {
  try {
    return await isApprover([name], userId, deps, 'shown');
  } catch (thrown) {
    if (toKdebugError(thrown).code !== 'approvers_channel_closed') throw thrown;
    return undefined;
  }
}

/**
 * The current policy decides who may use kdebug in a direct message. Without an entry `direct`, nobody may.
 * @throws KdebugError as `isApprover`
 */
export async function mayUseDirect(userId: string, { policies, directory }: Deps): Promise<boolean> {
  const members = own(policies.current().channels, DIRECT)?.members;
  return members !== undefined && isInGroups([members], userId, directory);
}

async function isInGroups(
  groups: readonly ApproverGroup[],
  userId: string,
  directory: Directory,
  howFresh?: HowFresh,
): Promise<boolean> {
  const channels = groups.flatMap(({ channel }) => channel ?? []);
  const isNamed = groups.some(({ users }) => users.some((member) => member === userId));
  const usergroups = groups.flatMap(({ usergroup }) => usergroup ?? []);
  const lookups = isNamed
    ? []
    : [
        ...usergroups.map((usergroup) => directory.members(usergroup, howFresh)),
        ...channels.map((channel) => inChannel(channel, directory, howFresh)),
      ];
  // In parallel: Slack waits three seconds for the answer to a click.
  const [isThere, ...answers] = await Promise.all([
    typeof howFresh !== 'number' || isFullMember(userId, directory, howFresh),
    ...lookups.map(settled),
  ]);
  if (!isThere) return false;
  if (isNamed || answers.some((answer) => answer.status === 'fulfilled' && answer.value.has(userId))) return true;
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (failed) throw failed.reason;
  return false;
}

/**
 * The members of an approvers' channel. @throws KdebugError approvers_channel_closed if the bot may not read them or there are too many:
 * then nobody there is an approver; temporarily, what `Directory.channelMembers` throws
 */
export async function inChannel(
  channel: string,
  directory: Pick<Directory, 'channelMembers'>,
  howFresh?: HowFresh,
): Promise<ReadonlySet<string>> {
  try {
    return await directory.channelMembers(channel, howFresh);
  } catch (thrown) {
    const { code } = toKdebugError(thrown);
    throw isForGood(code) ? new KdebugError('approvers_channel_closed', { detail: channel, cause: thrown }) : thrown;
  }
}

async function settled<Value>(answer: Promise<Value>): Promise<PromiseSettledResult<Value>> {
  const [result] = await Promise.allSettled([answer]);
  return result;
}

async function isFullMember(userId: string, directory: Directory, sinceMs: number): Promise<boolean> {
  try {
    return (await directory.person(userId, sinceMs)).kind === 'member';
  } catch (thrown) {
    if (thrown instanceof KdebugError && thrown.code === 'person_unknown') return false;
    throw thrown;
  }
}

/** The voters who have left all the groups. @throws as `isApprover` */
export async function lapsedVoters(
  { from, votes }: PendingApproval,
  deps: Deps,
  sinceMs?: number,
): Promise<readonly string[]> {
  const voters = votes.map(({ userId }) => userId);
  const still = await Promise.all(voters.map((userId) => isApprover(from, userId, deps, sinceMs)));
  return voters.filter((_, index) => still[index] !== true);
}

export interface VoteInput {
  readonly action: 'approve' | 'approve-grant' | 'reject';
  readonly userId: string;
  readonly reason?: string;
}

export type PendingRun = Run & { readonly approval: PendingApproval };

/** With `sinceMs`, ignores older cached answers of Slack. */
export async function votedOf(run: PendingRun, input: VoteInput, deps: FlowDeps, sinceMs?: number) {
  const vote = voteOf(input, deps.clock.now());
  const [voter, lapsed] = await Promise.all([
    voterOf(run, input.userId, deps, sinceMs),
    vote.kind === 'approve' ? lapsedVoters(run.approval, deps, sinceMs) : [],
  ]);
  const grant = input.action === 'approve-grant' ? grantOf(run, input.userId, vote.atMs) : undefined;
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

export function grantFacts({ grant, plan }: Run): AuditEntry['facts'] {
  if (!grant || !plan) return {};
  const { scope, maxRuns: grantRuns, expiresAtMs } = grant;
  const grantUntil = new Date(expiresAtMs).toISOString();
  return { grantTo: plan.requesterId, grantPlace: grantTarget(plan), grantScope: scope, grantRuns, grantUntil };
}

/** One field: a reason, which approvers see. */
const reasonForm = ({ label, ...form }: Omit<Form, 'fields'> & { readonly label: string }): Form => ({
  ...form,
  fields: [
    {
      id: 'reason',
      label,
      kind: 'lines',
      optional: false,
      maxLength: 500,
      hint: 'It is shown on the card and goes into the audit log.',
    },
  ],
});

export function voteForm(run: Run, action: VoteInput['action']): Form {
  const verb = action === 'reject' ? 'Reject' : 'Approve';
  return reasonForm({
    name: 'vote-reason',
    value: `${action}:${run.id}`,
    title: verb,
    submit: verb,
    intro: `Run ${run.id}: ${COMMAND} ${run.commandLine}`,
    label: 'Reason',
  });
}
