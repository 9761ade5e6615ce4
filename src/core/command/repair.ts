import { EMOJI_STYLE, removerOfInvisible } from '../../lib/invisible.ts';

/** Slack's syntax for mentions, channels and links, and its three entities. */
const MARKUP =
  /&(?:amp|lt|gt);|<(?:@([UW][A-Z0-9]+)|#([CGD][A-Z0-9]+)|!subteam\^([A-Z0-9]+)|!(here|channel|everyone)|((?:mailto:|tel:|[A-Za-z][A-Za-z0-9+.-]{0,30}:\/\/)[^<>|\n]*))(?:\|([^<>\n]*))?>/g;

const ENTITY = /&(?:amp|lt|gt);/g;

/** Every Unicode space but the plain one. */
const SPACE = /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/g;
/** The two joiners. Some scripts and emoji need them, so they stay between quotes. */
const JOINER = /[\u200c\u200d]/g;
const withoutInvisible = removerOfInvisible(`\t\n\u200c\u200d${EMOJI_STYLE}`);

type Kind = 'backslash' | 'double' | 'single' | 'hyphen' | 'dash' | 'space' | 'joiner';

/** By character code. A hyphen becomes one `-`; phones turn `--` into a dash (figure, en, em, bar, minus, small em). */
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

/** Text that needs no change outside quotes. */
const PLAIN = /^[\t\n\x20-\x25\x27-\x3b\x3d-\x7e]*$/;

/**
 * Undoes Slack's markup in one pass from left to right. Decodes `&amp; &lt; &gt;` (`&amp;lt;` becomes the text `&lt;`).
 * A link becomes its label, else its address. `<@U1|name>`, `<#C1|name>` and `<!subteam^S1>` become the bare id (names
 * can change, ids cannot); `<!here>` becomes `@here`. Any other `<` stays. Lone surrogates become U+FFFD, line ends LF.
 * Removes control, zero-width, bidirectional and tag characters, between quotes too: an approver must see what will
 * run. (Slack: "Formatting text for app surfaces", escaping and parsing.)
 */
export function unwrapMarkup(raw: string): string {
  if (PLAIN.test(raw)) return raw;
  const text = raw
    .replace(/\p{Surrogate}+/gu, (run) => '\ufffd'.repeat(run.length))
    .replace(/\r\n?/g, '\n')
    .replace(MARKUP, unwrapOne);
  return withoutInvisible(text);
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
 * Encodes text so that `unwrapMarkup` restores it. Encodes only what would parse as markup; a single `<` that completes
 * a link makes all of them `&lt;`.
 */
export function protectMarkup(text: string): string {
  const entities = text.replace(ENTITY, (entity) => `&amp;${entity.slice(1)}`);
  const hasLink = entities.match(MARKUP)?.some((match) => match.startsWith('<')) ?? false;
  return hasLink ? entities.replaceAll('<', '&lt;') : entities;
}

/**
 * Undoes what phones and word processors do to a command line, after `unwrapMarkup`. Outside quotes:
 * - Unicode spaces become plain spaces; joiners go;
 * - curly, low and angled quotes become `"` or `'`; a curly apostrophe between two letters or digits (`it’s`) stays;
 * - at the beginning of a word, dashes before a letter become `--` (`—image`, `–-image`), before a single letter `-`
 *   (`–n`), and alone `--`; typographic hyphens become `-`. Words that begin with plain hyphens, and dashes within
 *   words, stay.
 * Between quotes everything stays. The next curly or straight quote closes a curly one. The next straight quote closes
 * a straight one; without any, a curly one does. Linear in the length of the line; never throws.
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

/** The replacement of the characters up to `end`; without a text they stay. */
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

/** The character has a letter or digit on both sides, like an apostrophe. */
const isBetweenLetters = (line: string, at: number): boolean =>
  isWordCharacter(line.charAt(at - 1)) && isWordCharacter(line.charAt(at + 1));

const isWordCharacter = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);

/** Returns the index where the double quote at `open` closes, or the length of the line. */
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

/** Returns the index where the single quote at `open` closes, or the length of the line. */
function closeOfSingle(line: string, open: number): number {
  const straight = line.charAt(open) === "'" ? line.indexOf("'", open + 1) : -1;
  if (straight >= 0) return straight;
  for (let at = open + 1; at < line.length; at += 1) if (kindAt(line, at) === 'single') return at;
  return line.length;
}

/** A run of dashes changes only at the beginning of a word. */
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

/** Returns the replacement for dashes before these two characters (empty at the end of the line), if there is one. */
function dashesBefore(next: string, afterNext: string): '-' | '--' | undefined {
  if (next === '' || isSpace(next)) return '--';
  if (!/[A-Za-z]/.test(next)) return undefined;
  return afterNext === '' || afterNext === '=' || isSpace(afterNext) ? '-' : '--';
}

const isSpace = (character: string): boolean => character === ' ' || /\s/.test(character);

/**
 * Repairs a YAML document in the same way: spaces, joiners, curly quotes (in lines without a straight quote of that
 * kind, so that quoted curly ones survive), dashes before a letter, and `—-`, which phones make of `---`. Slack's
 * composer turns `- ` outside a code block into bullets; they become `- ` again. Removes code fences.
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

/** Dashes, at least one of which is not plain. */
const DASH_LINE = /^-*[\u2012-\u2015\u2212\ufe58][-\u2012-\u2015\u2212\ufe58]*\s*$/;
const DASHED_WORD = /(?<=^|[\s[,"'])-*[\u2012-\u2015\u2212\ufe58][-\u2012-\u2015\u2212\ufe58]*(?=[A-Za-z])/g;

/** Slack's bullets of three levels, the last with a variation selector; other editors write `∙` and `‣`. */
const BULLET = /^([ \t]*)[•◦▪▫■‣∙]\ufe0e?(?=[ \t]|$)/;

/** One bullet for each level, repeated. The composer indents by four spaces a level, YAML by two. */
const LEVELS = '•◦▪';

/** Turns bullets into `-`. If all of them sit where Slack's lists put them, also restores the indent as typed. */
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
