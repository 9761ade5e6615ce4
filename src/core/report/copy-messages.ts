import { own } from '../../lib/object.ts';
import type { Run } from '../run/run.ts';
import {
  channel,
  code,
  link,
  type Message,
  type Part,
  person,
  type Span,
  strong,
  text,
  time,
  usergroup,
} from './message.ts';
import { type Approvers, whyExpired } from './parts/approval-parts.ts';
import { anchorMessage, type RenderContext } from './run-messages.ts';
import { typedCommand } from './typed-text.ts';

/**
 * The copy of a request's card that an approver gets elsewhere: while a decision is needed, the whole card with its
 * buttons and its origin; after that, only the decision. `url` leads to the card.
 */
export function copyMessage(run: Run, context: RenderContext, url: string | undefined): Message {
  if (run.state !== 'pending-approval') return decidedCopy(run, url);
  const card = anchorMessage(run, context);
  const spans = [
    person(run.origin.requesterId),
    text(' asks for an approval in '),
    channel(run.origin.channelId),
    text('. '),
    ...linkTo(url, 'Open the thread'),
  ];
  return { ...card, parts: [{ kind: 'paragraph', spans }, ...card.parts.map(withoutWithdrawal)] };
}

/** The requester gets no copy, and nobody else may withdraw the request. */
const withoutWithdrawal = (part: Part): Part =>
  part.kind === 'actions' ? { ...part, buttons: part.buttons.filter(({ action }) => action !== 'cancel') } : part;

function decidedCopy(run: Run, url: string | undefined): Message {
  const { headline, spans } = decisionOf(run);
  const command = typedCommand(run);
  const where: Part = { kind: 'note', spans: [text(`Copy of run ${run.id} · `), ...linkTo(url, 'Open the thread')] };
  return {
    summary: `${headline}: ${command}`,
    tone: 'neutral',
    parts: [
      { kind: 'paragraph', spans: [strong(headline), ...spans] },
      { kind: 'paragraph', spans: [code(command), text(', asked for by '), person(run.origin.requesterId)] },
      where,
    ],
  };
}

interface Decided {
  readonly headline: string;
  readonly spans: readonly Span[];
}

function decisionOf({ state, approval, origin }: Run): Decided {
  const votes = approval?.votes ?? [];
  const last = votes.at(-1);
  if (state === 'expired') return { headline: 'Expired', spans: [text(`: ${whyExpired(approval)}`)] };
  if (state === 'cancelled')
    return { headline: 'Withdrawn', spans: [text(' by '), person(origin.requesterId), text(': nothing was started')] };
  if (state === 'rejected' && last) {
    const why = last.reason === undefined ? [] : [text(`: ${last.reason}`)];
    return { headline: 'Rejected', spans: [text(' by '), person(last.userId), ...why] };
  }
  const who = votes.flatMap(({ userId }, index) => [text(index === 0 ? ' by ' : ', '), person(userId)]);
  return { headline: 'Approved', spans: who };
}

/** Whom a reminder mentions, and where the card is if the reminder is not in its thread. */
interface ReminderContext {
  readonly approvers?: Approvers;
  readonly url?: string;
}

/** Sent when half of the approval time has passed. Mentions the approvers if they are given. */
export function reminderMessage(run: Run, { approvers, url }: ReminderContext = {}): Message {
  const { approval, origin } = run;
  const mentions = approvers ? mentionsOf(run, approvers) : [];
  return {
    summary: `Reminder: this request still needs a decision`,
    tone: 'attention',
    parts: [
      {
        kind: 'paragraph',
        spans: [
          ...mentions,
          text('This request of '),
          person(origin.requesterId),
          text(' still needs a decision. It expires at '),
          time(approval?.expiresAtMs ?? 0),
          text('. '),
          ...linkTo(url, 'Open the request'),
        ],
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
  url === undefined ? [] : [link(url, words)];
