import { formatCount, formatDuration } from '../../../lib/duration.ts';
import { own } from '../../../lib/object.ts';
import { shorten } from '../../../lib/text.ts';
import type { Plan } from '../../container/plan.ts';
import { GRANT_MS, GRANT_RUNS, grantTarget, isActive, mayGrant } from '../../policy/grant.ts';
import type { ApproverGroup } from '../../policy/policy.ts';
import type { Vote } from '../../policy/vote.ts';
import type { Run } from '../../run/run.ts';
import type { SentCopies } from '../../run/sent-copies.ts';
import {
  type Button,
  channel,
  code,
  type Fact,
  type Message,
  type Part,
  person,
  type Span,
  strong,
  text,
  time,
  usergroup,
} from '../message.ts';
import { typedText } from '../typed-text.ts';

/** The people who may decide, by the policy's group names. */
export type Approvers = Readonly<Record<string, ApproverGroup>>;

/** What a run's card shows of its approval: who may decide and until when, the votes, the grant, and the buttons. */
export function approvalParts(run: Run, approvers: Approvers, nowMs: number): readonly Part[] {
  return [
    ...pendingPart(run, approvers),
    ...copiesPart(run),
    ...votesPart(run),
    ...grantPart(run, nowMs),
    ...buttonsPart(run, nowMs),
  ];
}

function pendingPart(run: Run, approvers: Approvers): readonly Part[] {
  const { approval } = run;
  if (run.state !== 'pending-approval' || !approval) return [];
  const facts: Fact[] = [
    {
      label: 'Approvers',
      value: [text(`any ${approval.count} of `), ...approval.from.flatMap((name) => groupSpans(name, approvers))],
    },
    { label: 'Expires', value: [time(approval.expiresAtMs)] },
    { label: 'Rule', value: [code(approval.rule)] },
    // The hash under which the audit log records the vote and the launch.
    ...(run.planHash === undefined ? [] : [{ label: 'Plan', value: [code(run.planHash.slice(0, 12))] }]),
  ];
  return [{ kind: 'facts', facts }];
}

function groupSpans(name: string, approvers: Approvers): readonly Span[] {
  const group = own(approvers, name);
  const named: readonly Span[] = group?.usergroup === undefined ? [] : [usergroup(group.usergroup), text(' ')];
  const members: readonly Span[] =
    group?.channel === undefined ? [] : [text('the members of '), channel(group.channel), text(' ')];
  return [...named, ...members, ...(group?.users ?? []).flatMap((userId) => [person(userId), text(' ')])];
}

/** Who voted what, when and why. */
export function votesPart({ approval }: Run): readonly Part[] {
  if (!approval || approval.votes.length === 0) return [];
  return [{ kind: 'list', items: approval.votes.map(voteSpans) }];
}

const voteSpans = ({ userId, kind, reason, atMs }: Vote): readonly Span[] => [
  strong(kind === 'approve' ? 'Approved' : 'Rejected'),
  text(' by '),
  person(userId),
  text(', '),
  time(atMs),
  ...(reason === undefined ? [] : [text(': '), ...typedText(reason)]),
];

function grantPart({ grant, grantedBy, plan, origin }: Run, nowMs: number): readonly Part[] {
  const through: readonly Part[] =
    grantedBy === undefined ? [] : [{ kind: 'note', spans: [text(`Approved by the grant of run ${grantedBy}`)] }];
  if (!grant || !plan) return through;
  const used = `${grant.uses.length} of ${grant.maxRuns} used`;
  const state: readonly Span[] = isActive(grant, nowMs)
    ? [text(', until '), time(grant.expiresAtMs)]
    : grant.endedBy === undefined
      ? [text(', ended')]
      : [text(', ended by '), person(grant.endedBy)];
  const scope = ` may repeat this exact command in ${grantTarget(plan)}: `;
  return [...through, { kind: 'paragraph', spans: [person(origin.requesterId), text(scope), strong(used), ...state] }];
}

function buttonsPart(run: Run, nowMs: number): readonly Part[] {
  if (run.state === 'pending-approval') {
    const buttons: readonly Button[] = [
      { action: 'approve', label: 'Approve', value: run.id, style: 'primary' },
      ...grantButton(run),
      { action: 'reject', label: 'Reject', value: run.id, style: 'danger' },
      { action: 'cancel', label: 'Withdraw request', value: run.id },
    ];
    return [{ kind: 'actions', buttons }];
  }
  if (!run.grant || !run.plan || !isActive(run.grant, nowMs)) return [];
  return [{ kind: 'actions', buttons: [endButton(run.id, run.plan)] }];
}

/** Slack leaves 300 characters for the text of a dialog; a workload's name may have 253. */
const MAX_TARGET_LENGTH = 120;
const shownTarget = (plan: Plan): string => shorten(grantTarget(plan), MAX_TARGET_LENGTH);

