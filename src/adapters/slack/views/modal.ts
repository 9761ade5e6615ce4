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
import type { Field, Form, Message, Option } from '../../../core/say/message/message.ts';
import type { Destination } from '../../../flow/ports/slack.ts';
import {
  MAX_CALLBACK_ID,
  MAX_INPUT,
  MAX_LABEL,
  MAX_MENU_BYTES,
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
import { MORE_VALUE } from './form-state.ts';
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
const optionsOf = (options: readonly Option[], most = MAX_OPTIONS): PlainTextOption[] =>
  options
    .filter(({ value }) => value !== '' && value.length <= MAX_OPTION_VALUE)
    .slice(0, most)
    .map(optionOf);

const optionOf = ({ value, label, description }: Option): PlainTextOption => ({
  value,
  text: optionText(label),
  ...(description ? { description: optionText(description) } : {}),
});

/** Without a colon there is no name of an emoji to keep as it is, and a menu has little room. */
function optionText(words: string): PlainTextOption['text'] {
  const whole = plain(words, MAX_OPTION_LABEL);
  const { type, text } = whole;
  return text.includes(':') ? whole : { type, text };
}

const MORE = optionOf({ value: MORE_VALUE, label: 'Type more letters to see the others' });

const bytesOf = (options: readonly PlainTextOption[]): number => Buffer.byteLength(JSON.stringify(options));

/**
 * Keeps as many options of a search field as Slack takes, by their number and by their bytes. If some are left out, the
 * last one says to type more, and the typed text itself stays, because it may be listed nowhere.
 */
export function menuOf(options: readonly Option[], typed: string): PlainTextOption[] {
  const all = optionsOf(options, Number.POSITIVE_INFINITY);
  if (all.length <= MAX_OPTIONS && bytesOf(all) <= MAX_MENU_BYTES) return all;
  const own = all.filter(({ value }) => value === typed.trim()).slice(0, 1);
  const last = [...own, MORE];
  let bytes = bytesOf(last);
  const cut = all.findIndex((option, index) => {
    bytes += bytesOf([option]);
    return bytes > MAX_MENU_BYTES || index + last.length >= MAX_OPTIONS;
  });
  const shown = all.slice(0, cut);
  return [...shown, ...last.filter((option) => !shown.includes(option))];
}

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
