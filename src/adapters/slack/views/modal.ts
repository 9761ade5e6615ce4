import type {
  ExternalSelect,
  InputBlock,
  KnownBlock,
  ModalView,
  PlainTextInput,
  PlainTextOption,
  StaticSelect,
} from '@slack/types';
import { KdebugError } from '../../../core/errors.ts';
import { base32Hash } from '../../../core/hash.ts';
import type { Field, Form, Message, Option } from '../../../core/report/message.ts';
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
import { blocksOfPage } from './view.ts';

const roomOf = (length: number) => ({ weight: Number.POSITIVE_INFINITY, length });

/**
 * Renders a form as a Slack modal within every limit of `limits.ts`. An action id is the field's id, a block id is `blockIdOf`.
 * `private_metadata` holds where the form was requested; `FormOrigin` reads it back. Pure.
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
    ...(form.submit === undefined ? {} : { submit: plain(form.submit, MAX_VIEW_TITLE) }),
    close: plain('Cancel', MAX_VIEW_TITLE),
    blocks: [...intro, ...form.fields.flatMap(inputOf)].slice(0, MAX_VIEW_BLOCKS),
  };
}

/** A message as a modal to read, within the limits of a message, without its buttons and tables. Pure. */
export const page = (title: string, message: Message): ModalView => ({
  type: 'modal',
  title: plain(title, MAX_VIEW_TITLE),
  close: plain('Close', MAX_VIEW_TITLE),
  blocks: blocksOfPage(message),
});

const introOf = (intro: string): KnownBlock => ({
  type: 'section',
  text: { type: 'plain_text', text: shorten(clean(intro), roomOf(MAX_TEXT)) || '…', emoji: false },
});

/** Omits a choice without options: Slack refuses it. */
function inputOf(field: Field): InputBlock[] {
  const element = elementOf(field);
  if (element === undefined) return [];
  return [
    {
      type: 'input',
      block_id: blockIdOf(field),
      label: plain(field.label, MAX_LABEL),
      optional: field.optional,
      element,
      ...(field.dispatches ? { dispatch_action: true } : {}),
      ...(field.hint ? { hint: plain(field.hint, MAX_LABEL) } : {}),
    },
  ];
}

function elementOf(field: Field): InputBlock['element'] | undefined {
  if (field.kind === 'choice') return choice(field);
  return field.kind === 'search' ? search(field) : textInput(field);
}

const MARK = '~';
/** Slack empties an input only if its block gets another id (bolt-js issue 2059). */
const blockIdOf = ({ id, dependsOn }: Field): string =>
  dependsOn === undefined ? id : `${id}${MARK}${base32Hash(dependsOn, 12)}`;
export const fieldOfBlock = (blockId: string): string => blockId.split(MARK, 1)[0] ?? blockId;

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
export const optionsOf = (options: readonly Option[]): PlainTextOption[] =>
  options
    .filter(({ value }) => value !== '' && value.length <= MAX_OPTION_VALUE)
    .slice(0, MAX_OPTIONS)
    .map(({ value, label, description }) => ({
      value,
      text: plain(label, MAX_OPTION_LABEL),
      ...(description ? { description: plain(description, MAX_OPTION_LABEL) } : {}),
    }));

/** Shows what matches from the first character on, and the first options before anything is typed. */
function search(field: Field): ExternalSelect {
  const { initial = '' } = field;
  const [option] = optionsOf([{ value: initial, label: initial }]);
  return {
    type: 'external_select',
    action_id: field.id,
    min_query_length: 0,
    ...(option ? { initial_option: option } : {}),
    ...placeholderOf(field),
  };
}

function choice(field: Field): StaticSelect | undefined {
  const options = optionsOf(field.options ?? []);
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
