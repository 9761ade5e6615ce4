import type { Document } from 'yaml';
import { type Finding, type Position, parseLocated } from '../lib/yaml.ts';

export interface YamlTree {
  /** The document as plain data; undefined if its syntax is too broken. */
  readonly data: unknown;
  readonly syntax: readonly (Position & { readonly message: string })[];
  locate(finding: Pick<Finding, 'path' | 'at'>): Position;
}

/** Allows aliases, but not as a "billion laughs" attack. */
const MAX_ALIASES = 100;

/**
 * Reads one YAML 1.2 document strictly: duplicate keys, unknown tags and second documents are problems. The text's
 * length times `MAX_ALIASES` bounds memory. Never throws.
 */
export function readYaml(text: string): YamlTree {
  const { document, at, locate } = parseLocated(text);
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
    locate,
  };
}

const wordAt = (text: string, offset: number): string =>
  /^[^\s:,{}]*/.exec(text.slice(offset, offset + 100))?.[0] ?? '';

type PlainData = { readonly kind: 'ok'; readonly value: unknown } | { readonly kind: 'too-many-aliases' };

function plainData(document: Document): PlainData {
  try {
    return { kind: 'ok', value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    // The class of the error is the library's only signal for an exhausted or unresolved alias.
    if (error instanceof ReferenceError) return { kind: 'too-many-aliases' };
    throw error;
  }
}
