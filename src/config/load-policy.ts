import { readFileSync } from 'node:fs';
import { sha256 } from '../core/hash.ts';
import type { Policy } from '../core/policy/policy.ts';
import { type Finding, pathText } from './finding.ts';
import { PolicyFile } from './policy-file.ts';
import { policyFromFile } from './policy-from-file.ts';
import { referenceFindings } from './policy-references.ts';
import { schemaFindings } from './schema-findings.ts';
import { type Position, readYaml, type YamlTree } from './yaml-tree.ts';

export interface LoadedPolicy {
  readonly kind: 'ok';
  readonly policy: Policy;
  /** SHA-256 of the file's text. */
  readonly hash: string;
}

export interface InvalidPolicy {
  readonly kind: 'invalid';
  /** One line each, `file:line:column path: message`, in the order of the file; all that are wrong, not the first. */
  readonly problems: readonly string[];
}

/** A policy is written by people: a longer one is a mistake, and reading it would stall the bot. */
const MAX_CHARACTERS = 1_048_576;

/** Reads and checks a policy file. Never throws: a file that cannot be read is a problem like any other. */
export function loadPolicy(path: string): LoadedPolicy | InvalidPolicy {
  try {
    return parsePolicy(readFileSync(path, 'utf8'), path);
  } catch (error) {
    return { kind: 'invalid', problems: [`${path}: cannot be read (${errorCode(error)})`] };
  }
}

/** Checks the text of a policy file; `file` is its name for the problems. */
export function parsePolicy(text: string, file: string): LoadedPolicy | InvalidPolicy {
  if (text.length > MAX_CHARACTERS) return { kind: 'invalid', problems: [`${file}: is longer than 1 MiB`] };
  const tree = readYaml(text);
  if (tree.data === undefined) return { kind: 'invalid', problems: inOrder(file, tree.syntax) };

  const parsed = PolicyFile.safeParse(tree.data, { reportInput: true });
  const findings = [...schemaFindings(parsed.error?.issues ?? []), ...referenceFindings(tree.data)];
  const problems = inOrder(file, [...tree.syntax, ...findings.map((finding) => placed(tree, finding))]);
  if (!parsed.success || problems.length > 0) return { kind: 'invalid', problems };
  return { kind: 'ok', policy: policyFromFile(parsed.data), hash: sha256(text) };
}

type Placed = Position & { readonly message: string };

function placed(tree: YamlTree, finding: Finding): Placed {
  const path = pathText(finding.path);
  return {
    ...tree.locate(finding),
    message: path === '' ? `the file ${finding.message}` : `${path}: ${finding.message}`,
  };
}

const inOrder = (file: string, problems: readonly Placed[]): readonly string[] => [
  ...new Set(
    problems
      .toSorted((a, b) => a.line - b.line || a.column - b.column)
      .map(({ line, column, message }) => `${file}:${line}:${column} ${message}`),
  ),
];

const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
