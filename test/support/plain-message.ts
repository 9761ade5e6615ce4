import type { Message, Part, Span } from '../../src/core/say/message/message.ts';
import { DEFAULT_NAMES, withNames } from '../../src/core/shown-names.ts';

/** What may hold a message: an answer, a post, or the field errors of a form. */
interface Holder {
  readonly kind?: unknown;
  readonly message?: Message;
  readonly errors?: Readonly<Record<string, string>>;
}

/** The text of a message or of what holds one, a line for each fact, item and paragraph; people, groups and channels by their ids, buttons by their labels, the reason code last; with the default names. */
export const textOf = (shown: Message | Holder | readonly Holder[] | undefined): string =>
  withNames(markedTextOf(shown), DEFAULT_NAMES);

function markedTextOf(shown: Message | Holder | readonly Holder[] | undefined): string {
  if (!shown) return '';
  if (Array.isArray(shown)) return shown.map(markedTextOf).join('\n');
  if ('parts' in shown) return [shown.summary, ...shown.parts.flatMap(linesOf), shown.code ?? ''].join('\n').trimEnd();
  const { message, errors = {} } = shown as Holder;
  return [markedTextOf(message), ...Object.values(errors)].join('\n');
}

/** The actions of a message's buttons, in their order. */
export function buttonsOf(message: Message | undefined): readonly string[] {
  const buttons = message?.parts.flatMap((part) => (part.kind === 'actions' ? part.buttons : [])) ?? [];
  return buttons.map(({ action }) => action);
}

function linesOf(part: Part): readonly string[] {
  switch (part.kind) {
    case 'heading':
    case 'preformatted':
      return [part.text];
    case 'paragraph':
    case 'note':
      return [lineOf(part.spans)];
    case 'list':
      return part.items.map(lineOf);
    case 'facts':
      return part.facts.map(({ label, value }) => `${label}: ${lineOf(value)}`);
    case 'table':
      return [part.columns.map(({ label }) => label), ...part.rows.map((row) => row.map(lineOf))].map((cells) =>
        cells.join(' | '),
      );
    case 'chart':
      return [
        `${part.chart.title}: ${part.chart.lines.map(({ name, values }) => `${name} ${values.join(' ')}`).join(', ')}`,
      ];
    case 'actions':
      return part.buttons.map(({ label }) => `[${label}]`);
    case 'links':
      return part.links.map(({ label, url }) => `[${label}: ${url}]`);
  }
}

const lineOf = (spans: readonly Span[]): string => spans.map(wordsOf).join('');

function wordsOf(span: Span): string {
  switch (span.kind) {
    case 'person':
      return span.userId;
    case 'usergroup':
      return span.usergroupId;
    case 'channel':
      return span.channelId;
    case 'time':
      return new Date(span.atMs).toISOString();
    default:
      return span.text;
  }
}
