import { expect, it } from 'vitest';
import { plainName, typedText } from '../../../../src/core/say/message/typed-text.ts';

const shown = (words: string): string =>
  typedText(words)
    .map((span) => (span.kind === 'person' ? `[${span.userId}]` : 'text' in span ? span.text : '?'))
    .join('');

it.each([
  ['ask U0BOB, please', 'ask [U0BOB], please'],
  ['@U0BOB and <@W0ALICE> know', '[U0BOB] and [W0ALICE] know'],
  ['U024BE7LH', '[U024BE7LH]'],
  ['(U04ABCDEF12)', '([U04ABCDEF12])'],
])('a person in what somebody typed is a mention: %s', (words, expected) => {
  expect(shown(words)).toBe(expected);
});

it.each([
  'URGENT: the WEB1 pods UPDATED',
  'WARNINGS and UPPERCASE1',
  'node-U0BOB, U0BOB-1, xU0BOB, U0BOB_x, a@U0BOB',
  '<!channel> *bold* :smile: http://evil.example',
  '',
])('everything else stays as it was typed: %s', (words) => {
  expect(typedText(words)).toEqual([{ kind: 'text', text: words }]);
});

it('a reason names five people at most: kdebug speaks where who typed it may not, so it calls no whole channel for them', () => {
  const ids = Array.from({ length: 40 }, (_, n) => `U0APPROVER${n}`);
  const spans = typedText(ids.join(' '));
  expect(spans.flatMap((span) => (span.kind === 'person' ? [span.userId] : []))).toEqual(ids.slice(0, 5));
  expect(shown(ids.join(' ')).replace(/[[\]]/g, '')).toBe(ids.join(' '));
  expect(shown('U0BOB '.repeat(7))).toBe('[U0BOB] '.repeat(7));
});

it.each([
  ['Roy', 'Roy'],
  ['Roy  Rogers', 'Roy Rogers'],
  ['Zoë 🐙', 'Zoë 🐙'],
  ['Roy · run aaaaaaaaaa', 'Roy run aaaaaaaaaa'],
  ['/kdebug x', 'kdebug x'],
  ['x'.repeat(80), `${'x'.repeat(39)}…`],
])('a person called %j has this name among other words', (name, words) => {
  expect(plainName(name)).toBe(words);
});

it.each([undefined, '', ' · ', 'r\u202eoy', '\uFFF0'])('a person called %j has none', (name) => {
  expect(plainName(name)).toBeUndefined();
});
