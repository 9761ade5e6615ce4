import type { KnownBlock, RawTextElement, RichTextBlock, TableBlock } from '@slack/types';
import type { Message, Part, Span, TablePart } from '../../../core/say/message/message.ts';
import { MAX_TABLE_CELL, MAX_TABLE_COLUMNS, MAX_TABLE_ROWS, MAX_TABLE_WEIGHT } from '../limits.ts';
import { type Room, weigh } from './plain.ts';
import { richText } from './spans.ts';

type Cell = RichTextBlock | RawTextElement;

/** Slack refuses an empty cell. */
const NOTHING = '–';
/** Room for the row that says how many are left out, and for the brackets around the rows. */
const REST_WEIGHT = 400;

const raw = (text: string): RawTextElement => ({ type: 'raw_text', text });

/** Slack does not document how it reads a `raw_text`; of these characters it can make nothing. */
const HARMLESS = /^[\p{L}\p{N} .,;%/()…–-]{1,200}$/u;

function cellOf(spans: readonly Span[]): Cell {
  const words = spans.every(({ kind }) => kind === 'text') ? spans.map((span) => 'text' in span && span.text) : [];
  const text = words.join('');
  if (HARMLESS.test(text) && text.trim() !== '') return raw(text);
  const { elements } = richText(spans, { weight: MAX_TABLE_CELL * 2, length: MAX_TABLE_CELL });
  return elements.length === 0
    ? raw(NOTHING)
    : { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
}

/**
 * A table within `room.weight`. The first row holds the labels. Rows that do not fit are counted in a last row. A missing or empty cell is
 * shown as `–`, because Slack refuses it. Empty if the table has no rows.
 */
export function tableBlocks({ columns, rows }: TablePart, room: Room): KnownBlock[] {
  const shownColumns = columns.slice(0, MAX_TABLE_COLUMNS);
  if (shownColumns.length === 0 || rows.length === 0) return [];
  const head = shownColumns.map(({ label }) => cellOf([{ kind: 'text', text: label }]));
  const shown: Cell[][] = [head];
  let weight = weightOf(head) + REST_WEIGHT;
  for (const [index, row] of rows.entries()) {
    const cells = shownColumns.map((_, column) => cellOf(row[column] ?? []));
    weight += weightOf(cells);
    const isLast = index === rows.length - 1;
    if (weight <= Math.min(room.weight, MAX_TABLE_WEIGHT) && (shown.length < MAX_TABLE_ROWS - 1 || isLast)) {
      shown.push(cells);
      continue;
    }
    shown.push(shownColumns.map((_, column) => raw(column === 0 ? `… ${rows.length - index} more` : NOTHING)));
    break;
  }
  const column_settings = shownColumns.map(({ align = 'left' }) => ({ align, is_wrapped: true }));
  return [{ type: 'table', column_settings, rows: shown } satisfies TableBlock];
}

const weightOf = (cells: readonly Cell[]): number => weigh(JSON.stringify(cells));

/**
 * A table as a list, a line for each row: `first cell · cell …`, numbers with their label. For a modal, beside files, and where Slack refuses
 * a table.
 */
const asList = ({ columns, rows }: TablePart): Part => ({
  kind: 'list',
  items: rows.map((row) => columns.flatMap((column, index) => inLine(column, row[index] ?? [], index === 0))),
});

function inLine({ label, align }: TablePart['columns'][number], cell: readonly Span[], isFirst: boolean): Span[] {
  if (isBlank(cell)) return isFirst ? [{ kind: 'text', text: NOTHING }] : [];
  const before = align === 'right' ? ` · ${label}: ` : ' · ';
  return isFirst ? [...cell] : [{ kind: 'text', text: before }, ...cell];
}

const isBlank = (cell: readonly Span[]): boolean => cell.every((span) => 'text' in span && span.text.trim() === '');

export const hasTable = ({ parts }: Message): boolean => parts.some(({ kind }) => kind === 'table');

/** The message with every table as a list, except the first `shown`: Slack allows one in a message and none in a modal. */
export function withTables(message: Message, shown: 0 | 1): Message {
  let count = 0;
  const parts = message.parts.map((part) => {
    if (part.kind !== 'table') return part;
    count += 1;
    return count > shown ? asList(part) : part;
  });
  return { ...message, parts };
}
