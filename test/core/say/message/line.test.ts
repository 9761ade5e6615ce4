import { expect, it } from 'vitest';
import {
  actions,
  dotted,
  fact,
  facts,
  heading,
  joined,
  line,
  list,
  message,
  note,
  paragraph,
  plainText,
  preformatted,
  shownParts,
} from '../../../../src/core/say/message/line.ts';
import { code, person, strong, text } from '../../../../src/core/say/message/message.ts';

it('makes spans of a sentence and of what stands in it', () => {
  expect(line`No pod named ${code('web')} in ${'shop'}, ${3} others.`).toEqual([
    text('No pod named '),
    code('web'),
    text(' in shop, 3 others.'),
  ]);
});

it.each(['*bold*', '<!channel>', '<@U0BOB>', '`code`', '<https://evil.example|click>'])(
  'keeps a value plain text, whatever it holds: %s',
  (hostile) => expect(line`Pod ${hostile} is gone`).toEqual([text(`Pod ${hostile} is gone`)]),
);

it('says nothing of what is empty', () => {
  expect(line`Done${undefined}${false}${''}${[]}.`).toEqual([text('Done.')]);
  expect(line`${''}`).toEqual([]);
});

it('shows no part, item or fact without words', () => {
  const none = [paragraph`${undefined}`, note`${''}`, list([false, '']), facts(fact('Node', undefined)), actions()];
  expect(shownParts(none, false, undefined, preformatted(''), [])).toEqual([]);
});

it('joins what is there', () => {
  expect(joined([code('a'), undefined, '', 'b'])).toEqual([code('a'), text(', b')]);
  expect(dotted(['shop', false, 'prod'])).toEqual([text('shop · prod')]);
});

it('takes the summary from the first heading or paragraph', () => {
  const parts = [list(['one']), paragraph`${strong('Two')} and ${code('three')}`, heading('Four')];
  expect(message({ tone: 'neutral' }, parts).summary).toBe('Two and three');
  expect(message({ tone: 'neutral', summary: 'Other' }, parts).summary).toBe('Other');
});

it('leaves people out of plain text', () => {
  expect(plainText(line`Asked by ${person('U0BOB')}.`)).toBe('Asked by .');
});
