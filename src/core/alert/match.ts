import type { AlertSource } from '../policy/policy.ts';
import type { Labels } from './notification.ts';

/** True if the policy asks for an alert with these labels: each label that it names has one of its values. */
export const matchesLabels = (labels: Labels, { match }: Pick<AlertSource, 'match'>): boolean =>
  Object.entries(match).every(([label, values]) => values.some((value) => matchesValue(value, labels[label])));

/** A beginning and `*`, or the whole value; nothing is case-insensitive. */
function matchesValue(pattern: string, value: string | undefined): boolean {
  if (value === undefined) return false;
  return pattern.endsWith('*') ? value.startsWith(pattern.slice(0, -1)) : value === pattern;
}
