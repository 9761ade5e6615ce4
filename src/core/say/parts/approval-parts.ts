import { formatCount, formatDuration } from '../../../lib/duration.ts';
import { defined, own } from '../../../lib/object.ts';
import { shorten, shortenMiddle } from '../../../lib/text.ts';
import type { Plan } from '../../container/plan.ts';
import { GRANT_MS, GRANT_RUNS, grantTarget, isActive, mayGrant } from '../../planning/grant.ts';
import type { Vote } from '../../planning/vote.ts';
import type { ApproverGroup } from '../../policy/policy.ts';
import { isUnattended } from '../../run/life-cycle.ts';
import type { Run } from '../../run/run.ts';
import type { SentCopies } from '../../run/sent-copies.ts';
import { BOT } from '../../shown-names.ts';
import {
  actions,
  dotted,
  joined,
  line,
  list,
  message,
  note,
  paragraph,
  type Shown,
  shownParts,
} from '../message/line.ts';
import {
  type Button,
  channel,
  type Message,
  type Part,
  person,
  quietPerson,
  type Span,
  soon,
  strong,
  time,
  usergroup,
} from '../message/message.ts';
import { typedCommand, typedText } from '../message/typed-text.ts';
import { shortName } from './headline.ts';
import { onceMoreDetails } from './once-more-parts.ts';
import { STATE_TEXT } from './outcome-text.ts';
import { powerParts } from './power-parts.ts';
import { subjectOf, whyExpired } from './run-lines.ts';

/** The people who may decide, by the policy's group names. */
export type Approvers = Readonly<Record<string, ApproverGroup>>;

interface ApprovalContext {
  readonly approvers: Approvers;
  readonly nowMs: number;
}

/** What a screen reader says of a request, too: what runs where with which power, who may decide, until when. Nothing once it is decided. */
export const decidedOn = (run: Run, { approvers, nowMs }: ApprovalContext): Shown =>
  run.state === 'pending-approval' && [
    powerParts(defined(run.batch ? { batch: run.batch } : { plan: run.plan })),
    pendingPart(run, approvers, nowMs),
    run.plan && onceMoreDetails(run.plan),
  ];

/**
 * The approval on a card: who may decide and until when, the buttons, the copies, the votes and the grant. The button
 * of the requester comes last, apart from those of the approvers.
 */
export const approvalParts = (run: Run, { approvers, nowMs }: ApprovalContext): readonly Part[] =>
  shownParts(
    pendingPart(run, approvers, nowMs),
    buttonsPart(run, nowMs),
    copiesPart(run),
    votesPart(withoutShown(run)),
    grantPart(run, nowMs),
    withdrawParts(run),
    run.batch && run.state === 'pending-approval' && note`${dotted([classWords(run), ...approvalWords(run)])}`,
  );

/** The second line of the card of a rejected run or batch has its last vote. */
const withoutShown = (run: Run): Run =>
  run.state !== 'rejected' || !run.approval
    ? run
    : { ...run, approval: { ...run.approval, votes: run.approval.votes.slice(0, -1) } };

/** `@sre: 1 approval needed, expires at 12:41 AM`. */
function pendingPart({ state, approval }: Run, approvers: Approvers, nowMs: number): Shown {
  if (state !== 'pending-approval' || !approval) return [];
  const groups = joined(
    approval.from.map((name) => groupSpans(name, approvers)),
    ' or ',
  );
  const given = approval.votes.filter(({ kind }) => kind === 'approve').length;
  const needed = line`${formatCount(approval.count, 'approval')} needed${given > 0 && `, ${given} given`}`;
  const who = groups.length === 0 ? 'Approvers' : groups;
  return paragraph`${who}: ${needed}, expires ${soon(approval.expiresAtMs, nowMs)}`;
}

const classWords = ({ batch }: Run): string =>
  `class ${[...new Set(batch?.variants.flat().map((template) => template.class))].join(', ')}`;

/** For the small line: the rule, and the hash under which the audit log records the vote and the launch. */
export const approvalWords = ({ approval, planHash }: Run): readonly string[] => [
  ...(approval ? [`rule ${approval.rule}`] : []),
  ...(planHash === undefined ? [] : [`plan ${planHash.slice(0, 12)}`]),
];

const withdrawParts = (run: Run): Shown =>
  run.state === 'pending-approval' &&
  !isUnattended(run) && [
    note`Only ${quietPerson(run.origin.requesterId)} can withdraw it:`,
    actions({ action: 'cancel', label: 'Withdraw request', value: run.id }),
  ];

function groupSpans(name: string, approvers: Approvers): readonly Span[] {
  const group = own(approvers, name);
  return joined(
    [
      group?.usergroup === undefined ? undefined : usergroup(group.usergroup, name),
      group?.channel === undefined ? undefined : line`the members of ${channel(group.channel, name)}`,
      ...(group?.users ?? []).map(person),
    ],
    ' ',
  );
}

/** The votes: by whom, when and why. */
export const votesPart = ({ approval }: Run): Shown => list((approval?.votes ?? []).map(voteSpans));

const voteSpans = ({ userId, kind, reason, atMs }: Vote): readonly Span[] =>
  line`${strong(kind === 'approve' ? 'Approved' : 'Rejected')} by ${person(userId)}, ${time(atMs)}${reasonEnd(reason)}`;

/** The end of a sentence. */
const reasonEnd = (reason: string | undefined, without = ''): readonly Span[] =>
  reason === undefined ? line`${without}` : line`: ${typedText(reason)}`;

