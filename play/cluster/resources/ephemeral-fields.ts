import type { StatusCause } from '../api/status.ts';
import { cause, invalid } from '../api/status.ts';
import { asGoMap, isObject } from '../objects/json.ts';
import type { Container, Json, JsonObject, SecurityContext } from '../objects/pod.ts';
import { isReference } from '../programs/images.ts';

/** The fields of core/v1 EphemeralContainer and what JSON type each has. */
const FIELDS: Readonly<Record<string, 'string' | 'boolean' | 'array' | 'object'>> = {
  name: 'string',
  image: 'string',
  command: 'array',
  args: 'array',
  workingDir: 'string',
  ports: 'array',
  envFrom: 'array',
  env: 'array',
  resources: 'object',
  resizePolicy: 'array',
  restartPolicy: 'string',
  restartPolicyRules: 'array',
  volumeMounts: 'array',
  volumeDevices: 'array',
  livenessProbe: 'object',
  readinessProbe: 'object',
  startupProbe: 'object',
  lifecycle: 'object',
  terminationMessagePath: 'string',
  terminationMessagePolicy: 'string',
  imagePullPolicy: 'string',
  securityContext: 'object',
  stdin: 'boolean',
  stdinOnce: 'boolean',
  tty: 'boolean',
  targetContainerName: 'string',
};

/** Hears of each unknown field, as a sentence; `refuse` ends the decoding. */
type UnknownField = (told: string) => 'drop' | 'refuse';

const GO_TYPES = { string: 'string', boolean: 'bool', array: 'array', object: 'map' } as const;

/**
 * Turns JSON into ephemeral containers with the API's defaults filled in. Unknown fields are dropped, or refused when
 * `onUnknown` says so. @throws ApiError 422 on `patch`, for unknown fields and wrong types
 */
export function decodeEphemeralContainers(
  list: readonly JsonObject[],
  patch: Json,
  onUnknown: UnknownField,
): readonly Container[] {
  return list.map((each, at) => {
    for (const [key, value] of Object.entries(each)) checkField({ key, value, at, patch, onUnknown });
    return withDefaults(each);
  });
}

interface Field {
  readonly key: string;
  readonly value: Json;
  readonly at: number;
  readonly patch: Json;
  readonly onUnknown: UnknownField;
}

function checkField({ key, value, at, patch, onUnknown }: Field): void {
  const type = FIELDS[key];
  if (type === undefined) {
    const told = onUnknown(`unknown field "spec.ephemeralContainers[${at}].${key}"`);
    if (told === 'refuse')
      throw undecodable(patch, `strict decoding error: unknown field "spec.ephemeralContainers[${at}].${key}"`);
    return;
  }
  const actual = Array.isArray(value) ? 'array' : typeof value;
  if (value !== null && actual !== type) {
    throw undecodable(patch, `cannot convert ${actual === 'number' ? 'int64' : actual} to ${GO_TYPES[type]}`);
  }
}

function undecodable(patch: Json, why: string) {
  return invalid('', '', [cause('FieldValueInvalid', 'patch', `Invalid value: "${asGoMap(patch)}": ${why}`)]);
}

/** Known, and taken out without a word (by experiment, Kubernetes 1.34). */
const DROPPED = new Set(['restartPolicy', 'restartPolicyRules']);

function withDefaults(raw: JsonObject): Container {
  const known = Object.fromEntries(
    Object.entries(raw).filter(([key, value]) => key in FIELDS && !DROPPED.has(key) && value !== null),
  );
  const image = typeof known.image === 'string' ? known.image : '';
  return {
    ...known,
    name: typeof known.name === 'string' ? known.name : '',
    image,
    resources: isObject(known.resources) ? known.resources : {},
    terminationMessagePath: text(known.terminationMessagePath) || '/dev/termination-log',
    terminationMessagePolicy: text(known.terminationMessagePolicy) ?? 'File',
    imagePullPolicy: text(known.imagePullPolicy) ?? defaultPullPolicy(image),
  };
}

const text = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

/** `Always` for `:latest` and for no tag at all (core/v1 Container.imagePullPolicy). */
export function defaultPullPolicy(image: string): string {
  if (image.includes('@') || !isReference(image)) return 'IfNotPresent';
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** Set by nobody who may: KEP-277 and ValidateEphemeralContainers. In the order in which the API server tells them. */
const FORBIDDEN = [
  'ports',
  'resources',
  'resizePolicy',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
];

export function forbiddenFields(container: Container, path: string): readonly StatusCause[] {
  const isSet = (value: unknown) =>
    isObject(value) || Array.isArray(value) ? Object.keys(value).length > 0 : value !== undefined;
  const told = 'Forbidden: cannot be set for an Ephemeral Container';
  return FORBIDDEN.filter((field) => isSet(Reflect.get(container, field))).map((field) =>
    cause('FieldValueForbidden', `${path}.${field}`, told),
  );
}

/** What is wrong with a security context by itself. */
export function securityContextCauses(context: SecurityContext | undefined, path: string): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  for (const field of ['runAsUser', 'runAsGroup'] as const) {
    const id = context?.[field];
    if (id !== undefined && (!Number.isInteger(id) || id < 0 || id > 2147483647)) {
      causes.push(
        cause(
          'FieldValueInvalid',
          `${path}.${field}`,
          `Invalid value: ${id}: must be between 0 and 2147483647, inclusive`,
        ),
      );
    }
  }
  const escalates = context?.privileged === true || context?.capabilities?.add?.includes('SYS_ADMIN') === true;
  if (escalates && context?.allowPrivilegeEscalation === false) {
    const why = 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true';
    causes.push(cause('FieldValueInvalid', path, `Invalid value: ${asGoContext(context)}: ${why}`));
  }
  return causes;
}

const CONTEXT = [
  'capabilities',
  'privileged',
  'seLinuxOptions',
  'windowsOptions',
  'runAsUser',
  'runAsGroup',
  'runAsNonRoot',
  'readOnlyRootFilesystem',
  'allowPrivilegeEscalation',
  'procMount',
  'seccompProfile',
  'appArmorProfile',
];

/** As the API server's own type is written, whose names have no JSON tags. */
function asGoContext(context: SecurityContext): string {
  const named = (key: string) => key.replace(/^se(?=Linux)|^./, (start) => start.toUpperCase());
  const values = CONTEXT.map((key) => [named(key), Reflect.get(context, key) ?? null]);
  return JSON.stringify(Object.fromEntries(values));
}
