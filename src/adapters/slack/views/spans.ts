import type { MrkdwnElement, PlainTextElement, RichTextElement, RichTextText } from '@slack/types';
import { joined, line } from '../../../core/say/message/line.ts';
import type { Part, Span } from '../../../core/say/message/message.ts';
import { MAX_CONTEXT_ELEMENTS } from '../limits.ts';
import { clean, cleanLine, escapeText, type Room, shorten, weigh } from './plain.ts';

/** JSON around one element, rounded up. */
const ELEMENT_WEIGHT = 70;
/** Room reserved for `… N more`. */
const MARK_WEIGHT = 120;

const USER_ID = /^[UW][A-Z0-9]{2,20}$/;
const CHANNEL_ID = /^[CG][A-Z0-9]{2,20}$/;
const USERGROUP_ID = /^S[A-Z0-9]{2,20}$/;
/** Slack's format for a time: `Today at 12:41 AM`. */
const MOMENT = '{date_short_pretty} at {time}';
const TIME_OF_DAY = '{time}';
const formatOf = ({ isToday }: { readonly isToday?: true }): string => (isToday ? TIME_OF_DAY : MOMENT);
/** Slack accepts whole seconds of up to eleven digits (the year 5138). */
const LATEST_MS = 99_999_999_999_000;

/** A span as plain text, where Slack accepts nothing else. */
export function wordsOf(span: Span): string {
  switch (span.kind) {
    case 'person':
      return span.name ?? span.userId;
    case 'usergroup':
      return span.name ?? span.usergroupId;
    case 'channel':
      return span.name ?? span.channelId;
    case 'time':
      return isMoment(span.atMs) ? utcWords(span) : 'at an unknown time';
    default:
      return span.text;
  }
}

/** `08:55 UTC`, or `29 Nov, 08:55 UTC`. */
function utcWords({ atMs, isToday }: Extract<Span, { kind: 'time' }>): string {
  const whole = new Date(atMs).toUTCString();
  return `${isToday ? '' : `${whole.slice(5, 11)}, `}${whole.slice(-12, -7)} UTC`;
}

/** Only addresses of Slack's own messages and files become links, whoever wrote them. */
const SLACK_LINK = /^https:\/\/[a-z0-9.-]{1,100}\.slack(?:-gov)?\.com\/(?:archives|files)\/[A-Za-z0-9/._?=&-]{1,300}$/;