function grantPart({ grant, grantedBy, plan, origin }: Run, nowMs: number): Shown {
  const through = grantedBy !== undefined && note`Approved by the grant of run ${grantedBy}`;
  if (!grant || !plan) return through;
  const used = strong(`${grant.uses.length} of ${grant.maxRuns} used`);
  const by = grant.endedBy !== undefined && line` by ${person(grant.endedBy)}`;
  const state = isActive(grant, nowMs) ? line`until ${time(grant.expiresAtMs)}` : line`ended${by}`;
  const may = isActive(grant, nowMs) ? 'may' : 'may no longer';
  return [
    through,
    paragraph`${person(origin.requesterId)} ${may} repeat this exact command in ${grantTarget(plan)}: ${used}, ${state}`,
  ];
}

function buttonsPart(run: Run, nowMs: number): Shown {
  const { id: value } = run;
  if (run.state === 'pending-approval') {
    return actions(
      { action: 'approve', label: 'Approve', spoken: spoken('Approve', run), value, style: 'primary' },
      ...grantButton(run),
      { action: 'reject', label: 'Reject', spoken: spoken('Reject', run), value, style: 'danger' },
    );
  }
  return run.grant && run.plan && isActive(run.grant, nowMs) && actions(endButton(run.id, run.plan));
}

/** `Approve debugger on shop/web-3 for alice`. Slack leaves 75 characters. */
const spoken = (label: string, run: Run): readonly Span[] =>
  line`${label} ${run.plan?.imageAlias} on ${shortenMiddle(subjectOf(run), MAX_SPOKEN_LENGTH)} for ${quietPerson(run.origin.requesterId)}`;
const MAX_SPOKEN_LENGTH = 30;

/** Slack leaves 300 characters for the text of a dialog; a workload's name may have 253. */
const MAX_TARGET_LENGTH = 120;
const shownTarget = (plan: Plan): string => shorten(grantTarget(plan), MAX_TARGET_LENGTH);

/**
 * Grants are only for single runs, and only where the rule lets one approver give them. The dialog says exactly what is
 * granted.
 */
function grantButton(run: Run): readonly Button[] {
  const { id: value, batch, plan, approval } = run;
  if (batch || !plan || plan.onceMore || !approval || !mayGrant(approval)) return [];
  const times = `up to ${GRANT_RUNS} times within ${formatDuration(GRANT_MS)}`;
  const label = `Approve for ${formatDuration(GRANT_MS)}`;
  const confirm = {
    title: `${label}?`,
    text: `The requester, and nobody else, may repeat this exact command in ${shownTarget(plan)}, ${times}, without another approval.`,
    yes: label,
    no: 'Go back',
  };
  return [{ action: 'approve-grant', label, spoken: spoken(label, run), value, confirm }];
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
  return message({ summary: `${headline}: ${typedCommand(run)}`, notification: spans, tone }, [
    paragraph`${spans}`,
    run.state === 'expired' && paragraph`Ask again when an approver is around.`,
    note`Run ${run.id}`,
  ]);
}

function decidedSpans(run: Run, subject: Span): readonly Span[] {
  const { state, approval, origin } = run;
  const requester = person(origin.requesterId);
  const last = approval?.votes.at(-1);
  if (state === 'cancelled')
    return line`${person(withdrawnBy(run))} withdrew the request for ${subject}. Nothing was started.`;
  if (state === 'rejected' && last) {
    const why = reasonEnd(last.reason, '.');
    return line`${requester}, your request for ${subject} was rejected by ${person(last.userId)}${why}`;
  }
  return line`${requester}, your request for ${subject} expired: ${whyExpired(approval)}.`;
}

/** An approver may stop a run that is not launched yet. */
const withdrawnBy = ({ outcome, origin }: Run): string =>
  outcome?.kind === 'cancelled' ? outcome.by : origin.requesterId;

/**
 * Describes the approvers asked in other channels: how many, where, and who could not be reached. Nothing until all
 * copies are posted.
 */
function copiesPart({ state, asked: sent }: Run): Shown {
  if (state !== 'pending-approval' || !sent || sent.waiting.some(({ kind }) => kind === 'copy')) return [];
  return note`${joined([directSpans(sent), shownSpans(sent), notShownSpans(sent)], ' ')}`;
}

function directSpans({ copies, beyond = 0, unreached = 0 }: SentCopies): readonly Span[] {
  const direct = copies.filter(({ userId }) => userId !== undefined).length;
  return joined(
    [
      direct > 0 && `Also sent to ${formatCount(direct, 'approver')} in a direct message.`,
      beyond > 0 && `Not sent to ${formatCount(beyond, 'more approver')}: tell one of them yourself.`,
      unreached > 0 && `${formatCount(unreached, 'approver')} could not be reached.`,
    ],
    ' ',
  );
}

function shownSpans({ copies }: SentCopies): readonly Span[] {
  const shown = copies.filter(({ userId, isReminder }) => userId === undefined && !isReminder);
  return shown.flatMap(({ channelId }) => line`Also shown in ${channel(channelId)}.`);
}

const notShownSpans = ({ closed = [] }: SentCopies): readonly Span[] =>
  closed.flatMap(
    (channelId) =>
      line`Its approvers in ${channel(channelId)} do not see this: type /invite ${BOT} there, unless it is shared with another company.`,
  );
