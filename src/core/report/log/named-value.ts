import { matchesIn, type SecretRange, type Span } from './secret-range.ts';

/**
 * Values of keys that are named like secrets: `key=value`, `key: value`, JSON also inside JSON strings, YAML, `--key value`,
 * `<key>value</key>`, `"name":"KEY","value":"…"`, and the `Authorization` header.
 */

const STEMS = [
  'passw(?:or)?d',
  'passphrase',
  'passcode',
  'pass(?<=[-_]pass)',
  'pwd',
  'secret(?:[-_. ]?(?:access)?[-_. ]?key)?(?:[-_]?base)?',
  'token',
  'credentials?',
  '(?:api|access|private|account|signing|encryption|master|auth|session|client)[-_. ]?key',
  'connection[-_. ]?string',
  'authorization',
];
/** Endings that leave a secret's name a secret's name; any other (`secretName`, `token_type`) is something else. */
const ENDING = '(?:[-_.]?(?:hash|value|data|b64|base64|plain|text|raw|old|new|current|previous|v?\\d{1,3}))?';
const SEPARATOR =
  '\\\\*["\'`]?[ \\t]{0,4}(?:={1,2}>?|:=|:(?!:))[ \\t]{0,4}|[ \\t]{1,4}(?=\\S)|>|\\\\*["\'][ \\t]{0,4},[ \\t]{0,4}\\\\*["\']value\\\\*["\'][ \\t]{0,4}:[ \\t]{0,4}';
const KEY = new RegExp(`(${STEMS.join('|')})${ENDING}(${SEPARATOR})`, 'gi');

/** Every key above holds one of these. */
export const NAMED_ANCHORS: readonly string[] = [
  ...['passw', 'passphrase', 'passcode', '_pass', 'pwd=', 'pwd:', 'pwd_', 'pwd"', 'secret', 'token', 'credential'],
  ...['api', 'access', 'private', 'account', 'signing', 'encryption', 'master', 'auth', 'session', 'client'].flatMap(
    (word) => [`${word}key`, `${word}_key`],
  ),
  ...['connectionstr', 'connection_str', 'authorization'],
];

