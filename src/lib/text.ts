/** At most `length` characters (UTF-16 units) of a text, with `…` as the last one where it was cut; no half of a pair is left. */
export const shorten = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;

/** kdebug's own name is written small wherever it stands. */
const KEPT_SMALL = /^kdebug\b/;

/** Words as a sentence: a capital at the beginning, a full stop at the end. */
export const sentence = (words: string): string =>
  `${KEPT_SMALL.test(words) ? words : `${words.charAt(0).toUpperCase()}${words.slice(1)}`}${/[.!?)]$/.test(words) ? '' : '.'}`;
