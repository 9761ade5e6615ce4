import { defined } from '../../lib/object.ts';
import type { BatchTarget } from '../batch/select-pods.ts';
import { WORKLOAD_KINDS } from '../request/command.ts';
import { parseSelector, printSelector, type Requirement } from '../request/selector.ts';
import { type LabelRequirement, type LabelSelector, WORKLOAD_LABEL } from './ephemeral-job.ts';

/**
 * The target of a job's selector; undefined if a label is invalid or the selector too long. The empty selector means
 * every pod of the namespace (meta/v1); `kdebug/deployment: web` alone means the workload.
 */
export function targetOfSelector(selector: LabelSelector): BatchTarget | undefined {
  const workload = workloadOf(selector);
  if (workload) return workload;
  const requirements = [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({ key, operator: '=', value }) as const),
    ...(selector.matchExpressions ?? []).map(requirementOf),
  ];
  if (requirements.length === 0) return { kind: 'all' };
  const valid = parseSelector(printSelector(requirements));
  return valid && { kind: 'selector', selector: printSelector(valid) };
}

function workloadOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): BatchTarget | undefined {
  const [entry, ...others] = Object.entries(matchLabels);
  const workload = WORKLOAD_KINDS.find((kind) => entry?.[0] === `${WORKLOAD_LABEL}${kind}`);
  const isAlone = others.length === 0 && matchExpressions.length === 0;
  return workload && entry && isAlone ? { kind: 'workload', workload, name: entry[1] } : undefined;
}

function requirementOf({ key, operator, values = [] }: LabelRequirement): Requirement {
  if (operator === 'Exists') return { key, operator: 'exists' };
  if (operator === 'DoesNotExist') return { key, operator: 'not-exists' };
  // `parseSelector` allows no empty member in a set.
  if (values.length === 1 && values[0] === '') return { key, operator: operator === 'In' ? '=' : '!=', value: '' };
  return { key, operator: operator === 'In' ? 'in' : 'notin', values };
}

const MAX_VALUE_LENGTH = 63;

/**
 * A job's selector for a target; undefined if EphemeralJob cannot express it: `>`, `<`, a comparison, or a workload whose name is too
 * long for a label.
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
    case 'compare':
      return undefined;
  }
}

/** Puts the first equality of each key into `matchLabels`, the rest into expressions. */
function selectorOfText(text: string): LabelSelector | undefined {
  const selector = parseSelector(text);
  if (!selector) return undefined;
  const labels = new Map<string, string>();
  const expressions: LabelRequirement[] = [];
  for (const requirement of selector) {
    const expression = expressionOf(requirement);
    if (!expression) return undefined;
    if (requirement.operator === '=' && !labels.has(requirement.key)) labels.set(requirement.key, requirement.value);
    else expressions.push(expression);
  }
  return defined({
    matchLabels: labels.size > 0 ? Object.fromEntries(labels) : undefined,
    matchExpressions: expressions.length > 0 ? expressions : undefined,
  });
}

function expressionOf(requirement: Requirement): LabelRequirement | undefined {
  const { key } = requirement;
  switch (requirement.operator) {
    case 'exists':
      return { key, operator: 'Exists' };
    case 'not-exists':
      return { key, operator: 'DoesNotExist' };
    case '=':
      return { key, operator: 'In', values: [requirement.value] };
    case '!=':
      return { key, operator: 'NotIn', values: [requirement.value] };
    case 'in':
      return { key, operator: 'In', values: requirement.values };
    case 'notin':
      return { key, operator: 'NotIn', values: requirement.values };
    default:
      return undefined;
  }
}