/**
 * Grants are only for single runs, and only where the rule lets one approver give them. The dialog says exactly what is
 * granted.
 */
function grantButton({ id: value, batch, plan, approval }: Run): readonly Button[] {
  if (batch || !plan || !approval || !mayGrant(approval)) return [];
  const times = `up to ${GRANT_RUNS} times within ${formatDuration(GRANT_MS)}`;
  const label = `Approve for ${formatDuration(GRANT_MS)}`;
  const confirm = {
    title: `${label}?`,
    text: `The requester, and nobody else, may repeat this exact command in ${shownTarget(plan)}, ${times}, without another approval.`,
    yes: label,
    no: 'Go back',
  };
  return [{ action: 'approve-grant', label, value, confirm }];
}

const endButton = (value: string, plan: Plan): Button => ({
  action: 'end-grant',
  label: 'End the grant',
  value,
  style: 'danger',
  confirm: {
    title: 'End the grant?',
    text: `The requester will need an approval again to repeat this in ${shownTarget(plan)}. Containers already running continue.`,
    yes: 'End the grant',
    no: 'Go back',
  },
});

/** Of several approvals that the rule wants, some may have come. */
export function whyExpired(approval: Run['approval']): string {
  const approved = (approval?.votes ?? []).filter(({ kind }) => kind === 'approve').length;
  return approved === 0 ? 'nobody approved it in time' : `${approved} of ${approval?.count} approvals came in time`;
}

/** The reply to a request that was rejected, withdrawn or expired, for its requester. */
export function decisionMessage(run: Run): Message {
  const last = run.approval?.votes.at(-1);
  const requester = person(run.origin.requesterId);
  const why: readonly Span[] = last?.reason === undefined ? [] : [text(': '), ...typedText(last.reason)];
  const spans: readonly Span[] =
    run.state === 'rejected' && last
      ? [requester, text(', your request was rejected by '), person(last.userId), ...why]
      : run.state === 'cancelled'
        ? [person(withdrawnBy(run)), text(' withdrew this request. Nothing was started.')]
        : [
            requester,
            text(`, your request expired: ${whyExpired(run.approval)}. Send it again when an approver is around.`),
          ];
  const words = { rejected: 'Rejected', cancelled: 'Withdrawn' } as Readonly<Record<string, string>>;
  return {
    summary: `${words[run.state] ?? 'Expired'}: /kdebug ${run.commandLine}`,
    tone: run.state === 'rejected' ? 'failure' : 'attention',
    parts: [
      { kind: 'paragraph', spans },
      { kind: 'note', spans: [text(`Run ${run.id}`)] },
    ],
  };
}

/** An approver may stop a run that is not launched yet. */
const withdrawnBy = ({ outcome, origin }: Run): string =>
  outcome?.kind === 'cancelled' ? outcome.by : origin.requesterId;

/**
 * What the card says about approvers asked in other channels: how many, where, and who could not be reached. Nothing
 * until all copies are posted.
 */
function copiesPart({ state, asked: sentCopies }: Run): readonly Part[] {
  if (state !== 'pending-approval' || !sentCopies || sentCopies.waiting.some(({ kind }) => kind === 'copy')) return [];
  const sentences = [directSpans(sentCopies), shownSpans(sentCopies), notShownSpans(sentCopies)].filter(
    ({ length }) => length > 0,
  );
  const spans = sentences.flatMap((sentence, index) => (index === 0 ? sentence : [text(' '), ...sentence]));
  return spans.length === 0 ? [] : [{ kind: 'note', spans }];
}

function directSpans({ copies, beyond = 0, unreached = 0 }: SentCopies): readonly Span[] {
  const direct = copies.filter(({ userId }) => userId !== undefined).length;
  const sentences = [
    ...(direct > 0 ? [`Also sent to ${formatCount(direct, 'approver')} in a direct message.`] : []),
    ...(beyond > 0 ? [`Not sent to ${formatCount(beyond, 'more approver')}: tell one of them yourself.`] : []),
    ...(unreached > 0 ? [`${formatCount(unreached, 'approver')} could not be reached.`] : []),
  ];
  return sentences.length === 0 ? [] : [text(sentences.join(' '))];
}

function shownSpans({ copies }: SentCopies): readonly Span[] {
  const shown = copies.filter(({ userId, isReminder }) => userId === undefined && !isReminder);
  return shown.flatMap(({ channelId }) => [text('Also shown in '), channel(channelId), text('.')]);
}

const notShownSpans = ({ closed = [] }: SentCopies): readonly Span[] =>
  closed.flatMap((channelId) => [
    text('Its approvers in '),
    channel(channelId),
    text(' do not see this: type /invite @kdebug there, unless it is shared with another company.'),
  ]);
