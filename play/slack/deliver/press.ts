import { isJson } from '../api/args.ts';
import type { Json } from '../state/message.ts';

/** A button (or menu) that stands in a message or view, with the block it stands in. */
export interface Pressed {
  readonly blockId: string;
  readonly element: Json;
}

/** An input of a form that tells the app nothing while it is filled in. */
const isSilent = (block: Json): boolean => block.type === 'input' && block.dispatch_action !== true;

export interface Press {
  readonly actionId: string;
  readonly blockId?: string;
  /** Tells apart buttons with one action id. */
  readonly value?: string;
  /** Of a menu or of boxes: values of options, ids of people or channels. */
  readonly chosen?: readonly string[];
}

function elementsOf(block: Json): Json[] {
  const elements = jsonIn(block.elements);
  const single = [block.accessory, block.element].filter(isJson);
  return [...elements, ...single];
}

/** Everything in these blocks that a person can press. */
function pressable(blocks: readonly Json[]): Pressed[] {
  return blocks.flatMap((block) =>
    (isSilent(block) ? [] : elementsOf(block))
      .filter((element) => typeof element.action_id === 'string')
      .map((element) => ({ blockId: String(block.block_id ?? ''), element })),
  );
}

/** Finds what is pressed. @throws Error when no such thing is on the screen: a person could not press it either */
export function findPressed(blocks: readonly Json[], press: Press): Pressed {
  const all = pressable(blocks);
  const found = all.find(({ blockId, element }) => {
    if (element.action_id !== press.actionId) return false;
    if (press.blockId !== undefined && press.blockId !== blockId) return false;
    return press.value === undefined || element.type !== 'button' || element.value === press.value;
  });
  if (found === undefined) {
    const there = all.map(({ element }) => String(element.action_id)).join(', ') || 'nothing';
    throw new Error(`nothing to press with action_id ${press.actionId}; there is: ${there}`);
  }
  return found;
}

/** The entry of `actions` in a `block_actions` payload. */
export function actionOf(
  { blockId, element }: Pressed,
  press: Press,
  actionTs: string,
  suggested: readonly Json[] = [],
): Json {
  const common = { action_id: element.action_id, block_id: blockId, type: element.type, action_ts: actionTs };
  if (element.type === 'button') {
    const { text, value, style } = element;
    return { ...common, text, ...(value === undefined ? {} : { value }), ...(style === undefined ? {} : { style }) };
  }
  if (element.type === 'plain_text_input') return { ...common, value: press.chosen?.[0] ?? null };
  return { ...common, ...choiceOf({ ...element, ...externalOf(element, suggested) }, press.chosen ?? []) };
}

/** An external select has the options that the app suggested, and what stood in it from the start. */
const externalOf = ({ type, initial_option }: Json, suggested: readonly Json[]): Json =>
  type === 'external_select' ? { options: [...suggested, ...jsonIn([initial_option])] } : {};

/** What the payload says of a choice (docs.slack.dev, block element reference: each element's interaction payload). */
function choiceOf(element: Json, chosen: readonly string[]): Json {
  const type = String(element.type);
  const isMany = type === 'checkboxes' || type.startsWith('multi_');
  const named = ['user', 'channel', 'conversation'].find((name) => type.endsWith(`${name}s_select`));
  if (named !== undefined)
    return isMany ? { [`selected_${named}s`]: chosen } : { [`selected_${named}`]: chosen[0] ?? null };
  const options = optionsOf(element).filter(({ value }) => typeof value === 'string' && chosen.includes(value));
  return isMany ? { selected_options: options } : { selected_option: options[0] ?? null };
}

/** @throws Error when no attachment of the message has such a button */
export function findAttached(attachments: readonly Json[], label: string): { attachment: Json; action: Json } {
  for (const attachment of attachments)
    for (const action of jsonIn(attachment.actions))
      if (action.text === label && action.url === undefined) return { attachment, action };
  throw new Error(`no attachment has the button ${label}`);
}

const jsonIn = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

const optionsOf = (element: Json): Json[] => [
  ...jsonIn(element.options),
  ...jsonIn(element.option_groups).flatMap((group) => jsonIn(group.options)),
];