const OPENING = /[bru]?(\\*)(["'`])/y;
const QUOTED: Readonly<Record<string, RegExp>> = {
  '"': /(?:[^"\\]|\\.)*/y,
  "'": /(?:[^'\\]|\\.)*/y,
  '`': /[^`]*/y,
};
/** A mark ends a bare value only before a space, another mark or the next `key=`: passwords hold marks as well. */
const BARE = /(?:[^\s"'`<&;,)\]}\\]|\\(?!["'`nrt\\])|["'`&;,)\]}](?!$|[\s"'`&;,)\]}{[]|[\w.-]{1,64}[=:]))+/y;
const WORD = /\S+/y;
const REST = /\S(?:.*\S)?/y;
const HEADER_VALUE =
  /(?:(?:bearer|basic|digest|token|negotiate|apikey|aws4[\w-]*) +)?[^\s"'`\\,]+(?:, *\w+=[^\s"'`\\,]+)*/iy;
const LINE_START = /^(?:\s*(?:-\s+)?(?:export\s+|ENV\s+|set\s+)?)["']?[\w.-]*$/;

const NOT_A_VALUE =
  /^(?:null|nil|none|undefined|true|false|yes|no|on|off|unset|empty|string|\*+|x{3,}|\.{2,}|-+|[[<]?(?:redacted|masked|hidden|filtered|sensitive)\b.*|<[\w .-]*>|\$\{[^}]*\}?|\$\([^)]*\)?|\$[A-Z_]+|\{\{.*|%[a-z]|[{[(|>]\S{0,2})$/i;
const PROSE =
  /^(?:a|an|the|is|are|was|were|has|have|had|not|must|cannot|can|could|should|will|for|from|to|of|in|by|at|and|or|missing|invalid|incorrect|expired|required|wrong|denied|failed|unexpected|unknown|unsupported|unauthorized|rejected|refused|revoked|rotated|renewed|refreshed|changed|updated|created|deleted|loaded|found|ok|verification|authentication|too|please|try|check)\b/i;
const PATH =
  /^(?:file:\/\/|\.{0,2}\/(?:etc|var|run|home|root|tmp|opt|usr|secrets?|app|mnt|srv|data|config|proc|dev)(?:\/|$))/;
const OBJECT_NAME = /^[a-z0-9][a-z0-9.-]*\/[a-z0-9][a-z0-9.-]*$/;
const SHORTEST_TOKEN = 6;

interface Key {
  readonly stem: string;
  readonly separator: string;
  /** The key is the first thing on its line. */
  readonly leads: boolean;
  /** What stands before the key's known part, up to 64 characters. */
  readonly before: string;
}

interface Value {
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
}

function take(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

function quotedValue(text: string, at: number): Value | undefined {
  OPENING.lastIndex = at;
  const [opening = '', escapes = '', quote = ''] = OPENING.exec(text) ?? [];
  if (opening === '') return undefined;
  const start = at + opening.length;
  if (escapes === '') return { start, end: start + take(QUOTED[quote] ?? WORD, text, start).length, quoted: true };
  const end = text.indexOf(escapes + quote, start);
  return { start, end: end === -1 ? text.length : end, quoted: true };
}

function barePattern({ stem, separator, leads }: Key): RegExp {
  if (stem === 'authorization') return HEADER_VALUE;
  if (!leads) return BARE;
  return /:[ \t]/.test(separator) ? REST : WORD;
}

function valueAt(key: Key, text: string, at: number): Value {
  const quoted = quotedValue(text, at);
  if (quoted !== undefined) return quoted;
  return { start: at, end: at + take(barePattern(key), text, at).length, quoted: false };
}

/** A separator that needs something before the key to mean anything. */
function isSeparated({ separator, before }: Key): boolean {
  if (separator === '>') return /<[\w:.-]*$/.test(before);
  return separator.trim() !== '' || /(?:^|[\s"'=,[])--?[\w.-]*$/.test(before);
}

function isHarmless(key: Key, value: string): boolean {
  if (key.stem === 'secret') return OBJECT_NAME.test(value);
  if (key.stem === 'pwd' || key.stem.endsWith('pass')) return /^(?:\/|\d{1,5}$)/.test(value);
  if (key.stem === 'token' || key.stem.startsWith('credential')) return value.length < SHORTEST_TOKEN;
  return key.stem === 'authorization' && (!/[ \d]/.test(value) || /^\S{0,9}$/.test(value));
}

function isSecret(key: Key, value: string, quoted: boolean): boolean {
  if (value === '' || NOT_A_VALUE.test(value) || PATH.test(value) || isHarmless(key, value)) return false;
  const isProse = !quoted && /:[ \t]+$|^[ \t]+$/.test(key.separator);
  if (!isProse) return true;
  return !PROSE.test(value) && !(key.stem === 'token' && /^[a-z]+$/.test(value));
}

/** Secrets of the span that are known by the name of their key; the key stays readable. */
export function* findNamedValues(span: Span): Generator<SecretRange> {
  const { text } = span;
  let covered = 0;
  for (const match of matchesIn(KEY, span)) {
    const before = text.slice(Math.max(0, match.index - 64), match.index);
    const key: Key = {
      stem: (match[1] ?? '').toLowerCase(),
      separator: match[2] ?? '',
      leads: span.startsLine && match.index <= 64 && LINE_START.test(before),
      before,
    };
    // A key inside the value before it may be one of its own; a value inside it ends where that one ends.
    if (KEY.lastIndex < covered || !isSeparated(key)) continue;
    const { start, end, quoted } = valueAt(key, text, KEY.lastIndex);
    if (!isSecret(key, text.slice(start, end), quoted)) continue;
    covered = end;
    yield { start, end, kind: key.stem === 'authorization' ? 'authorization' : 'secret' };
  }
}
