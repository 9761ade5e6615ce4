/**
 * Characters that an eye would miss: control and format characters (bidirectional marks, joiners, zero-width, tags),
 * and those that fonts show as nothing (fillers, variation selectors). One list for commands, logs and messages: an
 * approver must see what will run.
 */
const INVISIBLE = '\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}';

/**
 * Removes invisible characters, except those in `exceptions`. The pattern excludes them, because a callback for each line end made
 * the cleaning of a log with progress bars take twelve times as long.
 */
export function removerOfInvisible(exceptions: string): (text: string) => string {
  const excluded = Array.from(exceptions, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join('');
  const pattern = new RegExp(`[[${INVISIBLE}]--[${excluded}]]`, 'gv');
  return (text) => text.replace(pattern, '');
}

/** U+FE0F only selects the colourful glyph of an emoji. */
export const EMOJI_STYLE = '\uFE0F';

/**
 * Characters that an eye would miss or mistake: the above, private and unassigned characters, every space but the
 * common one, a second mark on one letter, and right-to-left scripts, which reorder the text around them. `⏎` is our
 * own mark.
 */
const MISLEADING =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}⏎]|(?! )\p{Zs}|(?<=\p{M})\p{M}|[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/gu;

/** A text on one line in which every character shows: a newline as `⏎`, any other invisible one as `\u{202E}`. */
export const visible = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replace(MISLEADING, escaped))
    .join('⏎');

/** The same, but keeps line breaks. */
export const visibleLines = (text: string): string => visible(text).replaceAll('⏎', '⏎\n');

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
