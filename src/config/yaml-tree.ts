import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml';

/** Something wrong in the policy file, by its place in the tree. */
export interface Finding {
  /** Keys and list positions (from 0) from the root. */
  readonly path: readonly (string | number)[];
  /** Whether the last key itself is wrong, or what stands under it. */
  readonly at: 'key' | 'value';
  /** Continues the path: "must be …", "is not …". */
  readonly message: string;
}

/** The path as people write it: `channels.C0SHOP.rules[0].id`. */
export const pathText = (path: Finding['path']): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');

/** Where something is in the text, both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface YamlTree {
  /** The document as plain data; undefined when its syntax is so broken that there is none. */
  readonly data: unknown;
  readonly syntax: readonly (Position & { readonly message: string })[];
  locate(finding: Pick<Finding, 'path' | 'at'>): Position;
}

/** An alias may be used, but not multiplied until the tree is huge ("billion laughs"). */
const MAX_ALIASES = 100;

/**
 * Reads one YAML 1.2 document strictly: duplicate keys, unknown tags and second documents are problems. Memory
 * is bounded by the text's length times `MAX_ALIASES`. Never throws.
 */
export function readYaml(text: string): YamlTree {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const syntax = [...document.errors, ...document.warnings].map((error) => ({
    ...at(error.pos[0]),
    message: error.code === 'DUPLICATE_KEY' ? `${wordAt(text, error.pos[0])}: is here twice` : error.message,
  }));
  const readable = document.errors.every(({ code }) => code === 'DUPLICATE_KEY');
  const data = readable ? plainData(document) : undefined;
  if (data?.kind === 'too-many-aliases')
    syntax.push({ line: 1, column: 1, message: 'uses its aliases too often, or one that is not there' });
  return {
    data: data?.kind === 'ok' ? data.value : undefined,
    syntax,
    locate: (finding) => at(offsetOf(document, finding)),
  };
}

const wordAt = (text: string, offset: number): string =>
  /^[^\s:,{}]*/.exec(text.slice(offset, offset + 100))?.[0] ?? '';

type PlainData = { readonly kind: 'ok'; readonly value: unknown } | { readonly kind: 'too-many-aliases' };

function plainData(document: Document): PlainData {
  try {
    return { kind: 'ok', value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    // The library's only signal for an exhausted or unresolved alias is the class of the error.
    if (error instanceof ReferenceError) return { kind: 'too-many-aliases' };
    throw error;
  }
}

/** The offset of the deepest place of a path that exists: a missing key is reported at its map. */
function offsetOf(document: Document, { path, at }: Pick<Finding, 'path' | 'at'>): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [index, step] of path.entries()) {
    const next = child(document, node, step);
    if (!next) break;
    const keyOnly = at === 'key' && index === path.length - 1;
    offset = (keyOnly ? undefined : startOf(next.value)) ?? next.keyOffset ?? offset;
    node = next.value;
  }
  return offset;
}

interface Child {
  readonly value: unknown;
  readonly keyOffset?: number | undefined;
}

function child(document: Document, node: unknown, step: string | number): Child | undefined {
  const here = isAlias(node) ? node.resolve(document) : node;
  if (isSeq(here) && typeof step === 'number') return { value: here.items[step] };
  if (!isMap(here)) return undefined;
  const pair = here.items.findLast(({ key }) => String(isScalar(key) ? key.value : key) === String(step));
  return pair && { value: pair.value, keyOffset: startOf(pair.key) };
}

const startOf = (node: unknown): number | undefined =>
  isScalar(node) || isCollection(node) || isAlias(node) ? (node as Node).range?.[0] : undefined;
