import type { Json } from '../json.ts';

/** How much of mrkdwn is read: a `verbatim` text has mentions, dates and links in angles, and nothing is linked by itself. */
export interface Reading {
  readonly verbatim?: boolean;
  /** Markup: `*bold*`, lists, quotes, code, and what stands in angles. Default: yes. */
  readonly marks?: boolean;
}

type Style = Readonly<Record<string, boolean>>;

const marked = (mark: string): string =>
  `(?<=^|[^\\p{L}\\p{N}])[${mark}](?=[^\\s${mark}])[^\\n${mark}]*(?<=\\S)[${mark}](?=$|[^\\p{L}\\p{N}])`;

const ANGLES = '<[^<>\\n]+>';
/** What ends a sentence does not end an address. */
const ADDRESS = '\\bhttps?:\\/\\/[^\\s<>|]*[^\\s<>|.,;:!?)\\]}\'"]';
const MARKS = ['`[^`\\n]+`', marked('*'), marked('_'), marked('~')].join('|');
const EMOJI = ":[a-z0-9_+'-]{1,100}:";

const STYLES: Readonly<Record<string, string>> = { '*': 'bold', _: 'italic', '~': 'strike', '`': 'code' };

/**
 * mrkdwn as parts of a `rich_text` block, so that one component draws both. What is not markup is text, to the letter
 * (with `&amp; &lt; &gt;` read once, as Slack does). Linear in the length of the text.
 */
export function richTextOf(text: string, reading: Reading = {}): Json[] {
  if (reading.marks === false) return [section(text, reading)];
  return text.split('```').flatMap((piece, index, all) => {
    // An opening fence without its end is text.
    if (index % 2 === 1 && index < all.length - 1) {
      const elements = [{ type: 'text', text: decoded(piece.replace(/^\n/, '').replace(/\n$/, '')) }];
      return [{ type: 'rich_text_preformatted', elements }];
    }
    const said = index % 2 === 1 ? `\`\`\`${piece}` : piece;
    const trimmed = index === 0 ? said.replace(/\n$/, '') : said.replace(/^\n|\n$/g, '');
    return trimmed === '' && all.length > 1 ? [] : linesOf(trimmed, reading);
  });
}

const QUOTE = /^(?:>|&gt;) ?/;

/** Lines with a quote's mark become quotes, the others sections. */
function linesOf(text: string, reading: Reading): Json[] {
  const groups: { quote: boolean; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const quote = QUOTE.test(line);
    const last = groups.at(-1);
    if (last?.quote === quote) last.lines.push(line.replace(quote ? QUOTE : '', ''));
    else groups.push({ quote, lines: [line.replace(quote ? QUOTE : '', '')] });
  }
  return groups.map(({ quote, lines }) => ({
    ...section(lines.join('\n'), reading),
    ...(quote && { type: 'rich_text_quote' }),
  }));
}

const section = (text: string, reading: Reading): Json => ({
  type: 'rich_text_section',
  elements: spansOf(text, reading, {}),
});

function patternFor({ verbatim, marks }: Reading): RegExp {
  const kinds = [...(verbatim ? [] : [ADDRESS]), ...(marks === false ? [] : [ANGLES, MARKS]), EMOJI];
  return new RegExp(kinds.join('|'), 'gmu');
}

function spansOf(text: string, reading: Reading, style: Style): Json[] {
  const spans: Json[] = [];
  let from = 0;
  const say = (words: string): void => {
    if (words !== '') spans.push(styled({ type: 'text', text: decoded(words) }, style));
  };
  for (const { 0: found, index } of text.matchAll(patternFor(reading))) {
    say(text.slice(from, index));
    spans.push(...spanOf(found, reading, style));
    from = index + found.length;
  }
  say(text.slice(from));
  return spans;
}

const styled = (span: Json, style: Style): Json => (Object.keys(style).length === 0 ? span : { ...span, style });

function spanOf(found: string, reading: Reading, style: Style): Json[] {
  const mark = STYLES[found.charAt(0)];
  if (mark !== undefined) {
    const inside = found.slice(1, -1);
    const more = { ...style, [mark]: true };
    // Each mark is used up by one level, so this ends after four.
    return mark === 'code' ? [styled({ type: 'text', text: decoded(inside) }, more)] : spansOf(inside, reading, more);
  }
  if (found.startsWith('<')) return [styled(angleOf(found.slice(1, -1), found), style)];
  if (found.startsWith(':')) return [styled({ type: 'emoji', name: found.slice(1, -1) }, style)];
  return [styled({ type: 'link', url: decoded(found) }, style)];
}

function angleOf(inside: string, whole: string): Json {
  const bar = inside.indexOf('|');
  const target = bar === -1 ? inside : inside.slice(0, bar);
  const label = bar === -1 ? undefined : decoded(inside.slice(bar + 1));
  if (/^@[UW][A-Z0-9]+$/.test(target)) return { type: 'user', user_id: target.slice(1) };
  if (/^#[CDG][A-Z0-9]+$/.test(target)) return { type: 'channel', channel_id: target.slice(1) };
  if (target.startsWith('!subteam^')) return { type: 'usergroup', usergroup_id: target.slice('!subteam^'.length) };
  if (/^!(?:here|channel|everyone)$/.test(target)) return { type: 'broadcast', range: target.slice(1) };
  const date = /^!date\^(\d{1,11})\^([^^]*)(?:\^(.*))?$/.exec(target);
  if (date) return { type: 'date', timestamp: Number(date[1]), format: date[2], fallback: label ?? '', url: date[3] };
  if (/^(?:https?|mailto):/i.test(target)) return { type: 'link', url: decoded(target), text: label };
  return { type: 'text', text: decoded(whole) };
}

const decoded = (text: string): string =>
  text.replace(/&(amp|lt|gt);/g, (_whole, name: string) => ({ amp: '&', lt: '<', gt: '>' })[name] ?? '');
