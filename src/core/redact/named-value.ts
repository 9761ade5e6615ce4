import { matchesIn, type SecretRange, type Span } from './secret-range.ts';

/**
 * Finds values whose key is named like a secret: `key=value`, `key: value`, JSON (also inside JSON strings), YAML,
 * `--key value`, `<key>value</key>`, `"name":"KEY","value":"…"`, and the `Authorization` header.
 */

const STEMS = [
  'passw(?:or)?d',
  'passwort',
  'kennwort',
  'contrase(?:\u00f1|n)a',
  'passphrase',
  'passcode',
  'pass(?<![A-Za-z]pass)',
  'pwd',
  'secret(?:[-_. ]?(?:access)?[-_. ]?key)?(?:[-_]?base)?',
  'token',
  'credentials?',
  '(?:api|access|private|account|signing|encryption|master|auth|session|client)[-_. ]?key',
  'connection[-_. ]?string',
  'authorization',
  'cookie2?',
  // Any other key: its value must look like a secret.
  'key(?<=[-_]key)',
];
/** Endings after which the name still names a secret. Others (`secretName`, `token_type`) name something else. */
const ENDINGS = ['hash', 'value', 'data', 'b64', 'base64', 'plain', 'text', 'raw', 'old', 'new', 'current', 'previous'];
const ENDING = `(?:[-_.]?(?:${ENDINGS.join('|')}|v?\\d{1,3}))?`;
/** In the address of a page, and in its text. */
const ENCODED = '(?:%22)?%3[AD](?:%22)?|(?:&quot;|&#3[49];)[ \\t]{0,4}:[ \\t]{0,4}(?:&quot;|&#3[49];)|&#61;';
const SEPARATOR = `\\\\*["'\`]{0,3}[ \\t]{0,4}(?:={1,2}>?|:=|:(?!:))[ \\t]{0,4}|${ENCODED}|[ \\t]{1,4}(?=\\S)|>|\\\\*["'][ \\t]{0,4},[ \\t]{0,4}\\\\*["']value\\\\*["'][ \\t]{0,4}:[ \\t]{0,4}`;
const KEY = new RegExp(`(${STEMS.join('|')})${ENDING}(${SEPARATOR})`, 'gi');

/**
 * Short words are common in prose: only with what may follow them. Of an ending its beginning is enough. A digit stands for
 * all digits, the quotation mark for all that is in no name (see `createAnchorScan`).
 */
const SHORT_STEMS = ['pwd', 'pass', '_key', 'cookie'];
const AFTER_STEM = ['=', ':', '"', '_', '0', 'v0', ...ENDINGS.map((ending) => ending.slice(0, 3))];

/** Every key above contains one of these. */
export const NAMED_ANCHORS: readonly string[] = [
  ...SHORT_STEMS.flatMap((stem) => AFTER_STEM.map((after) => stem + after)),
  ...['passw', 'passphrase', 'passcode', '_pass', 'secret', 'token', 'credential'],
  ...['api', 'access', 'private', 'account', 'signing', 'encryption', 'master', 'auth', 'session', 'client'].flatMap(
    (word) => [`${word}key`, `${word}_key`],
  ),
  ...['connectionstr', 'connection_str', 'authorization', 'kennwort', 'contrase'],
];