/** An address that some other text cannot end early: `|` and `>` end a link in Slack's `text`. */
const WEB_LINK = /^https?:\/\/[a-zA-Z0-9.:[\]-]{1,255}(?:[/?#][!-~]*)?$/;

const leadsSomewhere = (span: Span): span is Extract<Span, { kind: 'link' | 'web' }> =>
  (span.kind === 'link' && SLACK_LINK.test(span.url)) ||
  (span.kind === 'web' && WEB_LINK.test(span.url) && !/[|<>]/.test(span.url));

/** Whether Slack shows their name itself, and notifies them. */
const isMention = (span: Span): span is Extract<Span, { kind: 'person' }> =>
  span.kind === 'person' && USER_ID.test(span.userId) && !(span.isQuiet && span.name !== undefined);

const isMoment = (atMs: number): boolean => atMs >= 0 && atMs <= LATEST_MS;

const textElement = (text: string, span: Span): RichTextText => ({
  type: 'text',
  text,
  ...(span.kind === 'strong' ? { style: { bold: true } } : {}),
  ...(span.kind === 'code' ? { style: { code: true } } : {}),
});

function element(span: Span, room: Room): RichTextElement | undefined {
  if (isMention(span)) return { type: 'user', user_id: span.userId };
  if (span.kind === 'usergroup' && USERGROUP_ID.test(span.usergroupId))
    return { type: 'usergroup', usergroup_id: span.usergroupId };
  if (span.kind === 'channel' && CHANNEL_ID.test(span.channelId))
    return { type: 'channel', channel_id: span.channelId };
  if (span.kind === 'time' && isMoment(span.atMs)) {
    const timestamp = Math.floor(span.atMs / 1000);
    return { type: 'date', timestamp, format: formatOf(span), fallback: wordsOf(span) };
  }
  if (span.kind === 'emoji') return { type: 'emoji', name: span.name };
  const text = shorten(clean(wordsOf(span)), room);
  if (text !== '' && leadsSomewhere(span)) return { type: 'link', url: span.url, text };
  return text === '' ? undefined : textElement(text, span);
}

/**
 * Rich text, which Slack never parses: no text becomes markup, a mention, a link or an emoji, and a `link` leads only to Slack. Replaces
 * what exceeds `room` by `… N more`. May be empty.
 */
export function richText(
  spans: readonly Span[],
  room: Room,
): { readonly elements: RichTextElement[]; readonly left: Room } {
  const elements: RichTextElement[] = [];
  let left = room;
  for (const [index, span] of spans.entries()) {
    if (left.weight < ELEMENT_WEIGHT + MARK_WEIGHT || left.length < MARK_WEIGHT) {
      elements.push({ type: 'text', text: `… ${spans.length - index} more` });
      break;
    }
    const made = element(span, {
      weight: left.weight - ELEMENT_WEIGHT - MARK_WEIGHT,
      length: left.length - MARK_WEIGHT,
    });
    if (!made) continue;
    elements.push(made);
    const text = 'text' in made ? (made.text ?? '') : '';
    left = { weight: left.weight - ELEMENT_WEIGHT - weigh(text), length: left.length - text.length };
  }
  return { elements, left };
}

/**
 * Spans as the small print of a context block. Its only markup is made here, in Slack's documented forms: the id of a person or group, or a
 * number of seconds. Never a text.
 */
export function smallPrint(spans: readonly Span[], room: Room): (PlainTextElement | MrkdwnElement)[] {
  const elements: (PlainTextElement | MrkdwnElement)[] = [];
  let words = '';
  const flush = () => {
    const text = shorten(cleanLine(words), room);
    if (text !== '') elements.push({ type: 'plain_text', text, emoji: false });
    words = '';
  };
  for (const span of spans) {
    const markup = elements.length < MAX_CONTEXT_ELEMENTS - 2 ? markupOf(span) : undefined;
    if (markup === undefined) {
      words += wordsOf(span);
      continue;
    }
    flush();
    elements.push({ type: 'mrkdwn', text: markup, verbatim: true });
  }
  flush();
  return elements;
}

function markupOf(span: Span): string | undefined {
  if (isMention(span)) return `<@${span.userId}>`;
  if (span.kind === 'usergroup' && USERGROUP_ID.test(span.usergroupId)) return `<!subteam^${span.usergroupId}>`;
  if (span.kind === 'channel' && CHANNEL_ID.test(span.channelId)) return `<#${span.channelId}>`;
  if (leadsSomewhere(span)) return `<${span.url}|${escapeText(cleanLine(span.text))}>`;
  if (span.kind !== 'time' || !isMoment(span.atMs)) return undefined;
  return `<!date^${Math.floor(span.atMs / 1000)}^${formatOf(span)}|${wordsOf(span)}>`;
}

/**
 * One line for Slack's `text`, with at most `length` characters. People have their names: Slack reads no markup in a text without any, and may show
 * the id. Where the name is not known, a mention is better than the id alone. All other words are escaped.
 */
export function notificationText(spans: readonly Span[], length: number): string {
  let left = length;
  let shown = '';
  for (const span of spans) {
    if (left <= 0) break;
    const isUnnamed = isMention(span) && span.name === undefined;
    const words = isUnnamed
      ? `<@${span.userId}>`
      : shorten(clean(wordsOf(span)).replace(/\s+/g, ' '), { weight: left, length: left });
    shown += isUnnamed ? words : escapeText(words);
    // Not its length: `&` is five characters then.
    left -= weigh(words);
  }
  return shown.trim();
}

/** A part in words for Slack's `text`, which show every character as its block does. */
export function partText(part: Part, length: number): string {
  if (part.kind === 'preformatted') return escapeText(shorten(clean(part.text), { weight: length, length }));
  const facts = part.kind === 'facts' ? part.facts.map(({ label, value }) => line`${label}: ${value}`) : [];
  return notificationText(part.kind === 'paragraph' ? part.spans : joined(facts, '; '), length);
}
