import { describe, expect, it } from 'vitest';
import { clean } from '../../src/adapters/slack/views/plain.ts';
import { unwrapMarkup } from '../../src/core/command/repair.ts';
import { cleanText } from '../../src/core/redact/clean-text.ts';
import { removerOfInvisible } from '../../src/lib/invisible.ts';

const INVISIBLE = [
  ['a control character', '\u0007'],
  ['a soft hyphen', '\u00ad'],
  ['a combining grapheme joiner', '\u034f'],
  ['an Arabic letter mark', '\u061c'],
  ['a Hangul filler', '\u3164'],
  ['a Mongolian vowel separator', '\u180e'],
  ['a zero-width space', '\u200b'],
  ['a right-to-left override', '\u202e'],
  ['an isolate', '\u2066'],
  ['a byte order mark', '\ufeff'],
  ['a variation selector', '\ufe01'],
  ['an interlinear anchor', '\ufff9'],
  ['a shorthand format control', '\u{1bca0}'],
  ['a tag', '\u{e0041}'],
  ['a supplementary variation selector', '\u{e0100}'],
] as const;

describe.each([
  ['a command', unwrapMarkup],
  ['a log', cleanText],
  ['a message', clean],
])('in %s', (_, cleaned) => {
  it.each(INVISIBLE)('%s is not left', (_name, character) => {
    expect(cleaned(`a${character}b é 😀\ufe0f`)).toBe('ab é 😀\ufe0f');
  });

  it('tab and newline stay', () => {
    expect(cleaned('a\tb\nc é')).toBe('a\tb\nc é');
  });
});

it('keeps what it is told to', () => {
  expect(removerOfInvisible('\u200d\n')('a\u200db\u200ec\n')).toBe('a\u200dbc\n');
});

it('a log is cleaned of every character of the list, and loses no other', () => {
  const withoutInvisible = removerOfInvisible('\t\n\r\b\ufe0f');
  const wrong: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const text = `ab${String.fromCodePoint(code)}cd`;
    const isSpecial =
      code === 0x08 || code === 0x1b || (code >= 0x80 && code <= 0x9f) || code === 0x2028 || code === 0x2029;
    if (!isSpecial && cleanText(text) !== withoutInvisible(text)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});
