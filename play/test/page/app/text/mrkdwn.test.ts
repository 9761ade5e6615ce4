import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOSTILE } from '../../../../../test/adapters/slack/views/messages.ts';
import { anyCharacter } from '../../../../../test/support/any-text.ts';
import type { Json } from '../../../../page/app/json.ts';
import { richTextOf } from '../../../../page/app/text/mrkdwn.ts';

const spans = (text: string, verbatim = false): unknown => richTextOf(text, { verbatim })[0]?.elements;

describe('mrkdwn', () => {
  it('nests marks, and leaves those alone that mark nothing', () => {
    expect(spans('a *b _c_* 2*3*4 _x')).toEqual([
      { type: 'text', text: 'a ' },
      { type: 'text', text: 'b ', style: { bold: true } },
      { type: 'text', text: 'c', style: { bold: true, italic: true } },
      { type: 'text', text: ' 2*3*4 _x' },
    ]);
  });

  it('is letters where markup is switched off, mentions too', () => {
    const text = '*a* <@U0ROY> &lt;b';
    expect(richTextOf(text, { marks: false })[0]?.elements).toEqual([{ type: 'text', text: '*a* <@U0ROY> <b' }]);
  });

  it('reads entities once', () => expect(spans('&amp;lt; &lt;b&gt;')).toEqual([{ type: 'text', text: '&lt; <b>' }]));

  it('links addresses without what ends the sentence; a verbatim text links none by itself', () => {
    expect(spans('see http://a.example/x?y=1&amp;z.')).toEqual([
      { type: 'text', text: 'see ' },
      { type: 'link', url: 'http://a.example/x?y=1&z' },
      { type: 'text', text: '.' },
    ]);
    expect(spans('see http://a.example', true)).toEqual([{ type: 'text', text: 'see http://a.example' }]);
  });

  it('shows what is in angles and names nothing known as it was written', () => {
    for (const text of ['<javascript:alert(1)|x>', '<data:text/html,x>', '<@nobody>', '<!odd^1>', '<>'])
      expect(spans(text)).toEqual([{ type: 'text', text }]);
  });

  it('keeps fences and quotes apart from the rest', () => {
    expect(richTextOf('one\n> two\n```\n*three*\n```\nfour').map(({ type }) => type)).toEqual([
      'rich_text_section',
      'rich_text_quote',
      'rich_text_preformatted',
      'rich_text_section',
    ]);
    expect(richTextOf('``` open')).toEqual([
      { type: 'rich_text_section', elements: [{ type: 'text', text: '``` open' }] },
    ]);
  });

  it('makes only links that begin with http, https or mailto, of any text', () => {
    const urls = (part: Json): string[] =>
      (part.elements as Json[]).flatMap((span) => (span.type === 'link' ? [String(span.url)] : []));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom(...HOSTILE)), (text) => {
        for (const url of richTextOf(text).flatMap(urls)) expect(url).toMatch(/^(https?|mailto):/i);
      }),
    );
  });
});
