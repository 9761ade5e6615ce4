import type { HomeView } from '@slack/types';
import { EMOJI_OF, emoji, type Message, type Part, type Span, type Tone } from '../../../core/say/message/message.ts';
import { MAX_BLOCKS, MAX_BLOCKS_WEIGHT, MAX_FALLBACK, MAX_TEXT } from '../limits.ts';
import { blocksOf } from './blocks.ts';
import { hasDrawing, type MessageBlock, withDrawings, withoutDrawings } from './chart.ts';
import { cleanLine, escapeText, shorten, weigh } from './plain.ts';
import { notificationText, partText } from './spans.ts';

/** Blocks, and the escaped text for notifications and screen readers. */
export interface View {
  readonly text: string;
  readonly blocks: MessageBlock[];
}

function markOf(tone: Tone): readonly Span[] {
  const name = EMOJI_OF[tone];
  return name === undefined ? [] : [emoji(name), { kind: 'text', text: ' ' }];
}

/** Slack accepts no emoji element here and never reads emoji names, so no text becomes one. */
const markText = (tone: Tone): string =>
  markOf(tone)
    .map((span) => ('text' in span ? span.text : ''))
    .join('');

/**
 * A message as Block Kit within every limit of `limits.ts`; marks what was cut. Texts stay literal: rich text, plain text, or escaped in
 * the fallback. Pure.
 */
export const view = (message: Message): View => ({
  text: fallback(message),
  blocks: within(withDrawings(message), MAX_BLOCKS_WEIGHT),
});

/**
 * The blocks of a message for a modal or a Home tab. Omits buttons: a click there comes without a channel, so nobody could be authorised by
 * it. A table becomes a list and a chart words: Slack shows these in messages only. Pure.
 */
export const blocksOfPage = (message: Message): MessageBlock[] =>
  view(withoutDrawings({ ...message, parts: message.parts.filter(({ kind }) => kind !== 'actions') })).blocks;

/** A message as a person's Home tab; half of the blocks that Slack would take. Pure. */
export const homeTab = (message: Message): HomeView => ({ type: 'home', blocks: blocksOfPage(message) });

/**
 * Ever simpler versions of a refused message: without a table or chart, half the weight, then only summary and buttons, then no blocks. Tries the summary as rich
 * text first, because an update cannot remove rich text from a message.
 */
export function* simplerViews(refused: Message): Generator<View> {
  const message = withoutDrawings(refused);
  const text = fallback(message);
  if (hasDrawing(refused)) yield view(message);
  yield { text, blocks: within(message, Math.min(MAX_BLOCKS_WEIGHT, weightOf(view(message).blocks)) / 2) };
  const words = plainSummary(message);
  const buttons = message.parts
    .filter((part) => part.kind === 'actions' && !message.parts.some(isWhole))
    .flatMap((part) => blocksOf(part, roomOf(0)));
  const notWhole: MessageBlock[] = message.parts.some(isWhole) ? blocksOf(NOT_WHOLE, roomOf(MAX_TEXT)) : [];
  for (const summary of [richLine(words), plainLine(words)])
    yield { text, blocks: accepted([summary, ...notWhole, ...buttons], MAX_BLOCKS_WEIGHT) ?? [summary] };
  yield { text, blocks: [] };
}

const richLine = (text: string): MessageBlock => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }],
});

const plainLine = (text: string): MessageBlock => ({
  type: 'section',
  text: { type: 'plain_text', text, emoji: false },
});

const NOT_WHOLE: Part = {
  kind: 'note',
  spans: [
    {
      kind: 'text',
      text: 'Slack could not show the whole card, so nobody can decide on it here. Ask again with a shorter command.',
    },
  ],
};

const plainSummary = ({ summary, tone }: Message): string =>
  shorten(`${markText(tone)}${cleanLine(summary)}`.trim() || '…', { weight: MAX_FALLBACK, length: MAX_FALLBACK });

/** A long reason leaves room for what people decide on. */
const MAX_FIRST_LINE = 600;

/** Its first line is for a lock screen. Commands come last, as only an end may be cut. */
function fallback(message: Message): string {
  const { decidedOn = [] } = message;
  const isCode = ({ kind }: Part): boolean => kind === 'preformatted';
  let text = firstLineOf(message);
  for (const part of [...decidedOn.filter((part) => !isCode(part)), ...decidedOn.filter(isCode)])
    text = `${text}\n${partText(part, MAX_FALLBACK - text.length - 1)}`.trimEnd();
  return text;
}

