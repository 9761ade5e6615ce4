import { initialOf, isMany, type Option } from '../blocks/options.ts';
import { type Json, numberOf, objectOf, stringOf } from '../json.ts';

/** What stands in a form, by block id: the text, or the values chosen. */
export type Filled = Readonly<Record<string, readonly string[]>>;

const TYPED = new Set([
  'plain_text_input',
  'number_input',
  'email_text_input',
  'url_text_input',
  'datepicker',
  'timepicker',
]);

export const isTyped = (element: Json): boolean => TYPED.has(stringOf(element.type));

/** What an input holds before anybody touches it. */
export function firstOf(element: Json): readonly string[] {
  if (!isTyped(element)) return initialOf(element);
  return [stringOf(element.initial_value) || stringOf(element.initial_date) || stringOf(element.initial_time)];
}

const isEmpty = (filled: readonly string[]): boolean => filled.every((value) => value.trim() === '');

/** What Slack's own form says before it sends anything; undefined is fine. */
export function complaintOf(block: Json, filled: readonly string[]): string | undefined {
  const element = objectOf(block.element);
  if (isEmpty(filled)) return block.optional === true ? undefined : 'Please complete this required field.';
  const { length } = filled[0] ?? '';
  const least = numberOf(element.min_length);
  if (least !== undefined && length < least) return `Please enter at least ${least} characters.`;
  if (element.type === 'number_input' && !Number.isFinite(Number(filled[0]))) return 'Please enter a number.';
  const most = numberOf(element.max_selected_items);
  return most !== undefined && filled.length > most ? `Please choose at most ${most}.` : undefined;
}

/** An input's entry in Slack's `view.state.values` (docs.slack.dev, "View payloads": state values). */
export function stateOf(element: Json, filled: readonly string[], options: readonly Option[]): Json {
  const type = stringOf(element.type);
  const one = filled[0] === '' ? null : (filled[0] ?? null);
  if (type === 'datepicker') return { type, selected_date: one };
  if (type === 'timepicker') return { type, selected_time: one };
  if (isTyped(element)) return { type, value: one };
  const many = isMany(element);
  const kind = ['user', 'channel', 'conversation'].find((name) => type.includes(`${name}s_select`));
  if (kind !== undefined) return { type, [`selected_${kind}${many ? 's' : ''}`]: many ? filled : one };
  const sources = options.filter(({ value }) => filled.includes(value)).map(({ source }) => source);
  return { type, ...(many ? { selected_options: sources } : { selected_option: sources[0] ?? null }) };
}
