import fc from 'fast-check';
import { expect, it } from 'vitest';
import { emojiNamed, piecesOf } from '../../../../page/app/text/emoji.ts';
import { safeHref } from '../../../../page/app/text/links.ts';

it('cuts text into pieces that are the text when joined', () => {
  expect(piecesOf('✅ done ⚠️')).toEqual([
    { text: '✅', drawn: 'check' },
    { text: ' done ' },
    { text: '⚠️', drawn: 'warning' },
  ]);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(
        piecesOf(`✅${text}❌`)
          .map((piece) => piece.text)
          .join(''),
      ).toBe(`✅${text}❌`);
    }),
  );
});

it('leaves an emoji alone that it does not know', () => {
  expect(emojiNamed('eyes')).toBe('👀');
  expect(emojiNamed('34')).toBe(':34:');
});

it.each([
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'JAVASCRIPT:x',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  '//evil.example',
  '/path',
  '',
])('follows no %j', (address) => expect(safeHref(address)).toBeUndefined());

it.each(['http://a.example/', 'https://a.example/?q=1', 'mailto:a@b.example'])('follows %s', (address) =>
  expect(safeHref(address)).toBe(address),
);
