/** kdebug's own name is written small wherever it stands. */
const KEPT_SMALL = /^kdebug\b/;

/** Words as a sentence: a capital at the beginning, a full stop at the end. */
export const sentence = (words: string): string =>
  `${KEPT_SMALL.test(words) ? words : `${words.charAt(0).toUpperCase()}${words.slice(1)}`}${/[.!?)]$/.test(words) ? '' : '.'}`;
