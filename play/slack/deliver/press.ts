import { isJson } from '../api/args.ts';
import type { Json } from '../state/message.ts';

/** A button (or menu) that stands in a message or view, with the block it stands in. */
interface Pressed {
  readonly blockId: string;
  readonly element: Json;
}

export interface Press {
  readonly actionId: string;
  readonly blockId?: string;
  /** Tells apart elements with one action id: the button's value, or the menu's chosen option. */
  readonly value?: string;
}

function elementsOf(block: Json): Json[] {
  const elements = Array.isArray(block.elements) ? block.elements.filter(isJson) : [];
  const single = [block.accessory, block.element].filter(isJson);
  return [...elements, ...single];
}

/** Everything in these blocks that a person can press. */
function pressable(blocks: readonly Json[]): Pressed[] {
  return blocks.flatMap((block) =>
    elementsOf(block)
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
export function actionOf({ blockId, element }: Pressed, press: Press, actionTs: string): Json {
  const common = { action_id: element.action_id, block_id: blockId, type: element.type, action_ts: actionTs };
  if (element.type === 'button') {
    const { text, value, style } = element;
    return { ...common, text, ...(value === undefined ? {} : { value }), ...(style === undefined ? {} : { style }) };
  }
  const options = Array.isArray(element.options) ? element.options.filter(isJson) : [];
  return { ...common, selected_option: options.find((option) => option.value === press.value) ?? null };
}
