import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/**
 * Any character of Unicode, as the `unit` of `fc.string`. fast-check's own unit 'binary' builds a table of all million characters
 * before its first value, which takes seconds in each worker.
 */
export const anyCharacter = fc
  .nat(0x10_ff_ff - SURROGATES.count)
  .map((index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count));
