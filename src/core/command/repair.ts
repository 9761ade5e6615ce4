/** What Slack writes for mentions, channels and links, and its three entities. */
const MARKUP =
  /&(?:amp|lt|gt);|<(?:@([UW][A-Z0-9]+)|#([CGD][A-Z0-9]+)|!subteam\^([A-Z0-9]+)|!(here|channel|everyone)|((?:mailto:|tel:|[A-Za-z][A-Za-z0-9+.-]{0,30}:\/\/)[^<>|\n]*))(?:\|([^<>\n]*))?>/g;

const ENTITY = /&(?:amp|lt|gt);/g;

/** Control characters but tab and newline, zero-width and bidirectional marks, tag characters. */
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Unicode spaces but the plain one. */
const SPACE = /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/g;
/** The two joiners: part of some scripts and emoji, so they stay between quotes. */
const JOINER = /[\u200c\u200d]/g;

const DOUBLE = '“”„‟«»';
const SINGLE = '‘’‚‛';
/** Figure, en, em, bar, minus, small em: what phones make of `--`. The other dashes below are hyphens and stand for one `-`. */
const LONG_DASH = /[\u2012-\u2015\u2212\ufe58]/;

/** Where something may have to be edited outside quotes: quotes, backslashes, dashes, Unicode spaces, joiners. */
const EDITABLE =
  /["'\\“”„‟«»‘’‚‛\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u200c\u200d]/g;
const DASHES = /[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+/y;
const SPACES = /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u200c\u200d]+/y;

/** Text in which there is nothing to undo, but for what stands in quotes. */
const PLAIN = /^[\t\n\x20-\x25\x27-\x3b\x3d-\x7e]*$/;

/**
 * Undoes Slack's own markup, anywhere, once and from left to right: `&amp; &lt; &gt;` are decoded (`&amp;lt;` is the text
 * `&lt;`), a link becomes what was typed (its label, else its address), `<@U1|name>`, `<#C1|name>` and `<!subteam^S1>` become
 * the bare id (names can be changed, ids cannot), `<!here>` becomes `@here`. A `<` of any other kind stays. Lone surrogates
 * become U+FFFD, line ends `\n`. Control, zero-width, bidirectional and tag characters are removed, between quotes too:
 * an approver must see what will run. (Slack: "Formatting text for app surfaces", escaping and parsing.)
 */
export function unwrapMarkup(raw: string): string {
  if (PLAIN.test(raw)) return raw;
  return raw
    .replace(/\p{Surrogate}+/gu, (run) => '\ufffd'.repeat(run.length))
    .replace(/\r\n?/g, '\n')
    .replace(MARKUP, unwrapOne)
    .replace(INVISIBLE, '');
}

function unwrapOne(match: string, ...groups: readonly (string | undefined)[]): string {
  const [user, channel, group, everybody, address, label] = groups;
  if (address !== undefined) return decodeEntities(label || address.replace(/^(?:mailto|tel):/, ''));
  if (everybody !== undefined) return `@${everybody}`;
  return user ?? channel ?? group ?? decodeEntities(match);
}

const decodeEntities = (text: string): string =>
  text.replace(ENTITY, (entity) => (entity === '&amp;' ? '&' : entity === '&lt;' ? '<' : '>'));

/**
 * Writes text so that `unwrapMarkup` gives it back: only what would be taken for markup is encoded. A single `<` that completes
 * a link makes all of them `&lt;`.
 */
export function protectMarkup(text: string): string {
  const entities = text.replace(ENTITY, (entity) => `&amp;${entity.slice(1)}`);
  const hasLink = entities.match(MARKUP)?.some((match) => match.startsWith('<')) ?? false;
  return hasLink ? entities.replaceAll('<', '&lt;') : entities;
}

/**
 * Undoes what phones and word processors do to a command line whose markup is already unwrapped. Outside quotes:
 * - every Unicode space is a space; joiners are removed;
 * - curly, low and angled quotes are `"` or `'`; a curly apostrophe between two letters or digits (`it’s`) stays as it is;
 * - at the beginning of a word, dashes before a letter are `--` (`—image`, `–-image`), before one single letter `-` (`–n`), and
 *   alone they are `--`; typographic hyphens are `-`. Words that begin with plain hyphens, and dashes within words, stay.
 * Between quotes all stays as it was typed, but for the quote that closes: what a curly quote opened is closed by the next
 * curly or straight one; what a straight quote opened is closed by the next straight one and, where there is none, by a curly one.
 * Time is linear in the length of the line; never throws.
 */
export function repairLine(line: string): string {
  if (!/[^\t\n\x20-\x7e]/.test(line)) return line;
  let repaired = '';
  let from = 0;
  EDITABLE.lastIndex = 0;
  while (EDITABLE.test(line)) {
    const at = EDITABLE.lastIndex - 1;
    const edit = editAt(line, at);
    repaired += line.slice(from, at) + edit.text;
    from = edit.end;
    EDITABLE.lastIndex = from;
  }
  return repaired + line.slice(from);
}

/** What the characters up to `end` become. */
interface Edit {
  readonly text: string;
  readonly end: number;
}

function editAt(line: string, at: number): Edit {
  const first = line.charAt(at);
  if (first === '\\') return { text: line.slice(at, at + 2), end: Math.min(at + 2, line.length) };
  if (first === '"' || DOUBLE.includes(first)) return editDouble(line, at);
  if (first === "'" || SINGLE.includes(first)) return editSingle(line, at);
  const dashes = runAt(DASHES, line, at);
  if (dashes !== '') return { text: editDashes(line, at, dashes), end: at + dashes.length };
  const spaces = runAt(SPACES, line, at);
  return { text: spaces.replace(SPACE, ' ').replace(JOINER, ''), end: at + spaces.length };
}

/** What the sticky pattern matches at a position, or nothing. */
function runAt(pattern: RegExp, line: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.test(line) ? line.slice(at, pattern.lastIndex) : '';
}

function editDouble(line: string, at: number): Edit {
  const close = closeOfDouble(line, at);
  const quoted = line.slice(at + 1, close);
  if (close === line.length) return { text: `"${quoted}`, end: close };
  const isStraight = line.charAt(at) === '"' && line.charAt(close) === '"';
  return { text: `"${isStraight ? quoted : quoted.replace(/\\[“”„‟«»]/g, '\\"')}"`, end: close + 1 };
}

function editSingle(line: string, at: number): Edit {
  const character = line.charAt(at);
  const isApostrophe =
    character !== "'" && isWordCharacter(line.charAt(at - 1)) && isWordCharacter(line.charAt(at + 1));
  if (isApostrophe) return { text: character, end: at + 1 };
  const close = closeOfSingle(line, at);
  const inner = line.slice(at + 1, close);
  return close === line.length ? { text: `'${inner}`, end: close } : { text: `'${inner}'`, end: close + 1 };
}

const isWordCharacter = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);

/** Where the double quote at `open` is closed; the length of the line where it is not. */
function closeOfDouble(line: string, open: number): number {
  const isStraight = line.charAt(open) === '"';
  let firstCurly = line.length;
  for (let at = open + 1; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (character === '\\') at += 1;
    else if (character === '"') return at;
    else if (DOUBLE.includes(character)) {
      if (!isStraight) return at;
      firstCurly = Math.min(firstCurly, at);
    }
  }
  return firstCurly;
}

/** Where the single quote at `open` is closed; the length of the line where it is not. */
function closeOfSingle(line: string, open: number): number {
  const straight = line.charAt(open) === "'" ? line.indexOf("'", open + 1) : -1;
  if (straight >= 0) return straight;
  for (let at = open + 1; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (character === "'" || SINGLE.includes(character)) return at;
  }
  return line.length;
}

/** What a run of dashes stands for; only at the beginning of a word is it anything but itself. */
function editDashes(line: string, at: number, typed: string): string {
  if (at > 0 && !isSpace(line.charAt(at - 1))) return typed;
  if (!LONG_DASH.test(typed)) return '-'.repeat(typed.length);
  const next = line.charAt(at + typed.length);
  if (next === '' || isSpace(next)) return '--';
  if (!/[A-Za-z]/.test(next)) return typed;
  const afterNext = line.charAt(at + typed.length + 1);
  return afterNext === '' || afterNext === '=' || isSpace(afterNext) ? '-' : '--';
}

const isSpace = (character: string): boolean => character === ' ' || /\s/.test(character);

/**
 * Undoes the same in a YAML document: spaces, joiners, curly quotes (in lines that have no straight quote of that kind, so
 * that quoted curly ones survive), dashes before a letter, and the `---` that phones turn into `—-`. Code fences are removed.
 */
export function repairYaml(body: string): string {
  const fenced = /^\s*```(?:(?:ya?ml)?[ \t]*\n)?/.exec(body);
  const inner = fenced ? body.slice(fenced[0].length).trimEnd().replace(/```$/, '') : body;
  return inner
    .replace(SPACE, ' ')
    .replace(JOINER, '')
    .split('\n')
    .map(repairYamlLine)
    .join('\n')
    .replace(/^(?:[ \t]*\n)*/, '')
    .trimEnd();
}

/** Dashes of which at least one is not plain. */
const DASH_LINE = /^-*[\u2012-\u2015\u2212\ufe58][-\u2012-\u2015\u2212\ufe58]*\s*$/;
const DASHED_WORD = /(?<=^|[\s[,"'])-*[\u2012-\u2015\u2212\ufe58][-\u2012-\u2015\u2212\ufe58]*(?=[A-Za-z])/g;
const CURLY_SINGLE = /(?<![\p{L}\p{N}])[‘’‚‛]|[‘’‚‛](?![\p{L}\p{N}])/gu;

function repairYamlLine(line: string): string {
  const doubled = line.includes('"') ? line : line.replace(/[“”„‟]/g, '"');
  const quoted = doubled.includes("'") ? doubled : doubled.replace(CURLY_SINGLE, "'");
  return quoted.replace(DASH_LINE, '---').replace(DASHED_WORD, '--');
}
