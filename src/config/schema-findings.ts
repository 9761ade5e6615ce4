import { z } from 'zod';
import { nearest } from '../lib/text.ts';
import type { Finding } from '../lib/yaml.ts';
import { PolicyFile } from './policy-file.ts';

/** Describes the schema's issues; suggests the nearest right key or value. */
export function schemaFindings(issues: readonly z.core.$ZodIssue[]): readonly Finding[] {
  const schema = policyJsonSchema();
  return issues.flatMap((issue) => findingsOf(issue, schema));
}

function findingsOf(issue: z.core.$ZodIssue, schema: Schema): readonly Finding[] {
  const path = pathOf(issue);
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(schema, path);
    return issue.keys.map((key) => ({
      path: [...path, key],
      at: 'key',
      message: `is not a key here; ${suggest(key, known)}`,
    }));
  }
  return [{ path, at: 'value', message: sentence(issue) }];
}

export const pathOf = ({ path }: z.core.$ZodIssue): Finding['path'] =>
  path.map((step) => (typeof step === 'number' ? step : String(step)));

/** The kind that a value must have, by zod's type name. */
export const KINDS: Readonly<Record<string, string>> = {
  object: 'a map of keys',
  record: 'a map of keys',
  array: 'a list',
  string: 'text (quote it if it looks like a number)',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
};

function sentence(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'custom' && issue.code !== 'invalid_format' && issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return typeof issue.input === 'string'
        ? `"${issue.input}" is not allowed; ${suggest(issue.input, issue.values.map(String))}`
        : `must be ${issue.values.map(String).join(' or ')}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${unit(issue.origin)}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${unit(issue.origin)}`;
    default:
      return issue.message;
  }
}

const unit = (origin: string): string =>
  origin === 'string' ? ' characters long' : origin === 'array' ? ' items long' : '';

function suggest(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  return near === undefined ? `one of: ${candidates.join(', ')}` : `did you mean "${near}"?`;
}

export interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
}

/** The schema's keys at a path. */
export function knownKeys(schema: Schema, path: Finding['path']): readonly string[] {
  const end = path.reduce<Schema>(
    (here, step) => (typeof step === 'number' ? here.items : under(here, step)) ?? {},
    schema,
  );
  return Object.keys(end.properties ?? {});
}

function under({ properties, additionalProperties }: Schema, key: string): Schema | undefined {
  return properties?.[key] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
}

/** JSON Schema (draft 2020-12) of the policy file as written, for editors and for `schema/policy.schema.json`. */
export const policyJsonSchema = (): Record<string, unknown> => ({
  title: 'kdebug policy',
  ...z.toJSONSchema(PolicyFile, { io: 'input' }),
});
