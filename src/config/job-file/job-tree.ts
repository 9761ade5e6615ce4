import { type Document, isScalar, Lexer, type Node, visit } from 'yaml';
import type { ManifestProblem } from '../../core/job/ephemeral-job.ts';
import { shorten } from '../../lib/text.ts';
import { type Finding, type Position, parseLocated } from '../../lib/yaml.ts';

/** People write jobs by hand; reading a longer text would stall the bot. */
const MAX_CHARACTERS = 65_536;
/**
 * Scalars, marks, indentations and line ends. A line such as `key: value` has seven; ten containers with ten variables
 * each have 2,400. The library blocks for up to 15 microseconds for each, so this limit, not the length, keeps the
 * pause short.
 */
const MAX_LEXEMES = 3_000;

export interface JobTree {
  /** Plain data; undefined if the text has problems. */
  readonly data: unknown;
  readonly problems: readonly ManifestProblem[];
  locate(finding: Pick<Finding, 'path' | 'at'>): Position;
}

/** More errors help nobody. */
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
 * Reads one YAML document. Refuses anchors, aliases and tags: a job needs none, and without them data is never larger
 * than its text. Refuses texts over 65,536 characters or 3,000 lexemes unread. Never throws.
 */
export function readTree(text: string): JobTree {
  if (text.length > MAX_CHARACTERS) return failed(`the text is longer than ${MAX_CHARACTERS} characters`);
  try {
    if (hasManyLexemes(text)) return failed(TOO_MANY);
    return treeOf(text);
  } catch {
    // The library recurses: thousands of brackets overflow the stack.
    return failed(TOO_DEEP);
  }
}

/** Stops one past the limit. Counts each escape, because a wrong one costs as much as a lexeme. */
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
  // Beyond its depth the library reports one error for each bracket; its code is the only signal.
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

/** Shortens the library's message to one line of at most 200 characters. */
const plain = (message: string): string => shorten(message.replace(/\s+/g, ' '), 200);

const PROTO = '__proto__ is not allowed as a name';

function forbidden(document: Document): readonly { readonly node: Node; readonly message: string }[] {
  const found: { readonly node: Node; readonly message: string }[] = [];
  visit(document, {
    Alias: (_, node) => void found.push({ node, message: 'aliases are not read; write the value out' }),
    // The shape's checks skip this key: a selector of it alone would match every pod of the namespace.
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
