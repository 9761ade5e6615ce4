import { isJson } from '../api/args.ts';
import { faultsOf } from '../blocks/check.ts';
import { suggestedOptions } from '../blocks/composition.ts';
import type { Json, StoredView } from '../state/message.ts';
import type { Delivery } from './courier.ts';
import type { SuggestionOrder } from './orders.ts';

/** What the app suggested. Without options the person reads that the menu could not be loaded. */
export interface Suggestions {
  readonly delivery: Delivery;
  /** Undefined: no answer in 3 s, an error, or options that Slack does not accept. */
  readonly options: readonly Json[] | undefined;
}

/** Slack's default for `min_query_length`: fewer characters do not reach the app. */
const MIN_QUERY = 3;

/** The payload's words. @throws Error when there is no such menu, or too little was typed */
export function askedOf(
  { view }: StoredView,
  { blockId, actionId, typed }: SuggestionOrder,
): { block_id: string; action_id: string; value: string } {
  const blocks = Array.isArray(view.blocks) ? view.blocks.filter(isJson) : [];
  const elements = blocks
    .filter(({ block_id }) => block_id === blockId)
    .flatMap((block) => [block.element, block.accessory, ...(Array.isArray(block.elements) ? block.elements : [])])
    .filter(isJson);
  const menu = elements.find(({ type, action_id }) => type === 'external_select' && action_id === actionId);
  if (menu === undefined) throw new Error(`no menu to search with block_id ${blockId} and action_id ${actionId}`);
  const least = typeof menu.min_query_length === 'number' ? menu.min_query_length : MIN_QUERY;
  if (typed.length < least) throw new Error(`Slack asks the app from ${least} characters on`);
  return { block_id: blockId, action_id: actionId, value: typed };
}

/** The options of an answer that Slack accepts: either `options` or `option_groups`, never both. Groups are flattened. */
export function optionsIn({ error, body }: Delivery): readonly Json[] | undefined {
  if (error !== undefined || !isJson(body)) return undefined;
  if (body.options !== undefined && body.option_groups !== undefined) return undefined;
  const groups = Array.isArray(body.option_groups) ? body.option_groups.filter(isJson) : [];
  const options = Array.isArray(body.options) ? body.options : groups.flatMap((group) => group.options ?? []);
  const isAnswer = Array.isArray(body.options) || groups.length > 0;
  if (!isAnswer || faultsOf(suggestedOptions, options, '/options').length > 0) return undefined;
  return options.filter(isJson);
}
