/** Letters of other alphabets that look like Latin ones, in the order of `LATIN`. */
const FOREIGN = 'асԁеһіјкӏморԛѕтуѵԝхАВСЕНІЈКМОРЅТУХαερικνουγωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const LATIN = 'acdehijklmopqstuvwxABCEHIJKMOPSTYXaepikvouywABEZHIKMNOPTYX';

const LATIN_OF: ReadonlyMap<string, string> = new Map(
  [...FOREIGN].map((letter, index) => [letter, LATIN[index] ?? letter]),
);
const LOOK_ALIKE = /[\uff01-\uff5e\u3000\u0370-\u03ff\u0400-\u052f]/;
const LOOK_ALIKES = new RegExp(LOOK_ALIKE, 'g');
const FULL_WIDTH = 0xfee0;

function latinOf(letter: string): string {
  const code = letter.charCodeAt(0);
  if (code === 0x3000) return ' ';
  return code >= 0xff01 ? String.fromCharCode(code - FULL_WIDTH) : (LATIN_OF.get(letter) ?? letter);
}

/**
 * The text with full-width, Cyrillic and Greek letters as the Latin ones that they look like; of the same length, so that
 * a place in the one is the same place in the other. Undefined: there is none.
 */
export const foldLookAlikes = (text: string): string | undefined =>
  LOOK_ALIKE.test(text) ? text.replace(LOOK_ALIKES, latinOf) : undefined;
