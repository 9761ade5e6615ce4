import type { Call } from '../api/call.ts';
import { cause, forbidden, type StatusCause } from '../api/status.ts';
import { warn } from '../api/warning.ts';
import type { Labels, PodObject } from '../objects/pod.ts';
import type { World } from '../world.ts';
import { type PodSecurityLevel, podSecurityTitles, podSecurityViolations } from './pod-security.ts';

const PREFIX = 'pod-security.kubernetes.io/';
const LEVELS: readonly PodSecurityLevel[] = ['privileged', 'baseline', 'restricted'];
const MODES = ['enforce', 'audit', 'warn'];

/**
 * Pod Security admission of the whole pod, older ephemeral containers included. Only `enforce` refuses; `warn` adds a
 * header when the pod is let in; `audit` goes to a log that this cluster has not.
 * @throws ApiError 403
 */
export function admitByPodSecurity(world: World, call: Call, pod: PodObject): void {
  const labels = world.places.namespaces.get(pod.metadata.namespace)?.metadata.labels ?? {};
  const refused = violationsOf(pod, labels, 'enforce');
  if (refused) throw forbidden('pods', pod.metadata.name, `violates PodSecurity ${refused}`);
  const warned = violationsOf(pod, labels, 'warn');
  if (warned) warn(call, `would violate PodSecurity ${warned}`);
}

/** A change that Pod Security looks at: a container that was not there. Labels and annotations are not (isSignificantPodUpdate). */
export function isSignificant(pod: PodObject, before: PodObject): boolean {
  const known = new Set((before.spec.ephemeralContainers ?? []).map(({ name }) => name));
  return (pod.spec.ephemeralContainers ?? []).some(({ name }) => !known.has(name));
}

function violationsOf(pod: PodObject, labels: Labels, mode: string): string | undefined {
  const level = levelOf(labels, mode);
  const told = podSecurityViolations(pod.spec, level);
  return told === '' ? undefined : `"${named(labels, mode)}": ${told}`;
}

const levelOf = (labels: Labels, mode: string) => LEVELS.find((each) => each === labels[PREFIX + mode]) ?? 'privileged';

const named = (labels: Labels, mode: string) =>
  `${levelOf(labels, mode)}:${labels[`${PREFIX}${mode}-version`] ?? 'latest'}`;

/** After a namespace was given a stricter `enforce`: one warning, and one more for all pods with the same violations. */
export function warnOfViolations(world: World, call: Call, labels: { before: Labels; after: Labels }): void {
  const level = levelOf(labels.after, 'enforce');
  if (LEVELS.indexOf(level) <= LEVELS.indexOf(levelOf(labels.before, 'enforce'))) return;
  const guilty = new Map<string, string[]>();
  for (const { metadata, spec } of world.pods.list(call.route.name)) {
    const told = podSecurityTitles(spec, level);
    if (told !== '') guilty.set(told, [...(guilty.get(told) ?? []), metadata.name]);
  }
  if (guilty.size === 0) return;
  const what = `existing pods in namespace "${call.route.name}" violate the new PodSecurity enforce level`;
  warn(call, `${what} "${named(labels.after, 'enforce')}"`);
  const lines = [...guilty].map(([told, [first, ...others]]) => `${first}${andOthers(others.length)}: ${told}`);
  for (const line of lines.sort()) warn(call, line);
}

function andOthers(count: number): string {
  return count === 0 ? '' : ` (and ${count} other pod${count === 1 ? '' : 's'})`;
}

/** What the admission has against the labels of a namespace. */
export function podSecurityLabelCauses(labels: Labels): readonly StatusCause[] {
  return MODES.flatMap((mode) => {
    const level = labels[PREFIX + mode];
    if (level === undefined || LEVELS.some((each) => each === level)) return [];
    const told = `Invalid value: "${level}": must be one of privileged, baseline, restricted`;
    return [cause('FieldValueInvalid', `metadata.labels[${PREFIX}${mode}]`, told)];
  });
}
