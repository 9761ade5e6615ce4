import fc from 'fast-check';
import { ACTION_NAMES } from '../../../../src/core/actions.ts';
import type { Button, LinkButton, Message, Part, Span } from '../../../../src/core/say/message/message.ts';
import { anyCharacter } from '../../../support/any-text.ts';

/** Texts that try to format, mention, link, unfurl, reorder, hide or overflow. */
export const HOSTILE: readonly string[] = [
  '<!channel> <!here> <!everyone|all> @channel @here',
  '<@U0BOB> <@U0BOB|bob> <!subteam^S0SRE|@sre> <#C0SHOP|shop>',
  ':tada: *bold* _italic_ ~strike~ `code` > quote',
  '<http://evil.example|https://bank.example> http://evil.example mailto:a@b.c <mailto:a@b.c|x>',
  '```\n<!channel>\n``` ``` unbalanced `',
  '&lt;!channel&gt; &amp;lt;!here&amp;gt;',
  '<!date^0^{date}^http://evil.example|x>',
  '\u001b[31mred\u001b[0m \u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007',
  'user\u202Egnp.exe\u202C \u2066x\u2069 \u200Bz\u200Dw\uFEFF \u{E0041}',
  'a\u0000b\u0007\b\u009b31m\r\n\uD83D',
  '&'.repeat(4_000),
  '👍🏽'.repeat(1_500),
  `z${'\u0301'.repeat(3_500)}`,
  '"\\'.repeat(2_000),
  'x'.repeat(13_300),
  '\n'.repeat(5_000),
  '   ',
  '',
];

const someText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HOSTILE) },
  { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 400 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 4_000, size: 'max' }) },
);

const span: fc.Arbitrary<Span> = fc.oneof(
  fc.record({ kind: fc.constantFrom('text' as const, 'strong' as const, 'code' as const), text: someText }),
  fc.record({ kind: fc.constant('person' as const), userId: fc.oneof(fc.constant('U0BOB'), someText) }),
  fc.record({ kind: fc.constant('usergroup' as const), usergroupId: fc.oneof(fc.constant('S0SRE'), someText) }),
  fc.record({ kind: fc.constant('channel' as const), channelId: fc.oneof(fc.constant('C0SHOP'), someText) }),
  fc.record({ kind: fc.constant('time' as const), atMs: fc.oneof(fc.double(), fc.integer({ min: 0 })) }),
);
const spans = fc.array(span, { maxLength: 30 });

const confirm = fc.record({ title: someText, text: someText, yes: someText, no: someText });
const button: fc.Arbitrary<Button> = fc.record(
  {
    action: fc.constantFrom(...ACTION_NAMES),
    label: someText,
    value: fc.oneof(fc.constantFrom('abcdefgh23', ''), someText),
    style: fc.constantFrom('primary' as const, 'danger' as const),
    confirm,
  },
  { requiredKeys: ['action', 'label', 'value'] },
);

/** What a template of the policy may become: an https address of any length, its values encoded. */
const linkButton: fc.Arbitrary<LinkButton> = fc.record({
  label: someText,
  url: fc.webUrl({ validSchemes: ['https'], withQueryParameters: true, size: 'xlarge' }),
});

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ kind: fc.constant('heading' as const), text: someText }),
  fc.record({ kind: fc.constant('paragraph' as const), spans }),
  fc.record({ kind: fc.constant('list' as const), items: fc.array(spans, { maxLength: 40 }) }),
  fc.record({
    kind: fc.constant('facts' as const),
    facts: fc.array(fc.record({ label: someText, value: spans }), { maxLength: 30 }),
  }),
  fc.record({ kind: fc.constant('preformatted' as const), text: someText }),
  fc.record({
    kind: fc.constant('table' as const),
    columns: fc.array(
      fc.record(
        { label: someText, align: fc.constantFrom('left' as const, 'right' as const) },
        { requiredKeys: ['label'] },
      ),
      { maxLength: 22 },
    ),
    rows: fc.array(fc.array(fc.array(span, { maxLength: 3 }), { maxLength: 5 }), { maxLength: 120 }),
  }),
  fc.record({
    kind: fc.constant('chart' as const),
    chart: fc
      .record({
        title: someText,
        unit: someText,
        values: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }), { minLength: 3, maxLength: 20 }),
        name: someText,
      })
      .map(({ title, unit, values, name }) => ({
        title,
        unit,
        moments: values.map((_, index) => `${index} s`),
        lines: [{ name, values }],
      })),
  }),
  fc.record({ kind: fc.constant('note' as const), spans }),
  fc.record({ kind: fc.constant('actions' as const), buttons: fc.array(button, { maxLength: 30 }) }),
  fc.record({ kind: fc.constant('links' as const), links: fc.array(linkButton, { maxLength: 30 }) }),
);

export const anyMessage: fc.Arbitrary<Message> = fc.record({
  summary: someText,
  tone: fc.constantFrom(
    'progress' as const,
    'success' as const,
    'failure' as const,
    'attention' as const,
    'neutral' as const,
  ),
  parts: fc.oneof(
    fc.array(part, { maxLength: 12 }),
    fc.array(fc.record({ kind: fc.constant('preformatted' as const), text: fc.constantFrom(...HOSTILE) }), {
      maxLength: 70,
    }),
    fc.array(fc.record({ kind: fc.constant('actions' as const), buttons: fc.array(button, { maxLength: 3 }) }), {
      maxLength: 60,
    }),
  ),
});

/** A finished run as the report builds it. */
export const RESULT: Message = {
  summary: 'pod-1234: 214 sockets in CLOSE_WAIT <& more>',
  tone: 'attention',
  parts: [
    { kind: 'heading', text: '214 sockets in CLOSE_WAIT' },
    {
      kind: 'paragraph',
      spans: [
        { kind: 'text', text: 'The container exited with ' },
        { kind: 'code', text: '3' },
        { kind: 'text', text: ' at ' },
        { kind: 'time', atMs: 1_795_000_000_500 },
        { kind: 'strong', text: ' (Error)' },
      ],
    },
    { kind: 'list', items: [[{ kind: 'text', text: 'first finding' }], [{ kind: 'code', text: '<!channel>' }]] },
    {
      kind: 'facts',
      facts: [
        { label: 'Exit code', value: [{ kind: 'text', text: '3 (Error)' }] },
        { label: 'Duration', value: [{ kind: 'text', text: '1.2 s' }] },
      ],
    },
    { kind: 'preformatted', text: 'tcp CLOSE_WAIT 214\n\u001b[31m<!channel> & more\u001b[0m' },
    {
      kind: 'note',
      spans: [
        { kind: 'text', text: 'Asked by ' },
        { kind: 'person', userId: 'U0BOB' },
        { kind: 'text', text: ' · run abcdefgh23' },
      ],
    },
    {
      kind: 'actions',
      buttons: [
        { action: 'look-again', label: 'Run again', value: 'abcdefgh23', style: 'primary' },
        {
          action: 'pause',
          label: 'Stop',
          value: 'abcdefgh23',
          style: 'danger',
          confirm: { title: 'Stop it?', text: 'It cannot be resumed.', yes: 'Stop', no: 'Keep' },
        },
        { action: 'look-again', label: 'Run the first again', value: 'abcdefgh24' },
      ],
    },
  ],
};
