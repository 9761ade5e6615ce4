import { EMOJI_STYLE, withoutInvisible } from '../../lib/invisible.ts';

/** What Slack writes for mentions, channels and links, and its three entities. */
const MARKUP =
  /&(?:amp|lt|gt);|<(?:@([UW][A-Z0-9]+)|#([CGD][A-Z0-9]+)|!subteam\^([A-Z0-9]+)|!(here|channel|everyone)|((?:mailto:|tel:|[A-Za-z][A-Za-z0-9+.-]{0,30}:\/\/)[^<>|\n]*))(?:\|([^<>\n]*))?>/g;

const ENTITY = /&(?:amp|lt|gt);/g;

/** Unicode spaces but the plain one. */
const SPACE = /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/g;
/** The two joiners: part of some scripts and emoji, so they stay between quotes. */
const JOINER = /[\u200c\u200d]/g;
/** Invisible characters that stay. */
const UNTOUCHED = `\t\n\u200c\u200d${EMOJI_STYLE}`;

/** What may have to be edited outside quotes. */
type Kind = 'backslash' | 'double' | 'single' | 'hyphen' | 'dash' | 'space' | 'joiner';

/** By character code. Hyphens stand for one `-`; dashes (figure, en, em, bar, minus, small em) are what phones make of `--`. */
const KINDS: ReadonlyMap<number, Kind> = new Map(
  Object.entries({
    backslash: '\\',
    double: '"“”„‟«»',
    single: "'‘’‚‛",
    hyphen: '-\u2010\u2011\ufe63\uff0d',
    dash: '\u2012\u2013\u2014\u2015\u2212\ufe58',
    space:
      '\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
    joiner: '\u200c\u200d',
  } satisfies Record<Kind, string>).flatMap(([kind, characters]) =>
    [...characters].map((character) => [character.charCodeAt(0), kind as Kind]),
  ),
);

const kindAt = (line: string, at: number): Kind | undefined =>
  at < line.length ? KINDS.get(line.charCodeAt(at)) : undefined;

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
  const text = raw
    .replace(/\p{Surrogate}+/gu, (run) => '\ufffd'.repeat(run.length))
    .replace(/\r\n?/g, '\n')
    .replace(MARKUP, unwrapOne);
  return withoutInvisible(text, UNTOUCHED);
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
  for (let at = 0; at < line.length; at += 1) {
    const kind = kindAt(line, at);
    if (kind === undefined) continue;
    const edit = EDITS[kind](line, at);
    if (edit.text !== undefined) {
      repaired += line.slice(from, at) + edit.text;
      from = edit.end;
    }
    at = edit.end - 1;
  }
  return repaired + line.slice(from);
}

/** What the characters up to `end` become; without a text they stay. */
interface Edit {
  readonly text?: string;
  readonly end: number;
}

const EDITS: Readonly<Record<Kind, (line: string, at: number) => Edit>> = {
  backslash: (_, at) => ({ end: at + 2 }),
  double: editDouble,
  single: editSingle,
  hyphen: editDashes,
  dash: editDashes,
  space: (_, at) => ({ text: ' ', end: at + 1 }),
  joiner: (_, at) => ({ text: '', end: at + 1 }),
};

function editDouble(line: string, at: number): Edit {
  const close = closeOfDouble(line, at);
  const quoted = line.slice(at + 1, close);
  if (close === line.length) return { text: `"${quoted}`, end: close };
  const isStraight = line.charAt(at) === '"' && line.charAt(close) === '"';
  return { text: `"${isStraight ? quoted : quoted.replace(/\\[“”„‟«»]/g, '\\"')}"`, end: close + 1 };
}

function editSingle(line: string, at: number): Edit {
  if (line.charAt(at) !== "'" && isBetweenLetters(line, at)) return { end: at + 1 };
  const close = closeOfSingle(line, at);
  const inner = line.slice(at + 1, close);
  return close === line.length ? { text: `'${inner}`, end: close } : { text: `'${inner}'`, end: close + 1 };
}

/** Whether the character has a letter or digit on both sides, as an apostrophe has. */
const isBetweenLetters = (line: string, at: number): boolean =>
  isWordCharacter(line.charAt(at - 1)) && isWordCharacter(line.charAt(at + 1));

const isWordCharacter = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);

/** Where the double quote at `open` is closed; the length of the line where it is not. */
function closeOfDouble(line: string, open: number): number {
  const isStraight = line.charAt(open) === '"';
  let firstCurly = line.length;
  for (let at = open + 1; at < line.length; at += 1) {
    const kind = kindAt(line, at);
    if (kind === 'backslash') at += 1;
    if (kind !== 'double') continue;
    if (!isStraight || line.charAt(at) === '"') return at;
    firstCurly = Math.min(firstCurly, at);
  }
  return firstCurly;
}

