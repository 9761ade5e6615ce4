import type { InputBlock, KnownBlock, ModalView, PlainTextInput, PlainTextOption, StaticSelect } from '@slack/types';
import { KdebugError } from '../../../core/errors.ts';
import type { Field, Form, Message } from '../../../core/report/message.ts';
import type { Destination } from '../../../flow/ports/slack.ts';
import {
  MAX_CALLBACK_ID,
  MAX_INPUT,
  MAX_LABEL,
  MAX_OPTION_LABEL,
  MAX_OPTION_VALUE,
  MAX_OPTIONS,
  MAX_PLACEHOLDER,
  MAX_PRIVATE_METADATA,
  MAX_TEXT,
  MAX_VIEW_BLOCKS,
  MAX_VIEW_TITLE,
} from '../limits.ts';
import { plain } from './blocks.ts';
import { clean, cleanLine, firstOf, shorten } from './plain.ts';
import { view } from './view.ts';

const roomOf = (length: number) => ({ weight: Number.POSITIVE_INFINITY, length });

/**
 * Renders a form as a Slack modal within every limit of `limits.ts`. Block and action ids are the fields' ids. `private_metadata` holds
 * where the form was requested; `FormOrigin` reads it back. Pure.
 * @throws KdebugError internal_error if name, value or ids would be truncated
 */
export function modal(form: Form, { channelId, threadTs }: Destination): ModalView {
  const { name, value } = form;
  const private_metadata = JSON.stringify({ name, value, channelId, threadTs });
  if (private_metadata.length > MAX_PRIVATE_METADATA || name.length > MAX_CALLBACK_ID)
    throw new KdebugError('internal_error', { detail: `the form ${name} exceeds what Slack accepts` });
  const intro: KnownBlock[] = form.intro ? [introOf(form.intro)] : [];
  return {
    type: 'modal',
    callback_id: name,
    private_metadata,
    title: plain(form.title, MAX_VIEW_TITLE),
    submit: plain(form.submit, MAX_VIEW_TITLE),
    close: plain('Cancel', MAX_VIEW_TITLE),
    blocks: [...intro, ...form.fields.flatMap(inputOf)].slice(0, MAX_VIEW_BLOCKS),
  };
}

/**
 * A message as a modal to read, within the limits of a message. It omits buttons: a click in a modal comes without a channel, so nobody
 * could be authorised by it. Pure.
 */
export const page = (title: string, message: Message): ModalView => ({
  type: 'modal',
  title: plain(title, MAX_VIEW_TITLE),
  close: plain('Close', MAX_VIEW_TITLE),
  blocks: view({ ...message, parts: message.parts.filter(({ kind }) => kind !== 'actions') }).blocks,
});

const introOf = (intro: string): KnownBlock => ({
  type: 'section',
  text: { type: 'plain_text', text: shorten(clean(intro), roomOf(MAX_TEXT)) || '…', emoji: false },
});

/** Omits a choice without options: Slack refuses it. */
function inputOf(field: Field): InputBlock[] {
  const element = field.kind === 'choice' ? choice(field) : textInput(field);
  if (element === undefined) return [];
  return [
    {
      type: 'input',
      block_id: field.id,
      label: plain(field.label, MAX_LABEL),
      optional: field.optional,
      element,
      ...(field.hint ? { hint: plain(field.hint, MAX_LABEL) } : {}),
    },
  ];
}

const placeholderOf = ({ placeholder }: Field) =>
  placeholder ? { placeholder: plain(placeholder, MAX_PLACEHOLDER) } : {};

function textInput(field: Field): PlainTextInput {
  const max_length = Math.min(MAX_INPUT, Math.max(1, field.maxLength ?? MAX_INPUT));
  const tidied = field.kind === 'line' ? cleanLine(field.initial ?? '') : clean(field.initial ?? '');
  const initial = firstOf(tidied, roomOf(max_length));
  return {
    type: 'plain_text_input',
    action_id: field.id,
    multiline: field.kind === 'lines',
    max_length,
    ...(initial === '' ? {} : { initial_value: initial }),
    ...placeholderOf(field),
  };
}

/** Drops an option whose value is too long: truncated, it would mean something else. */
function choice(field: Field): StaticSelect | undefined {
  const options = (field.options ?? [])
    .filter(({ value }) => value !== '' && value.length <= MAX_OPTION_VALUE)
    .slice(0, MAX_OPTIONS)
    .map(({ value, label }): PlainTextOption => ({ value, text: plain(label, MAX_OPTION_LABEL) }));
  if (options.length === 0) return undefined;
  const initial = options.find(({ value }) => value === field.initial);
  return {
    type: 'static_select',
    action_id: field.id,
    options,
    ...(initial ? { initial_option: initial } : {}),
    ...placeholderOf(field),
  };
}
