import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clean,
  escapeText,
  firstOf,
  lastOf,
  shorten,
  shortenMiddle,
  weigh,
} from '../../../../src/adapters/slack/views/plain.ts';
import { anyCharacter } from '../../../support/any-text.ts';

const anyText = fc.oneof(fc.string({ unit: anyCharacter }), fc.string({ unit: 'grapheme' }), fc.string());
const room = (weight: number, length = weight) => ({ weight, length });

describe('clean', () => {
  it.each([
    ['colors', '\u001b[31mred\u001b[0m', 'red'],
    ['a terminal link', '\u001b]8;;http://evil\u0007click\u001b]8;;\u0007', 'click'],
    ['a clipboard write', '\u001b]52;c;ZXZpbA==\u0007x', 'x'],
    ['NUL and C1', 'a\u0000b\u0081c', 'abc'],
    ['bidi marks', 'user\u202Etxt.exe\u202C', 'usertxt.exe'],
    ['zero-width', 'pa\u200Bss\u2060wo\uFEFFrd\u00AD', 'password'],
    ['tag characters', 'a\u{E0041}b', 'ab'],
    ['line ends', 'a\r\nb\rc\u2028d', 'a\nb\nc\nd'],
    ['a lone surrogate', 'a\uD83Db', 'a\uFFFDb'],
    ['a tab', 'a\tb', 'a\tb'],
  ])('takes away %s', (_name, dirty, cleaned) => {
    expect(clean(dirty)).toBe(cleaned);
  });

  it('leaves nothing hidden in any text, and is stable', () => {
    fc.assert(
      fc.property(anyText, (dirty) => {
        const cleaned = clean(dirty);
        expect(cleaned.replace(/\n|\t|\u{FE0F}/gu, '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(clean(cleaned)).toBe(cleaned);
      }),
    );
  });
});

describe('cutting', () => {
  it('keeps graphemes whole', () => {
    expect(firstOf('ab👍🏽cd', room(100, 4))).toBe('ab');
    expect(lastOf('ab👍🏽cd', room(100, 4))).toBe('cd');
    expect(firstOf('e\u0301e\u0301', room(100, 3))).toBe('e\u0301');
  });

  it('cuts a pile of combining marks between code points rather than keeping it whole or losing it', () => {
    const pile = `a${'\u0301'.repeat(1_000)}`;
    expect(firstOf(pile, room(10_000, 200))).toHaveLength(200);
  });

  it('shows nothing but the mark in no room at all', () => {
    expect(shorten('a👍', room(0))).toBe('…');
    expect(firstOf('a👍', room(10, -1))).toBe('');
  });

  it('has only a mark where there is no room for a count', () => {
    expect(shorten('x'.repeat(40), room(Number.POSITIVE_INFINITY, 30))).toBe(`${'x'.repeat(29)}…`);
  });

  it('says how much is missing', () => {
    expect(shorten('x'.repeat(2_000), room(132))).toBe(`${'x'.repeat(100)}… 1,900 more`);
    const middle = shortenMiddle(`${'a'.repeat(1_000)}${'z'.repeat(1_000)}`, room(332));
    expect(middle).toBe(`${'a'.repeat(100)}\n… 1,700 more …\n${'z'.repeat(200)}`);
  });

  it('never exceeds its room and never splits a character', () => {
    const rooms = fc.record({ weight: fc.integer({ min: 50, max: 400 }), length: fc.integer({ min: 50, max: 400 }) });
    fc.assert(
      fc.property(anyText, rooms, (dirty, bounds) => {
        for (const cut of [shorten(clean(dirty), bounds), shortenMiddle(clean(dirty), bounds)]) {
          expect(cut.length).toBeLessThanOrEqual(bounds.length);
          expect(weigh(cut)).toBeLessThanOrEqual(bounds.weight);
          expect(cut).not.toMatch(/\p{Cs}/u);
        }
      }),
    );
  });
});

it('weighs as many bytes as the JSON has, with entities for markup', () => {
  expect(weigh('a"\\\n')).toBe(7);
  expect(weigh('é€👍')).toBe(9);
  expect(weigh('&<>')).toBe(13);
});

it('escapes what Slack parses, once', () => {
  expect(escapeText('<!channel> & &lt;')).toBe('&lt;!channel&gt; &amp; &amp;lt;');
  expect(escapeText(':tada: at 10:30')).toBe('\u2236tada: at 10:30');
});
