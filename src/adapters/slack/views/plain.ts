import { EMOJI_STYLE, removerOfInvisible } from '../../../lib/invisible.ts';

const LINE_ENDS = /\r\n?|[\u0085\u2028\u2029]/g;
/**
 * CSI sequences, control strings (OSC, DCS …) with their end, and two-character escapes (ECMA-48). A body may not contain a new beginning,
 * which keeps the time linear: Node's own `stripVTControlCharacters` takes seconds for 64 KiB of `;#` behind one escape.
 */
const ESCAPES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9b-\x9f\n]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g;
const LONE_SURROGATES = /\p{Cs}/gu;
const withoutInvisible = removerOfInvisible(`\n\t${EMOJI_STYLE}`);

/** Removes escape sequences, control, bidi and zero-width characters. Line ends become `\n`; the result is well-formed Unicode. Linear. */
export const clean = (text: string): string =>
  withoutInvisible(text.replace(LONE_SURROGATES, '\uFFFD').replace(LINE_ENDS, '\n').replace(ESCAPES, ''));

export const cleanLine = (text: string): string => clean(text).replace(/\s+/g, ' ').trim();

/**
 * The weight of one UTF-16 unit: bytes of UTF-8 in JSON, `& < >` as entities, as Slack stores them. Slack's own measure
 * is unknown (bolt-js issue 2509: "varies with content"); this is the largest plausible one.
 */
function weightOf(unit: number): number {
  if (unit === 0x26) return 5;
  if (unit === 0x3c || unit === 0x3e) return 4;
  if (unit === 0x22 || unit === 0x5c || unit < 0x20) return 2;
  if (unit < 0x80) return 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}

export function weigh(text: string): number {
  let weight = 0;
  for (let index = 0; index < text.length; index += 1) weight += weightOf(text.charCodeAt(index));
  return weight;
}

/** The space left for a text: weight (see `weigh`) and UTF-16 units. */
export interface Room {
  readonly weight: number;
  readonly length: number;
}

/** The number of units from one end of `text` that fit into `room`. Ignores graphemes. */
function fitting(text: string, room: Room, fromEnd: boolean): number {
  const limit = Math.max(0, Math.min(text.length, room.length));
  let weight = 0;
  for (let count = 0; count < limit; count += 1) {
    weight += weightOf(text.charCodeAt(fromEnd ? text.length - 1 - count : count));
    if (weight > room.weight) return count;
  }
  return limit;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** No real grapheme is longer. A longer pile of combining marks is cut between code points. */
const MAX_GRAPHEME_LENGTH = 64;

const splitsPair = (text: string, index: number): boolean => /^[\uDC00-\uDFFF]/.test(text.slice(index, index + 1));

/** The grapheme around `index` as [start, end]; [index, index] at an edge. */
function edges(text: string, index: number): readonly [number, number] {
  if (index <= 0 || index >= text.length) return [index, index];
  let from = Math.max(0, index - MAX_GRAPHEME_LENGTH);
  if (splitsPair(text, from)) from -= 1;
  const around = graphemes.segment(text.slice(from, index + MAX_GRAPHEME_LENGTH)).containing(index - from);
  if (!around || around.index === index - from) return [index, index];
  if (around.index === 0 || around.segment.length >= MAX_GRAPHEME_LENGTH)
    return splitsPair(text, index) ? [index - 1, index + 1] : [index, index];
  return [from + around.index, from + around.index + around.segment.length];
}

/** The longest beginning of `text` that fits, cut between graphemes. */
export const firstOf = (text: string, room: Room): string => text.slice(0, edges(text, fitting(text, room, false))[0]);

/** The longest end of `text` that fits, cut between graphemes. */
export const lastOf = (text: string, room: Room): string =>
  text.slice(edges(text, text.length - fitting(text, room, true))[1]);

const MARK_ROOM = 32;
/** With less room, the count would cost more than it tells. */
const MIN_FOR_COUNT = 80;

const fits = (text: string, room: Room): boolean => text.length <= room.length && weigh(text) <= room.weight;

const more = (count: number): string => `… ${count.toLocaleString('en-US')} more`;

/** `text`, or its beginning and `… N more` (N in characters), or just `…`. */
export function shorten(text: string, room: Room): string {
  if (fits(text, room)) return text;
  if (Math.min(room.length, room.weight) < MIN_FOR_COUNT) {
    return `${firstOf(text, { weight: room.weight - 3, length: room.length - 1 })}…`;
  }
  const start = firstOf(text, { weight: room.weight - MARK_ROOM, length: room.length - MARK_ROOM });
  return `${start}${more(text.length - start.length)}`;
}

/** `text`, or its first third and its last two thirds around `… N more …`: the end of a log tells most. */
export function shortenMiddle(text: string, room: Room): string {
  if (fits(text, room)) return text;
  const left = { weight: room.weight - MARK_ROOM, length: room.length - MARK_ROOM };
  const head = firstOf(text, { weight: Math.floor(left.weight / 3), length: Math.floor(left.length / 3) });
  const tail = lastOf(text.slice(head.length), {
    weight: Math.floor((left.weight * 2) / 3),
    length: Math.floor((left.length * 2) / 3),
  });
  return `${head}\n${more(text.length - head.length - tail.length)} …\n${tail}`;
}

/** The colon that would begin an emoji name. U+2236 looks the same and begins none. */
const EMOJI_COLON = /:(?=[a-z0-9_+'-]{1,100}:)/gi;

/** For Slack's `text` fields, the only ones that Slack parses: removes mentions, links and emoji (docs: "escaping text"). */
export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replace(EMOJI_COLON, '\u2236');
