import { own } from '../../../lib/object.ts';
import type { Run } from '../../run/run.ts';
import { joined, line, message, note, paragraph } from '../message/line.ts';
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
  time,
  usergroup,
} from '../message/message.ts';
import { typedCommand } from '../message/typed-text.ts';
import { type Approvers, decidedOn } from '../parts/approval-parts.ts';
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
  const { parts: whole, ...frame } = anchorMessage(run, context);
  const parts = withoutWithdrawal(whole);
  const { requesterId, channelId } = run.origin;
  return message(frame, [
    parts.slice(0, -1),
    note`Requested by ${person(requesterId)} in ${channel(channelId)}${linkTo(url, 'Open the thread')}`,
    parts.slice(-1),
  ]);
}

function decidedCopy(run: Run, url: string | undefined): Message {
  const { headline, spans, tone } = decisionOf(run);
  const command = typedCommand(run);
  const notification = line`${headline}${spans}: ${subjectOf(run)}`;
  return message({ summary: `${headline}: ${command}`, notification, tone }, [
    paragraph`${strong(shortName(subjectOf(run)))}: ${strong(headline)}${spans}`,
    paragraph`${person(run.origin.requesterId)} requested ${code(oneLine(command, 84))}`,
    note`Copy of run ${run.id}${linkTo(url, 'Open the thread')}`,
  ]);
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
  if (state === 'expired') return { tone, headline: 'Expired', spans: line`: ${whyExpired(approval)}` };
  if (state === 'cancelled')
    return { tone, headline: 'Withdrawn', spans: line` by ${person(origin.requesterId)}: nothing was started` };
  if (state === 'rejected' && last) {
    const why = last.reason !== undefined && `: ${oneLine(last.reason, 60)}`;
    return { tone, headline: 'Rejected', spans: line` by ${person(last.userId)}${why}` };
  }
  const who = joined(votes.map(({ userId }) => person(userId)));
  return { tone: 'success', headline: 'Approved', spans: who.length === 0 ? [] : line` by ${who}` };
}

interface ReminderContext {
  readonly approvers: Approvers;
  readonly nowMs: number;
  /** It mentions the approvers: nobody has told them here yet. */
  readonly mentionsThem?: boolean;
  /** The card, if the reminder is not in its thread. */
  readonly url?: string | undefined;
}

/** Sent when half of the approval time has passed. */
export function reminderMessage(run: Run, context: ReminderContext): Message {
  const { approvers, mentionsThem = false, url } = context;
  const subject = subjectOf(run);
  const mentions = mentionsThem ? mentionsOf(run, approvers) : [];
  const whom = mentions.length > 0 && line` for ${mentions}`;
  const request = line`${person(run.origin.requesterId)}’s request for `;
  const summary = `Reminder: the request for ${subject} still needs a decision`;
  const notification = line`Reminder: ${request}${subject} still needs a decision`;
  return message({ summary, notification, tone: 'decision', decidedOn: [decidedOn(run, context)] }, [
    paragraph`Reminder${whom}: ${request}${strong(shortName(subject))} still needs a decision.`,
    paragraph`Expires: ${time(run.approval?.expiresAtMs ?? 0)}${linkTo(url, 'Open the request')}`,
    note`Reminder of run ${run.id}`,
  ]);
}

/** Leaves out the requester and everybody who has voted; a group is mentioned as a whole. */
function mentionsOf({ approval, origin }: Run, approvers: Approvers): readonly Span[] {
  const groups = (approval?.from ?? []).flatMap((name) => own(approvers, name) ?? []);
  const done = new Set([origin.requesterId, ...(approval?.votes ?? []).map(({ userId }) => userId)]);
  const people = [...new Set(groups.flatMap(({ users }) => users))].filter((userId) => !done.has(userId));
  const named = [...new Set(groups.flatMap((group) => group.usergroup ?? []))];
  return joined([...named.map((id) => usergroup(id)), ...people.map(person)], ' ');
}

const linkTo = (url: string | undefined, words: string): readonly Span[] =>
  url === undefined ? [] : line` · ${link(url, words)}`;

/** The button of the requester and the words before it, which nobody else needs. */
export const withoutWithdrawal = (parts: readonly Part[]): readonly Part[] =>
  parts.filter((part, index) => !isWithdrawal(part) && !isWithdrawal(parts[index + 1]));

const isWithdrawal = (part: Part | undefined): boolean =>
  part?.kind === 'actions' && part.buttons.every(({ action }) => action === 'cancel');
