import type { AlertSource } from '../policy/policy.ts';
import type { Labels } from './notification.ts';
import { aimedLabel } from './target.ts';

/**
 * True if the policy asks for an alert with these labels: each label that it names has one of its values. A label that says where means what
 * would be looked at (`aimedLabel`), or whoever writes the other labels would choose it.
 */
export const matchesLabels = (labels: Labels, source: Pick<AlertSource, 'match' | 'clusters'>): boolean =>
  Object.entries(source.match).every(([label, values]) => {
    const aimed = aimedLabel(label, labels, source);
    return values.some((value) => matchesValue(value, aimed));
  });

/** A beginning and `*`, or the whole value; nothing is case-insensitive. */
function matchesValue(pattern: string, value: string | undefined): boolean {
  if (value === undefined) return false;
  return pattern.endsWith('*') ? value.startsWith(pattern.slice(0, -1)) : value === pattern;
}
