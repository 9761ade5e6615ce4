import { expect, it } from 'vitest';
import { atomsOf } from './expression-atoms.ts';
import { alphabetOf, slowTexts, textsOver } from './linear-time.ts';
import { itInFull } from './sample.ts';

const matches = (pattern: RegExp) => (text: string) => [...text.matchAll(pattern)].length;

itInFull('finds the text over which an expression takes quadratic time', () => {
  const slow = slowTexts(matches(/<[^>]*>/g), textsOver(atomsOf('<[^>]*>'), { chains: 20 }));

  expect(slow).not.toEqual([]);
  for (const { text } of slow) expect(text.repeat).toContain('<');
});

it('finds nothing in an expression that looks at every character once', () => {
  expect(slowTexts(matches(/<[^<>]*>/g), textsOver(atomsOf('<[^<>]*>'), { chains: 20 }))).toEqual([]);
});

it('stops at a short text when the time explodes', () => {
  const explodes = (text: string): void => {
    const end = process.cpuUsage();
    const spent = (): number => {
      const { user, system } = process.cpuUsage(end);
      return (user + system) / 1000;
    };
    while (spent() < (text.length / 1024) ** 3);
  };

  const [found] = slowTexts(explodes, ['x'], { longest: 1024 * 1024 });

  expect(found?.characters).toBeLessThanOrEqual(16 * 1024);
});

it('names every class and literal of an expression', () => {
  expect(atomsOf('(?:\\x1b[\\]PX]|\\u{e0001})[^\\x07a-f]*tok(?:en)+\\d{2,}.$')).toEqual(
    expect.arrayContaining(['\x1b', ']', 'P', '\u{e0001}', '\x07', 'a', 'f', 'x', 'tok', 'en', '0']),
  );
});

it('reads the expressions of a source file', () => {
  const alphabet = alphabetOf(['src/core/report/log/clean-text.ts']);

  expect(alphabet).toEqual(expect.arrayContaining(['\x9d', '\x1b', '\x9c', '\u2028']));
});
