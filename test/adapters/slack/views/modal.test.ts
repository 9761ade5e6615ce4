import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkedView } from '../../../../play/slack/api/views.ts';
import { FormOrigin } from '../../../../src/adapters/slack/payloads.ts';
import { modal } from '../../../../src/adapters/slack/views/modal.ts';
import { FORM_NAMES } from '../../../../src/core/actions.ts';
import type { Field, Form } from '../../../../src/core/say/message/message.ts';
import { anyCharacter } from '../../../support/any-text.ts';
import { inFullOr } from '../../../support/sample.ts';
import { HOSTILE } from './messages.ts';

const someText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 3_500, size: 'max' }),
);
const field: fc.Arbitrary<Field> = fc.record(
  {
    id: fc.stringMatching(/^[a-z]{1,20}$/),
    label: someText,
    kind: fc.constantFrom('line' as const, 'lines' as const, 'choice' as const, 'search' as const),
    optional: fc.boolean(),
    hint: someText,
    placeholder: someText,
    initial: someText,
    options: fc.array(fc.record({ value: fc.string({ maxLength: 200 }), label: someText, description: someText }), {
      maxLength: 130,
    }),
    dependsOn: someText,
    dispatches: fc.constant(true as const),
    maxLength: fc.integer({ min: 0, max: 9_000 }),
  },
  { requiredKeys: ['id', 'label', 'kind', 'optional'] },
);
const anyForm: fc.Arbitrary<Form> = fc.record(
  {
    name: fc.constantFrom(...FORM_NAMES),
    value: fc.string({ maxLength: 400 }),
    title: someText,
    submit: someText,
    intro: someText,
    fields: fc.uniqueArray(field, { maxLength: 12, selector: ({ id }) => id }),
  },
  { requiredKeys: ['name', 'value', 'title', 'submit', 'fields'] },
);

const PLACE = { channelId: 'C0SHOP', threadTs: '1700000000.000100' };
const form = (more: Partial<Form>): Form => ({
  name: 'debug',
  value: 'v',
  title: 't',
  submit: 's',
  fields: [],
  ...more,
});

describe('whatever a form holds', () => {
  it('Slack takes it, and gives back whole what it carried', () => {
    fc.assert(
      fc.property(anyForm, (any) => {
        const view = modal(any, PLACE);
        expect(checkedView(JSON.parse(JSON.stringify(view)), 'modal')).toBeTruthy();
        expect(FormOrigin.parse(view.private_metadata)).toEqual({ name: any.name, value: any.value, ...PLACE });
        expect(JSON.stringify(view)).not.toContain('"mrkdwn"');
      }),
      { numRuns: inFullOr(80, 20), endOnFailure: true },
    );
  });
});

it('looks like its golden', async () => {
  const fields: Field[] = [
    { id: 'pod', label: 'Pod', kind: 'line', optional: false, initial: 'web-1', placeholder: 'pod or deployment/NAME' },
    {
      id: 'image',
      label: 'Image',
      kind: 'choice',
      optional: false,
      initial: 'debian',
      options: [
        { value: 'autodiagnose', label: 'autodiagnose' },
        { value: 'debian', label: 'debian' },
      ],
    },
    { id: 'command', label: 'Command', kind: 'lines', optional: true, hint: 'Given to no shell', maxLength: 1_000 },
  ];
  const view = modal(form({ title: 'Debug a pod', submit: 'Run', intro: 'In #shop.', fields }), {
    channelId: 'C0SHOP',
  });
  await expect(`${JSON.stringify(view, null, 2)}\n`).toMatchFileSnapshot('../../../golden/slack/form.json');
});

it('a value that cannot be carried whole is an error, never cut', () => {
  expect(() => modal(form({ value: '"'.repeat(2_000) }), PLACE)).toThrow(
    expect.objectContaining({ code: 'internal_error' }),
  );
  expect(() => modal(form({ value: 'x'.repeat(2_000) }), PLACE)).not.toThrow();
});

it('what stands in a field already is cut to what the field takes, without a mark', () => {
  const fields: Field[] = [
    { id: 'a', label: 'a', kind: 'lines', optional: false, initial: 'x'.repeat(50), maxLength: 10 },
    { id: 'b', label: 'b', kind: 'line', optional: false, initial: 'two\nlines' },
  ];
  const elements = modal(form({ fields }), PLACE).blocks.map((block) =>
    'element' in block ? block.element : undefined,
  );
  expect(elements).toMatchObject([{ initial_value: 'x'.repeat(10) }, { initial_value: 'two lines' }]);
});

it('an option that would have to be cut, and a choice without options, are left out', () => {
  const option = { value: 'x'.repeat(151), label: 'long' };
  const choice = { id: 'c', label: 'c', kind: 'choice', optional: false } as const;
  expect(modal(form({ fields: [{ ...choice, options: [option] }] }), PLACE).blocks).toEqual([]);
  expect(modal(form({ fields: [choice] }), PLACE).blocks).toEqual([]);
});
