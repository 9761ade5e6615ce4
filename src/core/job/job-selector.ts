import type { BatchTarget } from '../batch/select-pods.ts';
import { parseSelector } from '../selector.ts';
import { type LabelRequirement, type LabelSelector, WORKLOAD_LABEL } from './ephemeral-job.ts';

const WORKLOADS = ['deployment', 'statefulset', 'daemonset', 'job'] as const;

/**
 * What a job's selector means here; undefined where it cannot be said as a selector (a label that is none, or too long). The
 * empty selector is every pod of the namespace (meta/v1); `kdebug/deployment: web` alone is the workload.
 */
export function targetOfSelector(selector: LabelSelector): BatchTarget | undefined {
  const workload = workloadOf(selector);
  if (workload) return workload;
  const requirements = [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`),
    ...(selector.matchExpressions ?? []).map(requirementText),
  ];
  if (requirements.length === 0) return { kind: 'all' };
  const text = parseSelector(requirements.join(','));
  return text === undefined ? undefined : { kind: 'selector', selector: text };
}

function workloadOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): BatchTarget | undefined {
  const [entry, ...others] = Object.entries(matchLabels);
  const workload = WORKLOADS.find((kind) => entry?.[0] === `${WORKLOAD_LABEL}${kind}`);
  const isAlone = others.length === 0 && matchExpressions.length === 0;
  return workload && entry && isAlone ? { kind: 'workload', workload, name: entry[1] } : undefined;
}

function requirementText({ key, operator, values = [] }: LabelRequirement): string {
  // A set has no empty member (`parseSelector`).
  if (values.length === 1 && values[0] === '') return `${key}${operator === 'In' ? '=' : '!='}`;
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
  }
}

/** A label's value has at most 63 characters. */
const MAX_VALUE_LENGTH = 63;

/**
 * The selector of a job for a target; undefined for what EphemeralJob cannot say: `>` and `<`, or a workload whose name does
 * not fit into a label.
 */
export function selectorOfTarget(target: BatchTarget): LabelSelector | undefined {
  switch (target.kind) {
    case 'all':
      return {};
    case 'workload':
      return target.name.length > MAX_VALUE_LENGTH
        ? undefined
        : { matchLabels: { [`${WORKLOAD_LABEL}${target.workload}`]: target.name } };
    case 'selector':
      return selectorOfText(target.selector);
  }
}

const SET = /^(\S+) (in|notin) \((.*)\)$/;
const EQUALITY = /^([^=!<>]+)(!=|=)(.*)$/;

/** Of the canonical spelling (`parseSelector`). What `matchLabels` can hold once goes there, the rest into expressions. */
function selectorOfText(text: string): LabelSelector | undefined {
  const labels = new Map<string, string>();
  const expressions: LabelRequirement[] = [];
  for (const requirement of text.split(/,(?![^(]*\))/)) {
    const read = readRequirement(requirement);
    if (!read) return undefined;
    if ('value' in read && !labels.has(read.key)) labels.set(read.key, read.value);
    else expressions.push('value' in read ? { key: read.key, operator: 'In', values: [read.value] } : read);
  }
  return {
    ...(labels.size > 0 && { matchLabels: Object.fromEntries(labels) }),
    ...(expressions.length > 0 && { matchExpressions: expressions }),
  };
}

function readRequirement(
  text: string,
): LabelRequirement | { readonly key: string; readonly value: string } | undefined {
  if (text.startsWith('!')) return { key: text.slice(1), operator: 'DoesNotExist' };
  const [, set, word, members = ''] = SET.exec(text) ?? [];
  if (set !== undefined) return { key: set, operator: word === 'in' ? 'In' : 'NotIn', values: members.split(',') };
  const [, key, sign, value = ''] = EQUALITY.exec(text) ?? [];
  if (key !== undefined) return sign === '=' ? { key, value } : { key, operator: 'NotIn', values: [value] };
  return /[<>]/.test(text) ? undefined : { key: text, operator: 'Exists' };
}
