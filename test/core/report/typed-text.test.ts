import { expect, test } from 'vitest';
import { typedText } from '../../../src/core/report/typed-text.ts';

const shown = (words: string): string =>
  typedText(words)
    .map((span) => (span.kind === 'person' ? `[${span.userId}]` : 'text' in span ? span.text : '?'))
    .join('');

test.each([
  ['ask U0BOB, please', 'ask [U0BOB], please'],
  ['@U0BOB and <@W0ALICE> know', '[U0BOB] and [W0ALICE] know'],
  ['U024BE7LH', '[U024BE7LH]'],
  ['(U04ABCDEF12)', '([U04ABCDEF12])'],
])('a person in what somebody typed is a mention: %s', (words, expected) => {
  expect(shown(words)).toBe(expected);
});

test.each([
  'URGENT: the WEB1 pods UPDATED',
  'WARNINGS and UPPERCASE1',
  'node-U0BOB, U0BOB-1, xU0BOB, U0BOB_x, a@U0BOB',
  '<!channel> *bold* :smile: http://evil.example',
  '',
])('everything else stays as it was typed: %s', (words) => {
  expect(typedText(words)).toEqual([{ kind: 'text', text: words }]);
});
