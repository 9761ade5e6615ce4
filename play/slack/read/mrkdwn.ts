/**
 * What Slack would make of a piece of text. A model of "Formatting text for app surfaces" (docs.slack.dev), on the
 * side of seeing too much: a test that finds nothing here can trust that Slack finds nothing.
 */
export type Kind =
  | 'user'
  | 'usergroup'
  | 'channel'
  | 'broadcast'
  | 'link'
  | 'date'
  | 'emoji'
  | 'bold'
  | 'italic'
  | 'strike'
  | 'code'
  | 'preformatted'
  | 'quote'
  | 'list';

export interface Found {
  readonly kind: Kind;
  /** As it stands in the source. */
  readonly text: string;
}

export interface Reading {
  /** `<…>` is read: mentions, links, dates. Everywhere but in `plain_text`. */
  readonly angles: boolean;
  /** Bare addresses become links. */
  readonly autoLinks: boolean;
  /** `@here`, `#general` without angle brackets are looked up. */
  readonly names: boolean;
  /** `*bold*`, fences, quotes … */
  readonly marks: boolean;
  /** `:smile:` */
  readonly emoji: boolean;
}

function angleKind(inside: string): Kind | undefined {
  if (/^@[UW][A-Z0-9]*/.test(inside)) return 'user';
  if (/^#[CDG][A-Z0-9]*/.test(inside)) return 'channel';
  if (/^!subteam\^/.test(inside)) return 'usergroup';
  if (/^!date\^/.test(inside)) return 'date';
  if (inside.startsWith('!')) return 'broadcast';
  if (/^[a-z][a-z0-9+.-]*:/i.test(inside)) return 'link';
  return undefined;
}

function all(text: string, expression: RegExp, kind: Kind): Found[] {
  return [...text.matchAll(expression)].map(([match]) => ({ kind, text: match }));
}

// Each expression starts at most once in a run of its own letters, or is bounded: reading stays linear.
const ADDRESS = /(?:[a-z][a-z0-9+.-]{0,30}:\/\/|\bmailto:|\bwww\.)[^\s<>|]+/gi;
const TOP_LEVEL = 'com|net|org|io|dev|app|co|de|uk|eu|me|sh|ai|gov|edu|info|xyz';
const BARE_DOMAIN = new RegExp(`(?<![a-z0-9.-])(?:[a-z0-9-]+\\.)+(?:${TOP_LEVEL})\\b(?:/[^\\s<>|]*)?`, 'gi');
const MAIL = /(?<![^\s<>@|])[^\s<>@|]+@(?:[a-z0-9-]+\.)+[a-z]{2,}\b/gi;
const EMOJI = /:[a-z0-9_+'-]{1,100}:/g;

/** A mark opens at a word's start and closes at a word's end, within one line; Slack ignores it elsewhere. */
function marked(mark: string): RegExp {
  const edge = '[^\\p{L}\\p{N}]';
  return new RegExp(`(?<=^|${edge})[${mark}](?=[^\\s${mark}])[^\\n${mark}]*(?<=\\S)[${mark}](?=$|${edge})`, 'gmu');
}

const BOLD = marked('*');
const ITALIC = marked('_');
const STRIKE = marked('~');

function marksIn(text: string): Found[] {
  const fences = all(text, /```[\s\S]*?```/g, 'preformatted');
  const outside = text.replace(/```[\s\S]*?```/g, ' ');
  const code = all(outside, /`[^`\n]+`/g, 'code');
  const rest = outside.replace(/`[^`\n]+`/g, ' ');
  return [
    ...fences,
    ...code,
    ...all(rest, BOLD, 'bold'),
    ...all(rest, ITALIC, 'italic'),
    ...all(rest, STRIKE, 'strike'),
    // An escaped `>` is how SDKs send a quote; it renders like a bare one.
    ...all(rest, /^(?:>|&gt;)+ ?.*$/gm, 'quote'),
  ];
}

/** Everything in `text` that would not be shown as it stands. Entities are decoded once, after this reading, so `&amp;lt;` stays text. */
export function readMrkdwn(text: string, reading: Reading): Found[] {
  const found: Found[] = [];
  let rest = text;
  if (reading.angles) {
    // Also within code: Slack resolves mentions and links there when they come through the API.
    rest = text.replace(/<([^<>]*)>/g, (match, inside: string) => {
      const kind = angleKind(inside);
      if (kind !== undefined) found.push({ kind, text: match });
      return kind === undefined ? match : ' ';
    });
  }
  if (reading.autoLinks) {
    found.push(...all(rest, ADDRESS, 'link'), ...all(rest.replace(ADDRESS, ' '), MAIL, 'link'));
    found.push(...all(rest.replace(ADDRESS, ' ').replace(MAIL, ' '), BARE_DOMAIN, 'link'));
  }
  if (reading.names) {
    found.push(
      ...all(rest, /(?<![\w&])@(?:here|channel|everyone)\b/g, 'broadcast'),
      ...all(rest, /(?<![\w&])#[a-z][a-z0-9_-]*\b/g, 'channel'),
    );
  }
  if (reading.marks) found.push(...marksIn(rest));
  // `12:34:56` is a time, not an emoji.
  if (reading.emoji) found.push(...all(rest, EMOJI, 'emoji').filter((one) => /[a-z+-]/.test(one.text)));
  return found;
}
