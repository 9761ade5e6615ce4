import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenize } from '../../../../src/core/command/line/tokenize.ts';
import { anyCharacter } from '../../../support/any-text.ts';

const texts = (line: string): readonly string[] | number => {
  const split = tokenize(line);
  return split.kind === 'ok' ? split.words.map((word) => word.text) : split.start;
};

describe('a line is split as a POSIX shell splits it, and nothing is expanded', () => {
  it.each<[string, readonly string[]]>([
    ['', []],
    [' \t\n ', []],
    ['a  b\tc\nd', ['a', 'b', 'c', 'd']],
    [`'a b' "c d" e\\ f`, ['a b', 'c d', 'e f']],
    [`a'b'"c"d`, ['abcd']],
    [`'' ""`, ['', '']],
    [`'a\\' 'b"c'`, ['a\\', 'b"c']],
    [`"a\\"b" "c\\\\d" "\\$e" "\\n"`, ['a"b', 'c\\d', '$e', '\\n']],
    ['"a\\\nb" c\\\nd \\\n e', ['ab', 'cd', 'e']],
    ['a\\', ['a\\']],
    ['\\😀x', ['😀x']],
    [
      '$HOME `id` $(id) * ~ ; | & > # {a,b} !x',
      ['$HOME', '`id`', '$(id)', '*', '~', ';', '|', '&', '>', '#', '{a,b}', '!x'],
    ],
    ['"a\nb"', ['a\nb']],
    ['a\u00a0b', ['a\u00a0b']],
  ])('%j is %j', (line, words) => {
    expect(texts(line)).toEqual(words);
  });

  it.each([
    ['abc "def', 4],
    ["abc d'ef", 5],
    ['"a\\"', 0],
    [`'a' "b' c`, 4],
  ])('%j has an open quote at column %i', (line, start) => {
    expect(texts(line)).toBe(start);
  });
});

it('every word carries its columns and whether it was quoted', () => {
  expect(tokenize(`ab "c d"e \\f ''`)).toEqual({
    kind: 'ok',
    words: [
      { text: 'ab', start: 0, end: 2, quoted: false },
      { text: 'c de', start: 3, end: 9, quoted: true },
      { text: 'f', start: 10, end: 12, quoted: true },
      { text: '', start: 13, end: 15, quoted: true },
    ],
  });
});

it('words between single quotes come back as they were', () => {
  const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
  fc.assert(
    fc.property(fc.array(fc.string({ unit: anyCharacter }), { maxLength: 6 }), (words) => {
      expect(texts(words.map(quote).join(' '))).toEqual(words);
    }),
    { seed: 3 },
  );
});

it('any line is split without an exception, and the columns of its words are in order', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (line) => {
      const split = tokenize(line);
      const ends = split.kind === 'ok' ? split.words.flatMap((word) => [word.start, word.end]) : [split.start];
      expect([...ends].sort((a, b) => a - b)).toEqual(ends);
      expect(Math.max(0, ...ends)).toBeLessThanOrEqual(line.length);
    }),
    { seed: 5 },
  );
});
