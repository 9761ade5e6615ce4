/**
 * What an eye would miss or take for something else: control, format, private and unassigned characters, every space but the
 * common one, a second mark on one letter, and the scripts that are written from right to left, which show what stands around
 * them in another order. `⏎` is ours.
 */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}⏎]|(?! )\p{Zs}|(?<=\p{M})\p{M}|[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/gu;

/** A text on one line in which every character shows: a newline as `⏎`, any other that would not be seen as `\u{202E}`. */
export const visible = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replace(UNSEEN, escaped))
    .join('⏎');

/** The same, with each line on a line of its own. */
export const visibleLines = (text: string): string => visible(text).replaceAll('⏎', '⏎\n');

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
