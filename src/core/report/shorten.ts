/** At most `length` characters (UTF-16 units) of a text, with `…` as the last one where it was cut; no half of a pair is left. */
export const shorten = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
