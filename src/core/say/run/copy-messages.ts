import { own } from '../../../lib/object.ts';
import type { Run } from '../../run/run.ts';
import {
  channel,
  code,
  link,
  type Message,
  type Part,
  person,
  type Span,
  strong,
  type Tone,
  text,
  time,
  usergroup,
} from '../message/message.ts';
import { typedCommand } from '../message/typed-text.ts';
import type { Approvers } from '../parts/approval-parts.ts';
import { oneLine, shortName } from '../parts/headline.ts';
import { STATE_TEXT } from '../parts/outcome-text.ts';
import { subjectOf, whyExpired } from '../parts/run-lines.ts';
import { anchorMessage, type RenderContext } from './run-messages.ts';

/**
 * The copy of a request's card that an approver gets elsewhere: while a decision is needed, the whole card with its
 * buttons and its origin; after that, only the decision. `url` leads to the card.
 */
export function copyMessage(run: Run, context: RenderContext, url: string | undefined): Message {
  if (run.state !== 'pending-approval') return decidedCopy(run, url);
  const card = anchorMessage(run, context);
  const parts = withoutWithdrawal(card.parts);
  const origin: Part = {
    kind: 'note',
    spans: [
      text('Requested by '),
      person(run.origin.requesterId),
      text(' in '),
      channel(run.origin.channelId),
      ...linkTo(url, 'Open the thread'),
    ],
  };
  return { ...card, parts: [...parts.slice(0, -1), origin, ...parts.slice(-1)] };
}

function decidedCopy(run: Run, url: string | undefined): Message {
  const { headline, spans, tone } = decisionOf(run);
  const command = typedCommand(run);
  return {
    summary: `${headline}: ${command}`,
    notification: [text(headline), ...spans, text(`: ${subjectOf(run)}`)],
    tone,
    parts: [
      { kind: 'paragraph', spans: [strong(shortName(subjectOf(run))), text(': '), strong(headline), ...spans] },
      { kind: 'paragraph', spans: [person(run.origin.requesterId), text(' requested '), code(oneLine(command, 84))] },
      { kind: 'note', spans: [text(`Copy of run ${run.id}`), ...linkTo(url, 'Open the thread')] },
    ],
  };
}

interface Decided {
  readonly tone: Tone;
  readonly headline: string;
  readonly spans: readonly Span[];
}

function decisionOf({ state, approval, origin }: Run): Decided {
  const votes = approval?.votes ?? [];
  const last = votes.at(-1);
  const { tone } = STATE_TEXT[state];
  if (state === 'expired') return { tone, headline: 'Expired', spans: [text(`: ${whyExpired(approval)}`)] };
  if (state === 'cancelled') {
    return {
      tone,
      headline: 'Withdrawn',
      spans: [text(' by '), person(origin.requesterId), text(': nothing was started')],
    };
  }
  if (state === 'rejected' && last) {
    const why = last.reason === undefined ? [] : [text(`: ${oneLine(last.reason, 60)}`)];
    return { tone, headline: 'Rejected', spans: [text(' by '), person(last.userId), ...why] };
  }
  const who = votes.flatMap(({ userId }, index) => [text(index === 0 ? ' by ' : ', '), person(userId)]);
  return { tone: 'success', headline: 'Approved', spans: who };
}

/** Whom a reminder mentions, and where the card is if the reminder is not in its thread. */
interface ReminderContext {
  readonly approvers?: Approvers;
  readonly url?: string;
}

/** Sent when half of the approval time has passed. Mentions the approvers if they are given. */
export function reminderMessage(run: Run, { approvers, url }: ReminderContext = {}): Message {
  const { approval, origin } = run;
  const subject = subjectOf(run);
  const mentions = approvers ? mentionsOf(run, approvers) : [];
  const request = [person(origin.requesterId), text('’s request for ')];
  return {
    summary: `Reminder: the request for ${subject} still needs a decision`,
    notification: [text('Reminder: '), ...request, text(`${subject} still needs a decision`)],
    tone: 'decision',
    parts: [
      {
        kind: 'paragraph',
        spans: [
          ...(mentions.length > 0
            ? [text('Reminder for '), ...mentions.slice(0, -1), text(': ')]
            : [text('Reminder: ')]),
          ...request,
          strong(shortName(subject)),
          text(' still needs a decision.'),
        ],
      },
      {
        kind: 'paragraph',
        spans: [text('Expires: '), time(approval?.expiresAtMs ?? 0), ...linkTo(url, 'Open the request')],
      },
      { kind: 'note', spans: [text(`Reminder of run ${run.id}`)] },
    ],
  };
}

/** Leaves out the requester and everybody who has voted; a group is mentioned as a whole. */
function mentionsOf({ approval, origin }: Run, approvers: Approvers): readonly Span[] {
  const groups = (approval?.from ?? []).flatMap((name) => own(approvers, name) ?? []);
  const done = new Set([origin.requesterId, ...(approval?.votes ?? []).map(({ userId }) => userId)]);
  const people = [...new Set(groups.flatMap(({ users }) => users))].filter((userId) => !done.has(userId));
  const named = [...new Set(groups.flatMap((group) => group.usergroup ?? []))];
  return [...named.map(usergroup), ...people.map(person)].flatMap((span) => [span, text(' ')]);
}

const linkTo = (url: string | undefined, words: string): readonly Span[] =>
  url === undefined ? [] : [text(' · '), link(url, words)];

/** The button of the requester and the words before it, which nobody else needs. */
export const withoutWithdrawal = (parts: readonly Part[]): readonly Part[] =>
  parts.filter((part, index) => !isWithdrawal(part) && !isWithdrawal(parts[index + 1]));

const isWithdrawal = (part: Part | undefined): boolean =>
  part?.kind === 'actions' && part.buttons.every(({ action }) => action === 'cancel');
