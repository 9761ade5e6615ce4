import { expect, it } from 'vitest';
import { atomsOf } from '../../bench/growth/expression-atoms.ts';
import { alphabetOf, slowTexts, textsOver } from '../../bench/growth/slow-texts.ts';

/** The milliseconds of a machine that looks at a thousand characters in one. */
const quadratic = (text: string): number => (text.length / 1024) ** 2;
const linear = (text: string): number => text.length / 1024;
const nothing = (): void => undefined;

it('finds the text over which the time quadruples when the text doubles', () => {
  const meter = (_run: unknown, text: string): number => (text.startsWith('<') ? quadratic(text) : linear(text));

  const slow = slowTexts(nothing, textsOver(atomsOf('<[^>]*>'), { chains: 20 }), { meter });

  expect(slow).not.toEqual([]);
  for (const { text } of slow) expect((text.start ?? '') + text.repeat).toMatch(/^</);
});

it('finds nothing where the time doubles with the text', () => {
  const meter = (_run: unknown, text: string): number => linear(text);

  expect(slowTexts(nothing, textsOver(atomsOf('<[^<>]*>'), { chains: 20 }), { meter })).toEqual([]);
});

it('forgives a measure that another program spoiled', () => {
  let measures = 0;
  const meter = (_run: unknown, text: string): number => {
    measures += 1;
    return measures === 6 ? 10 * linear(text) : linear(text);
  };

  expect(slowTexts(nothing, ['x'], { meter })).toEqual([]);
});

it('stops at a short text when the time explodes', () => {
  const meter = (_run: unknown, text: string): number => (text.length / 1024) ** 3;

  const [found] = slowTexts(nothing, ['x'], { longest: 1024 * 1024, meter });

  expect(found?.characters).toBeLessThanOrEqual(16 * 1024);
});

it('names every class and literal of an expression', () => {
  expect(atomsOf('(?:\\x1b[\\]PX]|\\u{e0001})[^\\x07a-f]*tok(?:en)+\\d{2,}.$')).toEqual(
    expect.arrayContaining(['\x1b', ']', 'P', '\u{e0001}', '\x07', 'a', 'f', 'x', 'tok', 'en', '0']),
  );
});

it('reads the expressions of a source file', () => {
  const alphabet = alphabetOf(['src/core/redact/clean-text.ts']);

  expect(alphabet).toEqual(expect.arrayContaining(['\x9d', '\x1b', '\x9c', '\u2028']));
});
