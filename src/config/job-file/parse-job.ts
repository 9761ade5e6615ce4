import { stringify } from 'yaml';
import { z } from 'zod';
import {
  type EphemeralJob,
  JOB_API_VERSION,
  type ManifestProblem,
  type ReadJob,
} from '../../core/job/ephemeral-job.ts';
import { nearest } from '../../lib/text.ts';
import { type Finding, pathText } from '../../lib/yaml.ts';
import { KINDS, knownKeys, pathOf, type Schema } from '../schema-findings.ts';
import { ruleFindings } from './job-rules.ts';
import { JobShape, REFUSED } from './job-shape.ts';
import { readTree } from './job-tree.ts';

const MAX_PROBLEMS = 20;
/** Findings to locate before sorting; locating each one costs time. */
const MAX_FINDINGS = 200;

/**
 * Reads an EphemeralJob from YAML or JSON, strictly: reports an unknown field, a wrong type, a second document, an
 * anchor or a tag with its line and column. Refuses texts over 65,536 characters unread. Never throws.
 */
export function parseEphemeralJob(text: string): ReadJob {
  const tree = readTree(text);
  if (tree.problems.length > 0) return invalid(tree.problems);
  const parsed = JobShape.safeParse(tree.data, { reportInput: true });
  const findings = parsed.success ? ruleFindings(parsed.data) : parsed.error.issues.flatMap(findingsOf);
  if (!parsed.success || findings.length > 0) {
    return invalid(
      findings.slice(0, MAX_FINDINGS).map((finding) => ({
        ...tree.locate(finding),
        message: `${pathText(finding.path) || 'the document'} ${finding.message}`,
      })),
    );
  }
  const { apiVersion: _version, kind: _kind, ...job } = parsed.data;
  return { kind: 'ok', job: job satisfies EphemeralJob };
}

const invalid = (problems: readonly ManifestProblem[]): ReadJob => ({
  kind: 'invalid',
  problems: problems.toSorted((a, b) => a.line - b.line || a.column - b.column).slice(0, MAX_PROBLEMS),
});

function findingsOf(issue: z.core.$ZodIssue): readonly Finding[] {
  const path = pathOf(issue);
  if (issue.code !== 'unrecognized_keys') return [{ path, at: 'value', message: sentence(issue) }];
  return issue.keys
    .slice(0, MAX_FINDINGS)
    .map((key) => ({ path: [...path, key], at: 'key', message: unknownKey(key, path) }));
}

function sentence(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      // The shape has its own messages for numbers, with their range.
      return KINDS[issue.expected] && issue.expected !== 'number' ? `must be ${KINDS[issue.expected]}` : issue.message;
    case 'invalid_value':
      return `must be ${issue.values.join(' or ')}`;
    case 'too_small':
      return issue.origin === 'array' ? 'must have at least one' : issue.message;
    case 'too_big':
      return issue.origin === 'array' ? `must have at most ${issue.maximum}` : issue.message;
    default:
      return issue.message;
  }
}

function unknownKey(key: string, path: Finding['path']): string {
  const refused = Object.hasOwn(REFUSED, key) ? REFUSED[key] : undefined;
  if (refused !== undefined) return refused;
  const known = knownKeys(SCHEMA, path);
  const near = nearest(key, known);
  return near === undefined
    ? `is not a field here; those are ${known.join(', ')}`
    : `is not a field here; did you mean ${near}?`;
}

const SCHEMA: Schema = z.toJSONSchema(JobShape, { io: 'input', unrepresentable: 'any' }) as Schema;

/** The job as YAML. `parseEphemeralJob` restores it; so does a YAML 1.1 reader such as kubectl's (`yes` is quoted). */
export const exportYaml = (job: EphemeralJob): string =>
  stringify(
    { apiVersion: JOB_API_VERSION, kind: 'EphemeralJob', ...job },
    {
      compat: 'yaml-1.1',
      lineWidth: 0,
      // Writes equal parts of two containers twice: the reader refuses aliases.
      aliasDuplicateObjects: false,
    },
  );
