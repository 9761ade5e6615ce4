import { type Document, isScalar, Lexer, type Node, visit } from 'yaml';
import type { ManifestProblem } from '../../core/job/ephemeral-job.ts';
import { type Finding, type Position, parseLocated } from '../../lib/yaml.ts';

/** A job is written by hand; reading a longer text would stall the bot. */
const MAX_CHARACTERS = 65_536;
/**
 * Scalars, marks, indentations and line ends. A line such as `key: value` has seven; ten containers with ten variables each have
 * 2,400. The library takes up to 15 microseconds for each, in one go: so this, and not the length, keeps a turn short.
 */
const MAX_LEXEMES = 3_000;

export interface JobTree {
  /** Plain data; undefined where the text has problems of its own. */
  readonly data: unknown;
  readonly problems: readonly ManifestProblem[];
  locate(finding: Pick<Finding, 'path' | 'at'>): Position;
}

/** More of them tell nobody more. */
const MAX_ERRORS = 200;

const TOO_MANY =
  'the text has too many keys, values and lines to be read at once; split the job, or put a long script into one block (|)';
const TOO_DEEP = 'the text cannot be read: it is nested too deeply';
const START = { line: 1, column: 1 } as const;
const failed = (message: string): JobTree => ({
  data: undefined,
  problems: [{ ...START, message }],
  locate: () => START,
});

/**
 * Reads one YAML document. Anchors, aliases and tags are refused: a job needs none, and without them data is never larger than
 * its text. Texts over 65,536 characters or 3,000 lexemes are refused unread. Never throws.
 */
export function readTree(text: string): JobTree {
  if (text.length > MAX_CHARACTERS) return failed(`the text is longer than ${MAX_CHARACTERS} characters`);
  try {
    if (hasManyLexemes(text)) return failed(TOO_MANY);
    return treeOf(text);
  } catch {
    // The library walks by recursion: a text of thousands of brackets ends its stack.
    return failed(TOO_DEEP);
  }
}

/** Stops reading at the first one too many. An escape counts as one: a wrong one costs as much. */
function hasManyLexemes(text: string): boolean {
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    count += lexeme.startsWith('"') ? lexeme.split('\\').length : 1;
    if (count > MAX_LEXEMES) return true;
  }
  return false;
}

function treeOf(text: string): JobTree {
  const { document, at, locate } = parseLocated(text);
  // Beyond its depth the library reports one error for every bracket; its code is the only signal.
  if (document.errors.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) return failed(TOO_DEEP);
  const problems = [
    ...document.errors.slice(0, MAX_ERRORS).map(({ code, message, pos: [start] }) => ({
      ...at(start),
      message: SYNTAX[code] ?? plain(message),
    })),
    ...forbidden(document).map(({ node, message }) => ({ ...at(node.range?.[0] ?? 0), message })),
  ];
  return {
    data: problems.length > 0 ? undefined : document.toJS({ maxAliasCount: 0 }),
    problems,
    locate,
  };
}

const SYNTAX: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'this key is here twice',
  MULTIPLE_DOCS: 'a second document begins here; apply one EphemeralJob at a time',
};

/** The library's sentence, without what it says of its own functions. */
const plain = (message: string): string => message.replace(/\s+/g, ' ').slice(0, 200);

const PROTO = '__proto__ is not a field here, and nothing can be called so';

function forbidden(document: Document): readonly { readonly node: Node; readonly message: string }[] {
  const found: { readonly node: Node; readonly message: string }[] = [];
  visit(document, {
    Alias: (_, node) => void found.push({ node, message: 'aliases are not read; write the value out' }),
    // The checks of the shape leave this key out unseen: a selector of it alone would be every pod of the namespace.
    Pair: (_, { key }) => {
      if (isScalar(key) && key.value === '__proto__') found.push({ node: key, message: PROTO });
    },
    Value: (_, node) => {
      if (node.anchor) found.push({ node, message: 'anchors are not read; write the value where it is needed' });
      if (node.tag) found.push({ node, message: 'tags are not read; quote text that looks like a number' });
    },
  });
  return found;
}
