import { chart, tooManyCharts } from './chart.ts';
import { also } from './coherent.ts';
import { anyText, plainText } from './composition.ts';
import { accessory, actionElement, contextElement, hasPicture, inputElement, picture } from './elements.ts';
import { richText } from './rich-text.ts';
import { boolean, byType, type Check, isObject, list, object, oneOf, type Shape, string, typed } from './shape.ts';

/** docs.slack.dev, Block Kit reference; where messages and views differ, two tables. */
function block(type: string, shape: Shape): Check {
  return typed(type, { required: { ...shape.required }, optional: { block_id: string(255), ...shape.optional } });
}

const sectionShape = block('section', {
  optional: { text: anyText(3000), fields: list(anyText(2000), 10), accessory, expand: boolean },
});

const section: Check = (value, scope) => {
  sectionShape(value, scope);
  if (isObject(value) && value.text === undefined && value.fields === undefined) {
    scope.report(scope.path, 'missing required field: text');
  }
};

/** Slack refuses a cell without words (getnao/nao#1143), and documents no limit for a single one. */
const filledCell: Check = (value, { path, report }) => {
  if (isObject(value) && value.type === 'rich_text' && charactersIn(value) === 0 && !hasElement(value))
    report(path, 'cell must not be empty');
};

const cell = also(
  byType({ raw_text: typed('raw_text', { required: { text: string(10_000) } }), rich_text: richText }),
  filledCell,
);

/** [guess] Documented for `data_table`; of `table` nobody says. */
const equalRows: Check = (value, { path, report }) => {
  const rows = isObject(value) && Array.isArray(value.rows) ? value.rows.filter(Array.isArray) : [];
  if (new Set(rows.map(({ length }) => length)).size > 1) report(`${path}/rows`, 'rows must have the same length');
};

const columnSetting = object({ optional: { align: oneOf('left', 'center', 'right'), is_wrapped: boolean } });

const common: Record<string, Check> = {
  section,
  divider: block('divider', {}),
  header: block('header', { required: { text: plainText(150) } }),
  context: block('context', { required: { elements: list(contextElement, 10) } }),
  actions: block('actions', { required: { elements: list(actionElement, 25) } }),
  image: also(
    block('image', { required: { alt_text: string(2000) }, optional: { ...picture, title: plainText(2000) } }),
    hasPicture,
  ),
  rich_text: richText,
};

const message = list(
  byType({
    ...common,
    markdown: block('markdown', { required: { text: string(12_000) } }),
    data_visualization: block('data_visualization', { required: { title: string(50), chart } }),
    table: also(
      block('table', {
        required: { rows: list(list(cell, 20), 100) },
        optional: { column_settings: list(columnSetting, 20) },
      }),
      equalRows,
    ),
  }),
  50,
  0,
);

const view = list(
  byType({
    ...common,
    input: block('input', {
      required: { label: plainText(2000), element: inputElement },
      optional: { hint: plainText(2000), optional: boolean, dispatch_action: boolean },
    }),
  }),
  100,
  0,
);

/** Faults of a message's blocks; none means valid. `unknownTypes`: what this workspace does not have; Slack's words for that are a guess. */
export function checkMessageBlocks(
  blocks: readonly unknown[],
  unknownTypes: readonly string[] = [],
): readonly string[] {
  const foreign = blocks.flatMap((one, index) =>
    isObject(one) && unknownTypes.includes(String(one.type))
      ? [`unsupported type: ${String(one.type)} [json-pointer:/blocks/${index}/type]`]
      : [],
  );
  return [...foreign, ...collect(message, blocks)];
}

export function checkViewBlocks(blocks: readonly unknown[]): readonly string[] {
  return [...collect(view, blocks), ...focused(blocks)];
}

/** `focus_on_load`: "only one element can be set to true". */
const focused = (blocks: readonly unknown[]): string[] =>
  (JSON.stringify(blocks).match(/"focus_on_load":true/g)?.length ?? 0) > 1
    ? ['only one element can have `focus_on_load` [json-pointer:/blocks]']
    : [];

/** Runs one check over a value that stands at `at`. */
export function faultsOf(check: Check, value: unknown, at: string): string[] {
  const faults: string[] = [];
  check(value, { path: at, report: (path, complaint) => faults.push(`${complaint} [json-pointer:${path}]`) });
  return faults;
}

function collect(check: Check, blocks: readonly unknown[]): readonly string[] {
  return [
    ...faultsOf(check, blocks, '/blocks'),
    ...duplicates(blocks),
    ...markdownTotal(blocks),
    ...tableTotal(blocks),
    ...tooManyCharts(blocks),
  ];
}

/** A message has one table (vercel/chat#194), with at most 10,000 characters in all its cells ("table", Block Kit reference). */
function tableTotal(blocks: readonly unknown[]): string[] {
  const tables = blocks.filter((one) => isObject(one) && one.type === 'table');
  const total = charactersIn(tables);
  return [
    ...(tables.length > 1 ? ['only_one_table_allowed [json-pointer:/blocks]'] : []),
    ...(total > 10_000 ? ['table cells must have less than 10001 characters in all [json-pointer:/blocks]'] : []),
  ];
}

/** The characters of every `text` in a value. */
function charactersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [name, one]) => sum + (name === 'text' && typeof one === 'string' ? one.length : charactersIn(one)),
    0,
  );
}

/** Whether a rich text shows anything that is no text, such as a person. */
const hasElement = (value: unknown): boolean =>
  JSON.stringify(value).match(/"type":"(?:user|usergroup|channel|emoji|date|link|broadcast|team)"/) !== null;

/** Block ids are unique in a message, action ids within their block. */
function duplicates(blocks: readonly unknown[]): string[] {
  const faults = repeated(blocks.map((one) => (isObject(one) ? one.block_id : undefined))).map(
    (id) => `\`block_id\` ${id} already exists [json-pointer:/blocks]`,
  );
  blocks.forEach((one, index) => {
    const elements = isObject(one) && Array.isArray(one.elements) ? one.elements : [];
    for (const id of repeated(elements.map((element) => (isObject(element) ? element.action_id : undefined)))) {
      faults.push(`\`action_id\` ${id} already exists [json-pointer:/blocks/${index}/elements]`);
    }
  });
  return faults;
}

function repeated(ids: readonly unknown[]): string[] {
  const named = ids.filter((id) => typeof id === 'string');
  return named.filter((id, index) => named.indexOf(id) !== index);
}

/** All `markdown` blocks of a message together have at most 12,000 characters. */
function markdownTotal(blocks: readonly unknown[]): string[] {
  const texts = blocks.map((one) =>
    isObject(one) && one.type === 'markdown' && typeof one.text === 'string' ? one.text : '',
  );
  const total = texts.reduce((sum, one) => sum + one.length, 0);
  return total > 12_000 ? ['markdown text must be less than 12001 characters in all [json-pointer:/blocks]'] : [];
}

/**
 * The hidden limit: somewhere near 13,200 characters all blocks together are refused with `msg_blocks_too_long`, varying
 * with the content (slackapi/bolt-js#2509). Here: of the blocks as JSON, with `&`, `<` and `>` counted as the entities
 * that Slack stores. This is the strict end of what was seen.
 */
export const HIDDEN_BLOCKS_LIMIT = 13_200;

export function blocksTooLong(blocks: readonly unknown[]): boolean {
  const json = JSON.stringify(blocks);
  const growth = (json.match(/&(?!amp;|lt;|gt;)/g)?.length ?? 0) * 4 + (json.match(/[<>]/g)?.length ?? 0) * 3;
  return json.length + growth > HIDDEN_BLOCKS_LIMIT;
}
