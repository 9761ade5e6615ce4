import { cause, type StatusCause } from '../api/status.ts';
import { isSameJson } from '../objects/json.ts';
import { type Container, MIRROR_ANNOTATION, type PodObject } from '../objects/pod.ts';
import { forbiddenFields, securityContextCauses } from './ephemeral-fields.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const LIST = 'spec.ephemeralContainers';

/** Everything that the API server has against the list, as the pod would have it (ValidatePodEphemeralContainersUpdate). */
export function ephemeralCauses(pod: PodObject, wanted: readonly Container[]): readonly StatusCause[] {
  const taken = new Set([...pod.spec.containers, ...(pod.spec.initContainers ?? [])].map((each) => each.name));
  const targets = new Set(taken);
  const own = wanted.flatMap((container, at) => {
    const causes = containerCauses(container, `${LIST}[${at}]`, targets);
    const isDuplicate = taken.has(container.name);
    taken.add(container.name);
    const duplicate = cause('FieldValueDuplicate', `${LIST}[${at}].name`, `Duplicate value: "${container.name}"`);
    return isDuplicate ? [duplicate, ...causes] : causes;
  });
  if (pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) {
    return [cause('FieldValueForbidden', '[]', 'Forbidden: static pods do not support ephemeral containers')];
  }
  return [...own, ...immutabilityCauses(pod.spec.ephemeralContainers ?? [], wanted)];
}

function containerCauses(container: Container, path: string, targets: ReadonlySet<string>): readonly StatusCause[] {
  return [
    ...nameCauses(container.name, path),
    ...(container.image.trim() === '' ? [cause('FieldValueRequired', `${path}.image`, 'Required value')] : []),
    ...supported(container.terminationMessagePolicy, MESSAGE_POLICIES, `${path}.terminationMessagePolicy`),
    ...envCauses(container, path),
    ...supported(container.imagePullPolicy, PULL_POLICIES, `${path}.imagePullPolicy`),
    ...securityContextCauses(container.securityContext, `${path}.securityContext`),
    ...targetCauses(container, path, targets),
    ...forbiddenFields(container, path),
    ...subPathCauses(container, path),
  ];
}

function nameCauses(name: string, path: string): readonly StatusCause[] {
  if (name === '') return [cause('FieldValueRequired', `${path}.name`, 'Required value')];
  const broken = [
    ...(name.length > 63 ? ['must be no more than 63 characters'] : []),
    ...(LABEL.test(name) ? [] : [LABEL_RULE]),
  ];
  return broken.map((rule) => cause('FieldValueInvalid', `${path}.name`, `Invalid value: "${name}": ${rule}`));
}

function supported(value: string | undefined, values: readonly string[], field: string): readonly StatusCause[] {
  if (value === undefined || values.includes(value)) return [];
  const list = values.map((each) => `"${each}"`).join(', ');
  return [cause('FieldValueNotSupported', field, `Unsupported value: "${value}": supported values: ${list}`)];
}

function envCauses(container: Container, path: string): readonly StatusCause[] {
  return (container.env ?? []).flatMap(({ name }, at) => {
    const field = `${path}.env[${at}].name`;
    if (name === '') return [cause('FieldValueRequired', field, 'Required value')];
    if (/^[ -<>-~]+$/.test(name)) return [];
    const rule = "a valid environment variable name must consist only of printable ASCII characters other than '='";
    return [cause('FieldValueInvalid', field, `Invalid value: "${name}": ${rule}`)];
  });
}

function targetCauses(container: Container, path: string, targets: ReadonlySet<string>): readonly StatusCause[] {
  const target = container.targetContainerName;
  if (target === undefined || target === '' || targets.has(target)) return [];
  return [cause('FieldValueNotFound', `${path}.targetContainerName`, `Not found: "${target}"`)];
}

function subPathCauses(container: Container, path: string): readonly StatusCause[] {
  const mounts: unknown = Reflect.get(container, 'volumeMounts');
  if (!Array.isArray(mounts)) return [];
  // The local pods have no volumes at all, so every mount is of one that is not there.
  return mounts.flatMap((mount: { name?: string; subPath?: string; subPathExpr?: string }, at) => {
    const missing = cause('FieldValueNotFound', `${path}.volumeMounts[${at}].name`, `Not found: "${mount.name ?? ''}"`);
    const field = mount.subPath ? 'subPath' : mount.subPathExpr ? 'subPathExpr' : undefined;
    if (field === undefined) return [missing];
    const told = 'Forbidden: cannot be set for an Ephemeral Container';
    return [missing, cause('FieldValueForbidden', `${path}.volumeMounts[${at}].${field}`, told)];
  });
}

/** Entries stay as they are for the pod's life (KEP-277). Removed ones first, each with a cause of its own. */
function immutabilityCauses(before: readonly Container[], after: readonly Container[]): readonly StatusCause[] {
  const kept = new Map(after.map((each) => [each.name, each]));
  return before.flatMap((old) => {
    const now = kept.get(old.name);
    const told = `Forbidden: existing ephemeral containers "${old.name}" may not be`;
    if (!now) return [cause('FieldValueForbidden', LIST, `${told} removed\n`)];
    return isSameJson(old, now)
      ? []
      : [cause('FieldValueForbidden', LIST, `${told} changed\n${differences(old, now)}`)];
  });
}

function differences(old: Container, now: Container): string {
  const keys = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  const line = (sign: string, key: string, value: unknown) =>
    value === undefined ? '' : `${sign}  "${key.charAt(0).toUpperCase()}${key.slice(1)}": ${JSON.stringify(value)},\n`;
  const changed = keys.filter((key) => !isSameJson(Reflect.get(old, key), Reflect.get(now, key)));
  return `@@ -1 +1 @@\n${changed.map((key) => line('-', key, Reflect.get(old, key)) + line('+', key, Reflect.get(now, key))).join('')}`;
}
