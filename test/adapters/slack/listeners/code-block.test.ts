import fc from 'fast-check';
import { expect, it } from 'vitest';
import { codeBlock } from '../../../../src/adapters/slack/listeners/message-content.ts';

const text = (words: string) => ({ type: 'text', text: words });
const rich = (...elements: unknown[]) => [{ type: 'rich_text', elements }];
const words = (said: string) => ({ type: 'rich_text_section', elements: [text(said)] });
const code = (...elements: unknown[]) => ({ type: 'rich_text_preformatted', elements });

it('the first code block is taken as it was typed, with its indentation and its links', () => {
  const link = { type: 'link', url: 'https://example.com', text: 'example.com' };
  const bare = { type: 'link', url: 'https://example.com/a' };
  const blocks = rich(words('please run'), code(text('image: '), link, text('\n  a: &x '), bare), code(text('b')));
  expect(codeBlock({ text: 'please run', blocks })).toBe('image: example.com\n  a: &x https://example.com/a');
});

it('between three backticks of a text, entities and links are undone', () => {
  const said =
    'run\n```yaml\nimage: <https://example.com|example.com>\ncommand: ["a &lt; b &amp;&amp; c"]\n```\nthanks';
  expect(codeBlock({ text: said })).toBe('image: example.com\ncommand: ["a < b && c"]\n');
  expect(codeBlock({ text: '```a: 1```' })).toBe('a: 1');
  expect(codeBlock({ text: '```json\n{"a": 1}\n```' })).toBe('{"a": 1}\n');
  expect(codeBlock({ text: '```json: 1```' })).toBe('json: 1');
});

it('that of a forwarded message counts, too, after the own one', () => {
  const attachments = [
    { text: 'no code', message_blocks: [null, { message: null }, { message: { blocks: rich(code(text('a: 1'))) } }] },
    { text: '```b: 2```' },
  ];
  expect(codeBlock({ text: 'apply this', attachments })).toBe('a: 1');
  expect(codeBlock({ text: '', attachments: attachments.slice(1) })).toBe('b: 2');
  expect(codeBlock({ text: '```c: 3```', attachments })).toBe('c: 3');
});

it('a message without a code block, or with an empty one, has none', () => {
  expect(codeBlock({ text: 'a `b` c' })).toBeUndefined();
  expect(codeBlock({ text: '``` ```' })).toBeUndefined();
  expect(codeBlock({ text: 'x', blocks: rich(code(text(' \n'))) })).toBeUndefined();
});

it('a block that is too long for a job is not cut to one that fits', () => {
  expect(codeBlock({ text: '', blocks: rich(code(text('x'.repeat(70_000)))) })).toHaveLength(65_537);
});

it('hidden characters are gone, and blocks of any shape are survived', () => {
  expect(codeBlock({ blocks: rich(code(text('a\u202eb\u0000c'))) })).toBe('abc');
  fc.assert(
    fc.property(fc.anything(), fc.string(), fc.anything(), (blocks, said, attachments) => {
      const found = codeBlock({ text: said, blocks, attachments });
      expect(found === undefined || found.length <= 65_537).toBe(true);
    }),
  );
});