/** Where the single quote at `open` is closed; the length of the line where it is not. */
function closeOfSingle(line: string, open: number): number {
  const straight = line.charAt(open) === "'" ? line.indexOf("'", open + 1) : -1;
  if (straight >= 0) return straight;
  for (let at = open + 1; at < line.length; at += 1) if (kindAt(line, at) === 'single') return at;
  return line.length;
}

/** A run of dashes: only at the beginning of a word does it stand for anything but itself. */
function editDashes(line: string, at: number): Edit {
  let hasDash = false;
  let isPlain = true;
  let end = at;
  for (let kind = kindAt(line, end); kind === 'dash' || kind === 'hyphen'; kind = kindAt(line, end)) {
    hasDash ||= kind === 'dash';
    isPlain &&= line.charCodeAt(end) === HYPHEN;
    end += 1;
  }
  if (isPlain || (at > 0 && !isSpace(line.charAt(at - 1)))) return { end };
  if (!hasDash) return { text: '-'.repeat(end - at), end };
  const text = dashesBefore(line.charAt(end), line.charAt(end + 1));
  return text === undefined ? { end } : { text, end };
}

const HYPHEN = 0x2d;

/** What dashes before these two characters (empty at the end of the line) stand for, if for anything. */
function dashesBefore(next: string, afterNext: string): '-' | '--' | undefined {
  if (next === '' || isSpace(next)) return '--';
  if (!/[A-Za-z]/.test(next)) return undefined;
  return afterNext === '' || afterNext === '=' || isSpace(afterNext) ? '-' : '--';
}

const isSpace = (character: string): boolean => character === ' ' || /\s/.test(character);

/**
 * Undoes the same in a YAML document: spaces, joiners, curly quotes (in lines that have no straight quote of that kind, so
 * that quoted curly ones survive), dashes before a letter, the `---` that phones turn into `—-`, and the bullets that the composer of
 * Slack makes of `- ` outside a code block. Code fences are removed.
 */
export function repairYaml(body: string): string {
  const fenced = /^\s*```(?:(?:ya?ml|json)?[ \t]*\n)?/.exec(body);
  const inner = fenced ? body.slice(fenced[0].length).trimEnd().replace(/```$/, '') : body;
  return withoutBullets(inner.replace(SPACE, ' ').replace(JOINER, '').split('\n'))
    .map(repairYamlLine)
    .join('\n')
    .replace(/^(?:[ \t]*\n)*/, '')
    .trimEnd();
}

/** Dashes of which at least one is not plain. */
const DASH_LINE = /^-*[\u2012-\u2015\u2212\ufe58][-\u2012-\u2015\u2212\ufe58]*\s*$/;
const DASHED_WORD = /(?<=^|[\s[,"'])-*[\u2012-\u2015\u2212\ufe58][-\u2012-\u2015\u2212\ufe58]*(?=[A-Za-z])/g;

/** Slack's bullets of three levels, the last with a variation selector; `∙` and `‣` come with other editors. */
const BULLET = /^([ \t]*)[•◦▪▫■‣∙]\ufe0e?(?=[ \t]|$)/;

/** Of each level in turn; the composer indents them by four spaces a level, where YAML has two. */
const LEVELS = '•◦▪';

/** Bullets as `-`: where they stand, or, if all of them stand where a list of Slack's has them, where they were typed. */
function withoutBullets(lines: readonly string[]): readonly string[] {
  const isList = lines.every(standsAsInList);
  return lines.map((line) =>
    line.replace(BULLET, (_, indent: string) => `${isList ? indent.slice(indent.length / 2) : indent}-`),
  );
}

function standsAsInList(line: string): boolean {
  const [bullet, indent = ''] = BULLET.exec(line) ?? [];
  if (bullet === undefined) return true;
  return indent.length % 4 === 0 && !indent.includes('\t') && bullet[indent.length] === LEVELS[(indent.length / 4) % 3];
}

function repairYamlLine(line: string): string {
  const doubled = line.includes('"') ? line : line.replace(/[“”„‟]/g, '"');
  const quoted = doubled.includes("'") ? doubled : doubled.replace(/[‘’‚‛]+/g, straightenSingles);
  return quoted.replace(DASH_LINE, '---').replace(DASHED_WORD, '--');
}

const straightenSingles = (run: string, at: number, line: string): string =>
  run.length === 1 && isBetweenLetters(line, at) ? run : "'".repeat(run.length);
