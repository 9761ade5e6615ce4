import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, stringify } from 'yaml';

/** A mistake in a document, by its path from the root: keys, and list positions from 0. */
export interface Finding {
  readonly path: readonly (string | number)[];
  /** The last key itself is wrong, or its value. */
  readonly at: 'key' | 'value';
  /** Continues the path: "must be …", "is not …". */
  readonly message: string;
}

/** A position in the text; both numbers count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The path as people write it: `channels.C0SHOP.rules[0].id`. */
export const pathText = (path: Finding['path']): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');

export interface LocatedDocument {
  readonly document: Document.Parsed;
  at(offset: number): Position;
  /** The position of the deepest part of the path that exists: a missing key is reported at its map. */
  locate(finding: Pick<Finding, 'path' | 'at'>): Position;
}

/** Parses one YAML 1.2 document; its errors are in `document`. */
export function parseLocated(text: string): LocatedDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  return { document, at, locate: (finding) => at(offsetOf(document, finding)) };
}

function offsetOf(document: Document.Parsed, { path, at }: Pick<Finding, 'path' | 'at'>): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [index, step] of path.entries()) {
    const next = child(document, node, step);
    if (!next) break;
    const isKey = at === 'key' && index === path.length - 1;
    offset = (isKey ? undefined : startOf(next.value)) ?? next.keyOffset ?? offset;
    node = next.value;
  }
  return offset;
}

interface Child {
  readonly value: unknown;
  readonly keyOffset?: number | undefined;
}

function child(document: Document.Parsed, node: unknown, step: string | number): Child | undefined {
  const here = isAlias(node) ? node.resolve(document) : node;
  if (isSeq(here) && typeof step === 'number') return { value: here.items[step] };
  if (!isMap(here)) return undefined;
  const pair = here.items.findLast(({ key }) => String(isScalar(key) ? key.value : key) === String(step));
  return pair && { value: pair.value, keyOffset: startOf(pair.key) };
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

/** One YAML document without its `---`; the same value always prints the same text, and no line is folded. */
export const printYaml = (value: object): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
