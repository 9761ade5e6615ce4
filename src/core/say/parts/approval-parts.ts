import { formatCount, formatDuration } from '../../../lib/duration.ts';
import { own } from '../../../lib/object.ts';
import { shorten } from '../../../lib/text.ts';
import type { Plan } from '../../container/plan.ts';
import { GRANT_MS, GRANT_RUNS, grantTarget, isActive, mayGrant } from '../../planning/grant.ts';
import type { Vote } from '../../planning/vote.ts';
import type { ApproverGroup } from '../../policy/policy.ts';
import type { Run } from '../../run/run.ts';
import type { SentCopies } from '../../run/sent-copies.ts';
import { BOT } from '../../shown-names.ts';
import {
  type Button,
  channel,
  type Message,
  type Part,
  person,
  type Span,
  soon,
  strong,
  text,
  time,
  usergroup,
} from '../message/message.ts';
import { typedCommand, typedText } from '../message/typed-text.ts';
import { shortName } from './headline.ts';
import { STATE_TEXT } from './outcome-text.ts';
import { subjectOf, whyExpired } from './run-lines.ts';

/** The people who may decide, by the policy's group names. */
export type Approvers = Readonly<Record<string, ApproverGroup>>;

/**
 * What a card shows of its approval: who may decide and until when, the buttons, the copies, the votes and the grant. The
 * button of the requester comes last, apart from those of the approvers.
 */
export function approvalParts(run: Run, approvers: Approvers, nowMs: number): readonly Part[] {
  return [
    ...pendingPart(run, approvers, nowMs),
    ...buttonsPart(run, nowMs),
    ...copiesPart(run),
    ...votesPart(withoutShown(run)),
    ...grantPart(run, nowMs),
    ...withdrawParts(run),
    ...(run.batch && run.state === 'pending-approval'
      ? [noteOf([...classWords(run), ...approvalWords(run)].join(' · '))]
      : []),
  ];
}

/** The second line of the card of a rejected run or batch has its last vote. */
const withoutShown = (run: Run): Run =>
  run.state !== 'rejected' || !run.approval
    ? run
    : { ...run, approval: { ...run.approval, votes: run.approval.votes.slice(0, -1) } };

const noteOf = (words: string): Part => ({ kind: 'note', spans: [text(words)] });

/** `@sre: 1 approval needed, expires at 12:41 AM`. */
function pendingPart(run: Run, approvers: Approvers, nowMs: number): readonly Part[] {
  const { approval } = run;
  if (run.state !== 'pending-approval' || !approval) return [];
  const groups = joined(
    approval.from.map((name) => groupSpans(name, approvers)).filter(({ length }) => length > 0),
    ' or ',
  );
  const given = approval.votes.filter(({ kind }) => kind === 'approve').length;
  const needed = `${formatCount(approval.count, 'approval')} needed${given === 0 ? '' : `, ${given} given`}, expires `;
  const who = groups.length === 0 ? [text('Approvers')] : groups;
  return [{ kind: 'paragraph', spans: [...who, text(`: ${needed}`), ...soon(approval.expiresAtMs, nowMs)] }];
}

const classWords = ({ batch }: Run): readonly string[] => [
  `class ${[...new Set(batch?.variants.flat().map((template) => template.class))].join(', ')}`,
];

/** For the small line: the rule, and the hash under which the audit log records the vote and the launch. */
export const approvalWords = ({ approval, planHash }: Run): readonly string[] => [
  ...(approval ? [`rule ${approval.rule}`] : []),
  ...(planHash === undefined ? [] : [`plan ${planHash.slice(0, 12)}`]),
];

function withdrawParts(run: Run): readonly Part[] {
  if (run.state !== 'pending-approval') return [];
  const button: Button = { action: 'cancel', label: 'Withdraw request', value: run.id };
  return [
    { kind: 'note', spans: [text('Only '), person(run.origin.requesterId), text(' can withdraw it:')] },
    { kind: 'actions', buttons: [button] },
  ];
}

function groupSpans(name: string, approvers: Approvers): readonly Span[] {
  const group = own(approvers, name);
  const members: readonly (readonly Span[])[] = [
    ...(group?.usergroup === undefined ? [] : [[usergroup(group.usergroup)]]),
    ...(group?.channel === undefined ? [] : [[text('the members of '), channel(group.channel)]]),
    ...(group?.users ?? []).map((userId) => [person(userId)]),
  ];
  return joined(members, ' ');
}

const joined = (groups: readonly (readonly Span[])[], between: string): readonly Span[] =>
  groups.flatMap((one, index) => (index === 0 ? one : [text(between), ...one]));

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
  const may = isActive(grant, nowMs) ? 'may' : 'may no longer';
  const scope = ` ${may} repeat this exact command in ${grantTarget(plan)}: `;
  return [...through, { kind: 'paragraph', spans: [person(origin.requesterId), text(scope), strong(used), ...state] }];
}

function buttonsPart(run: Run, nowMs: number): readonly Part[] {
  if (run.state === 'pending-approval') {
    const buttons: readonly Button[] = [
      { action: 'approve', label: 'Approve', value: run.id, style: 'primary' },
      ...grantButton(run),
      { action: 'reject', label: 'Reject', value: run.id, style: 'danger' },
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

/** The reply to a request that was rejected, withdrawn or expired, for its requester. */
export function decisionMessage(run: Run): Message {
  const { headline, tone } = STATE_TEXT[run.state];
  const spans = decidedSpans(run, strong(shortName(subjectOf(run))));
  return {
    summary: `${headline}: ${typedCommand(run)}`,
    notification: spans,
    tone,
    parts: [
      { kind: 'paragraph', spans },
      ...(run.state === 'expired' ? [sentencePart('Ask again when an approver is around.')] : []),
      noteOf(`Run ${run.id}`),
    ],
  };
}

function decidedSpans(run: Run, subject: Span): readonly Span[] {
  const { state, approval, origin } = run;
  const requester = person(origin.requesterId);
  const last = approval?.votes.at(-1);
  if (state === 'cancelled')
    return [person(withdrawnBy(run)), text(' withdrew the request for '), subject, text('. Nothing was started.')];
  if (state === 'rejected' && last) {
    const why: readonly Span[] = last.reason === undefined ? [text('.')] : [text(': '), ...typedText(last.reason)];
    return [requester, text(', your request for '), subject, text(' was rejected by '), person(last.userId), ...why];
  }
  return [requester, text(', your request for '), subject, text(` expired: ${whyExpired(approval)}.`)];
}

const sentencePart = (words: string): Part => ({ kind: 'paragraph', spans: [text(words)] });

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
    text(` do not see this: type /invite ${BOT} there, unless it is shared with another company.`),
  ]);