/** A lock screen shows few words, so what merely goes on gets no mark there. */
function firstLineOf(message: Message): string {
  const { tone, notification, decidedOn } = message;
  if (!notification) return escapeText(plainSummary(message));
  const words = notificationText(notification, decidedOn ? MAX_FIRST_LINE : MAX_FALLBACK);
  return `${tone === 'progress' ? '' : markText(tone)}${words}`.trim() || '…';
}

export const weightOf = (blocks: readonly MessageBlock[]): number =>
  weigh(JSON.stringify(blocks)) - escapesTwice(blocks);

/** `JSON.stringify` has already escaped quotes and line ends, and `weigh` counts them again. */
function escapesTwice(blocks: readonly MessageBlock[]): number {
  const json = JSON.stringify(blocks);
  return (json.match(/["\\]/g) ?? []).length;
}

const roomOf = (weight: number) => ({ weight, length: Math.min(MAX_TEXT, weight) });

/** Less room than this is not worth showing a part in. */
const MIN_ROOM = 250;

/**
 * Gives every part the same room and finds the largest that fits into `limit`, by bisection: only the longest texts are cut. If not even
 * `MIN_ROOM` fits, drops parts from the end, buttons last.
 */
function within(message: Message, limit: number): MessageBlock[] {
  const parts = withMark(message);
  const fitsWith = (room: number): MessageBlock[] | undefined => accepted(layout(parts, room), limit);
  const whole = fitsWith(MAX_BLOCKS_WEIGHT);
  if (whole) return whole;
  let best = fitsWith(MIN_ROOM);
  if (!best) return dropParts(parts, limit);
  for (let low = MIN_ROOM, high = MAX_BLOCKS_WEIGHT; high - low > 64; ) {
    const middle = Math.floor((low + high) / 2);
    const tried = fitsWith(middle);
    if (tried) best = tried;
    [low, high] = tried ? [middle, high] : [low, middle];
  }
  return best;
}

/** Shows no buttons if a part that must stay whole is cut: nobody may decide on half a card. */
function layout(all: readonly Part[], room: number): MessageBlock[] {
  const parts = all.some((part) => isWhole(part) && isCut(part)) ? all.filter(({ kind }) => kind !== 'actions') : all;
  return parts.flatMap((part) => blocksOf(part, roomOf(isWhole(part) ? MAX_BLOCKS_WEIGHT : room)));
}

const isWhole = (part: Part): boolean => 'whole' in part && part.whole === true;

const ENDLESS = { weight: Number.POSITIVE_INFINITY, length: Number.POSITIVE_INFINITY };
const isCut = (part: Part): boolean =>
  JSON.stringify(blocksOf(part, roomOf(MAX_BLOCKS_WEIGHT))) !== JSON.stringify(blocksOf(part, ENDLESS));

const accepted = (blocks: MessageBlock[], limit: number): MessageBlock[] | undefined =>
  blocks.length <= MAX_BLOCKS && weightOf(blocks) <= limit ? blocks : undefined;

function dropParts(parts: readonly Part[], limit: number): MessageBlock[] {
  const shown = parts.filter((part) => part.kind !== 'actions');
  const buttons = parts.some(isWhole) ? [] : parts.filter((part) => part.kind === 'actions');
  for (let dropped = 1; dropped <= parts.length; dropped += 1) {
    const note: Part = { kind: 'note', spans: [{ kind: 'text', text: `… ${dropped} more` }] };
    const visibleParts = shown.slice(0, Math.max(0, shown.length - dropped));
    const visibleButtons = buttons.slice(0, parts.length - Math.max(dropped, shown.length));
    const blocks = accepted(layout([...visibleParts, note, ...visibleButtons], MIN_ROOM), limit);
    if (blocks) return blocks;
  }
  return [];
}

/** Puts the tone's mark before the first words. A message without a heading or paragraph at the start gets its summary as first line. */
function withMark({ summary, tone, parts }: Message): readonly Part[] {
  const [first, ...others] = parts;
  if (first?.kind === 'heading') return [{ ...first, text: `${markText(tone)}${first.text}` }, ...others];
  if (first?.kind === 'paragraph') return [{ ...first, spans: [...markOf(tone), ...first.spans] }, ...others];
  return [{ kind: 'paragraph', spans: [...markOf(tone), { kind: 'strong', text: cleanLine(summary) }] }, ...parts];
}
