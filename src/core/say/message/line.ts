import { defined } from '../../../lib/object.ts';
import { type Button, type Fact, type Message, type Part, type Span, text } from './message.ts';

/** The values that a sentence may hold besides its own words. `undefined`, `false` and empty values add nothing. */
export type Words = string | number | Span | readonly Span[] | false | undefined;

/** The values that may be among the parts of a message. Empty ones show nothing. */
export type Shown = Part | false | undefined | readonly Shown[];

type Template<Result> = (strings: TemplateStringsArray, ...values: readonly Words[]) => Result;

/**
 * A sentence stands in the code as it is read, so that it can be searched for.
 *
 *     line`There's no pod named ${code(name)} in ${code(namespace)}.`
 *
 * A value is a span, or stays plain text: its characters never become markup.
 */
export const line: Template<readonly Span[]> = (strings, ...values) =>
  merged(strings.flatMap((words, index) => [text(words), ...spansOf(values[index])]));

/** The parts of a message; `paragraph` and `note` are templates as `line` is. */
export const paragraph: Template<Part> = (...given) => ({ kind: 'paragraph', spans: line(...given) });
export const note: Template<Part> = (...given) => ({ kind: 'note', spans: line(...given) });
export const heading = (words: string): Part => ({ kind: 'heading', text: words });
export const preformatted = (words: string): Part => ({ kind: 'preformatted', text: words });
export const list = (items: readonly Words[]): Part => ({
  kind: 'list',
  items: items.map(spansOf).filter(({ length }) => length > 0),
});
export const table = (labels: readonly string[], cells: readonly (readonly Words[])[]): Part => ({
  kind: 'table',
  columns: labels.map((label) => ({ label })),
  rows: cells.map((row) => row.map(spansOf)),
});

/** The part uncut or not at all: people decide on it. */
export const whole = (part: Part): Part => ({ ...part, whole: true }) as Part;
export const actions = (...buttons: readonly Button[]): Part => ({ kind: 'actions', buttons });

type Row = Fact | false | undefined | readonly Row[];

/** A fact without a value is not shown. */
export const fact = (label: string, value: Words): Fact => ({ label, value: spansOf(value) });
export const rows = (...given: readonly Row[]): readonly Fact[] =>
  given.flatMap((one) => {
    if (one === undefined || one === false) return [];
    if (!('label' in one)) return rows(...one);
    return one.value.length === 0 ? [] : [one];
  });
export const facts = (...given: readonly Row[]): Part => ({ kind: 'facts', facts: rows(given) });

/** `a, b, c`, without what is empty. */
export const joined = (items: readonly Words[], between = ', '): readonly Span[] =>
  merged(
    items
      .map(spansOf)
      .filter(({ length }) => length > 0)
      .flatMap((spans, index) => (index === 0 ? spans : [text(between), ...spans])),
  );

/** `shop · prod · run abcdefghij`, as in the small print. */
export const dotted = (items: readonly Words[]): readonly Span[] => joined(items, ' · ');

/** The same words in one plain text. People, channels and times have none. */
export const plainText = (words: Words): string =>
  spansOf(words)
    .map((span) => ('text' in span ? span.text : ''))
    .join('');

/** The parts without those that show nothing. */
export const shownParts = (...given: readonly Shown[]): readonly Part[] =>
  given.flatMap((one) => {
    if (one === undefined || one === false) return [];
    if (!('kind' in one)) return shownParts(...one);
    return isEmpty(one) ? [] : [one];
  });

/** A message but for its parts. */
type Frame = Pick<Message, 'tone'> & {
  readonly [Key in 'summary' | 'notification' | 'code']?: Message[Key] | undefined;
} & { readonly decidedOn?: readonly Shown[] | undefined };

/** Without a `summary`, the first heading or paragraph is it. */
export function message({ summary, code, decidedOn = [], ...frame }: Frame, given: readonly Shown[]): Message {
  const parts = shownParts(given);
  const decided = shownParts(decidedOn);
  return {
    summary: summary ?? plainText(firstLineOf(parts)),
    ...defined(frame),
    ...(decided.length > 0 ? { decidedOn: decided } : {}),
    parts,
    ...defined({ code }),
  } as Message;
}

function firstLineOf(parts: readonly Part[]): Words {
  for (const part of parts) {
    if (part.kind === 'heading') return part.text;
    if (part.kind === 'paragraph') return part.spans;
  }
  return undefined;
}

function spansOf(words: Words): readonly Span[] {
  if (words === undefined || words === false || words === '') return [];
  if (typeof words === 'string' || typeof words === 'number') return [text(String(words))];
  return 'kind' in words ? [words] : words;
}

/** Neighbouring texts are one, and empty ones are none. */
function merged(spans: readonly Span[]): readonly Span[] {
  const result: Span[] = [];
  for (const span of spans) {
    const last = result.at(-1);
    if (span.kind !== 'text') result.push(span);
    else if (last?.kind === 'text') result[result.length - 1] = text(`${last.text}${span.text}`);
    else if (span.text !== '') result.push(span);
  }
  return result;
}

function isEmpty(part: Part): boolean {
  switch (part.kind) {
    case 'paragraph':
    case 'note':
      return part.spans.length === 0;
    case 'list':
      return part.items.length === 0;
    case 'facts':
      return part.facts.length === 0;
    case 'actions':
      return part.buttons.length === 0;
    case 'links':
      return part.links.length === 0;
    case 'preformatted':
      return part.text === '';
    default:
      return false;
  }
}
