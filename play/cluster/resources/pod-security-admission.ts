import type { Call } from '../api/call.ts';
import { cause, forbidden, type StatusCause } from '../api/status.ts';
import { warn } from '../api/warning.ts';
import type { Labels, PodObject } from '../objects/pod.ts';
import type { World } from '../world.ts';
import { type PodSecurityLevel, podSecurityViolations } from './pod-security.ts';

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
  const level = LEVELS.find((each) => each === labels[PREFIX + mode]) ?? 'privileged';
  const told = podSecurityViolations(pod.spec, level);
  return told === '' ? undefined : `"${level}:${labels[`${PREFIX}${mode}-version`] ?? 'latest'}": ${told}`;
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