/** CSV doubles the quotes of its text, and some languages write three around one. */
const OPENING = /[bru]?(\\*)(["'`])(?:\2{1,2}(?=[^\s"'`,;)}\]]))?/y;
const QUOTED: Readonly<Record<string, RegExp>> = {
  '"': /(?:[^"\\]|\\.)*/y,
  "'": /(?:[^'\\]|\\.)*/y,
  '`': /[^`]*/y,
};
/**
 * A punctuation mark ends a bare value only before a space, another mark or the next `key=`: passwords contain marks
 * too.
 */
const BARE = /(?:[^\s"'`<&;,)\]}\\]|\\(?!["'`nrt\\])|["'`&;,)\]}](?!$|[\s"'`&;,)\]}{[]|[\w.-]{1,64}[=:]))+/y;
const WORD = /\S+/y;
const REST = /\S(?:.*\S)?/y;
const HEADER_VALUE =
  /(?:(?:bearer|basic|digest|token|negotiate|apikey|aws4[\w-]*) +)?[^\s"'`\\,]+(?:, *\w+=[^\s"'`\\,]+)*/iy;
const COOKIES = /[^\s"'`<>\\;]+(?:; *[^\s"'`<>\\;]+)*/y;
const LINE_START = /^(?:\s*(?:-\s+)?(?:export\s+|ENV\s+|set\s+)?)["']?[\w.-]*$/;

const NOT_A_VALUE =
  /^(?:null|nil|none|undefined|true|false|yes|no|on|off|unset|empty|string|\*+|x{3,}|\.{2,}|-+|[[<]?(?:redacted|masked|hidden|filtered|sensitive)\b.*|<[\w .-]*>|\$\{[^}]*\}?|\$\([^)]*\)?|\$[A-Z_]+|\{\{.*|%[a-z]|[{[(|>]\S{0,2})$/i;
const PROSE =
  /^(?:a|an|the|is|are|was|were|has|have|had|not|must|cannot|can|could|should|will|for|from|to|of|in|by|at|and|or|missing|invalid|incorrect|expired|required|wrong|denied|failed|unexpected|unknown|unsupported|unauthorized|rejected|refused|revoked|rotated|renewed|refreshed|changed|updated|created|deleted|loaded|found|ok|verification|authentication|too|please|try|check)(?=[\s.,;:!?]|$)/i;
const PATH =
  /^(?:file:\/\/|\.{0,2}\/(?:etc|var|run|home|root|tmp|opt|usr|secrets?|app|mnt|srv|data|config|proc|dev)(?:\/|$))/;
const OBJECT_NAME = /^[a-z0-9][a-z0-9.-]*\/[a-z0-9][a-z0-9.-]*$/;
const MIN_TOKEN_LENGTH = 6;
/** The length of a value that is judged: more than any harmless value has. */
const MAX_JUDGED_LENGTH = 512;
/** Keys of maps and tables, and keys that are public on purpose. */
const OPEN_KEY =
  /(?:^|[-_.\s"'])(?:cache|partition|routing|primary|foreign|sort|object|idempotency|dedup\w*|public|pub|row|shard|map|group|hash|index|unique|lookup|storage|s3|message|event|record|job|lock|label|config|site|host|hot|trace|item|file|etag|composite|range|natural|surrogate|license)[-_]$/i;

interface Key {
  readonly stem: string;
  /** As it is written. */
  readonly word: string;
  readonly separator: string;
  /** The key is the first thing on its line. */
  readonly leads: boolean;
  /** The text before the known part of the key, up to 64 characters. */
  readonly before: string;
}

interface Value {
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

function quotedValue(text: string, at: number): Value | undefined {
  OPENING.lastIndex = at;
  const [opening = '', escapes = '', quote = ''] = OPENING.exec(text) ?? [];
  if (opening === '') return undefined;
  const start = at + opening.length;
  if (escapes === '') return { start, end: start + matchAt(QUOTED[quote] ?? WORD, text, start).length, quoted: true };
  return { start, end: escapedEnd(text, start, { escapes, quote }), quoted: true };
}

/** A quotation mark with fewer escapes ends the text around the value, and so the value itself. */
function escapedEnd(text: string, start: number, { escapes, quote }: { escapes: string; quote: string }): number {
  const mark = text.indexOf(quote, start);
  if (mark === -1) return text.length;
  let end = mark;
  while (end > start && mark - end < escapes.length && text[end - 1] === '\\') end--;
  return end;
}

function barePattern({ stem, separator, leads }: Key): RegExp {
  if (stem === 'authorization') return HEADER_VALUE;
  if (stem.startsWith('cookie')) return COOKIES;
  if (!leads) return BARE;
  return /:[ \t]/.test(separator) ? REST : WORD;
}

/**
 * Reads the values of one text. All bare values that overlap have the same end, so it is searched once: otherwise every
 * key inside a harmless value would scan the rest of it.
 */
class ValueReader {
  readonly #text: string;
  readonly #ends = new Map<RegExp, number>();

  constructor(text: string) {
    this.#text = text;
  }

  at(key: Key, start: number): Value {
    const quoted = quotedValue(this.#text, start);
    if (quoted !== undefined) return quoted;
    const pattern = barePattern(key);
    const known = this.#ends.get(pattern) ?? 0;
    const end = start < known ? known : start + matchAt(pattern, this.#text, start).length;
    this.#ends.set(pattern, end);
    return { start, end, quoted: false };
  }
}

/** Some separators join key and value only after certain text. */
function isSeparated({ stem, word, separator, before }: Key): boolean {
  if (separator === '>') return /<[\w:.-]*$/.test(before);
  // `PASS: TestCart` is a test result.
  if (stem === 'pass' && !/[-_]$/.test(before))
    return /^\\*["']?[=:]/.test(separator) && !(word === 'PASS' && /: /.test(separator));
  if (stem === 'key' || stem.startsWith('cookie')) return /[=:]/.test(separator);
  return separator.trim() !== '' || /(?:^|[\s"'=,[])--?[\w.-]*$/.test(before);
}

/** Not a word, name or number: upper case, lower case and digits in one piece, or a long hexadecimal number. */
function looksRandom(value: string): boolean {
  const [piece = ''] = /^(?:base64:|0x)?[\w+/=.~-]{16,}/.exec(value) ?? [];
  if (/^(?:base64:|0x)?[0-9a-f]{32}/i.test(piece)) return true;
  return /[a-z]/.test(piece) && /[A-Z]/.test(piece) && /\d/.test(piece);
}

/** The text before `KEY` in the name of a variable such as `HMAC_KEY`. */
const VARIABLE = /[A-Z]_$/;
/** Letters and digits in one piece, so neither a number nor several words. */
function mixes(value: string): boolean {
  const [piece = ''] = /^\w{12,}/.exec(value) ?? [];
  return /[a-z]/i.test(piece) && /\d/.test(piece);
}

const HARMLESS: Readonly<Record<string, (value: string, before: string) => boolean>> = {
  secret: (value) => OBJECT_NAME.test(value),
  // The shell's own PWD is a directory.
  pwd: (value, before) =>
    /^\d{1,5}$/.test(value) || (value.startsWith('/') && /(?:^|[^A-Za-z_-])(?:OLD)?$/.test(before)),
  pass: (value) => /^\d{1,5}(?:[./]\d{1,5})?(?:%|[mnµ]?s)?$/.test(value),
  key: (value, before) => OPEN_KEY.test(before) || !(looksRandom(value) || (VARIABLE.test(before) && mixes(value))),
  cookie: (value) => !value.includes('=') && !looksRandom(value),
  token: (value) => value.length < MIN_TOKEN_LENGTH,
  credential: (value) => value.length < MIN_TOKEN_LENGTH,
  authorization: (value) => !/[ \d]/.test(value) || /^\S{0,9}$/.test(value),
};
const PLURAL = /(?<=^credential)s$|(?<=^cookie)2$/;

const isHarmless = ({ stem, before }: Key, value: string): boolean =>
  HARMLESS[stem.replace(PLURAL, '')]?.(value, before) ?? false;

function isSecret(key: Key, value: string, quoted: boolean): boolean {
  if (value === '' || NOT_A_VALUE.test(value) || PATH.test(value) || isHarmless(key, value)) return false;
  const isProse = !quoted && /:[ \t]+$|^[ \t]+$/.test(key.separator);
  if (!isProse) return true;
  const isWord = /^[a-z]+$/.test(value) && (key.stem === 'token' || (key.stem === 'pass' && !key.leads));
  return !PROSE.test(value) && !isWord;
}

/** Secrets of the span that the name of their key reveals; the key stays readable. */
export function* findNamedValues(span: Span): Generator<SecretRange> {
  const { text } = span;
  const values = new ValueReader(text);
  let covered = 0;
  for (const match of matchesIn(KEY, span)) {
    const word = match[1] ?? '';
    const before = text.slice(Math.max(0, match.index - 64), match.index);
    const key: Key = {
      stem: word.toLowerCase(),
      word,
      separator: match[2] ?? '',
      leads: span.startsLine && match.index <= 64 && LINE_START.test(before),
      before,
    };
    const at = KEY.lastIndex;
    // A key inside the previous value ends where that value ends, so it is skipped.
    if (at < covered || !isSeparated(key)) continue;
    const { start, end, quoted } = values.at(key, at);
    if (!isSecret(key, text.slice(start, Math.min(end, start + MAX_JUDGED_LENGTH)), quoted)) continue;
    covered = end;
    yield { start, end, kind: key.stem === 'authorization' ? 'authorization' : 'secret' };
  }
}
