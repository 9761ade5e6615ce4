import { isReserved, type Original } from '../../core/container/once-more.ts';
import type { CopyOf, LaunchRequest, LaunchResult } from '../../flow/ports/cluster.ts';
import { defined } from '../../lib/object.ts';
import type { ApiClient } from './api/api-client.ts';
import { toClusterError } from './api/api-errors.ts';
import { asObject, asObjects, asText, type JsonObject, textOrUndefined } from './api/json-fields.ts';
import { podPath } from './api/paths.ts';
import { emptyDirFor } from './empty-dir.ts';

interface NamedPod {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The command, mounts and names of variables of a container. Values of variables never leave this file, but for the PATCH that launches.
 * Undefined: the pod has no such container, or is gone.
 */
export async function readOriginal(
  client: ApiClient,
  pod: NamedPod,
  containerName: string,
): Promise<Original | undefined> {
  const body = await readPod(client, pod);
  const container = containerOf(body, containerName);
  if (!container) return undefined;
  const volumes = volumesOf(body);
  const mounts = asObjects(container.volumeMounts).toSorted(byReach(volumes));
  const mountText = (mount: JsonObject) => wordsOfMount(mount, volumes);
  return {
    command: wordsOf(container.command),
    args: wordsOf(container.args),
    variables: copiedVariables(container).map(({ name }) => asText(name)),
    sources: asObjects(container.envFrom).map(sourceText),
    mounts: [...mounts.filter((mount) => !hasSubPath(mount)).map(mountText), ...devicesOf(container).map(deviceText)],
    unmountable: mounts.filter(hasSubPath).map(mountText),
    ...defined({ emptyDir: emptyDirFor(asObject(body), container) }),
  };
}

/** With all that its original has; a pod that is gone or another is an answer. */
export async function withOriginal(
  client: ApiClient,
  request: LaunchRequest,
  copyOf: CopyOf,
): Promise<LaunchRequest | LaunchResult> {
  const pod = await readPod(client, request.pod);
  if (!pod) return { kind: 'pod-gone' };
  if (asObject(pod.metadata).uid !== request.pod.uid) return { kind: 'pod-replaced' };
  const original = containerOf(pod, copyOf.containerName);
  if (!original)
    return { kind: 'refused', by: 'validation', message: `the pod has no container ${copyOf.containerName}` };
  return { ...request, container: { ...request.container, ...copied(original, request, copyOf) } };
}

/** A strategic-merge PATCH takes no list that is absent for an empty one, so absent fields stay absent. */
function copied(
  original: JsonObject,
  { container }: LaunchRequest,
  { containerName, withoutEnv, startedBy }: CopyOf,
): JsonObject {
  const variables = copiedVariables(original)
    .filter(({ name }) => !withoutEnv.includes(asText(name)))
    .map((variable) => withContainer(variable, containerName));
  const own = asObjects(original.volumeMounts).filter((mount) => !hasSubPath(mount));
  const mounts = startedBy ? [...own, startedBy.mount] : own;
  const devices = devicesOf(original);
  return defined({
    ...wordsFor(original, startedBy),
    workingDir: original.workingDir,
    env: [...variables, ...container.env],
    envFrom: original.envFrom,
    volumeMounts: mounts.length > 0 ? mounts : undefined,
    volumeDevices: devices.length > 0 ? devices : undefined,
    securityContext: original.securityContext,
  });
}

const wordsFor = ({ command, args }: JsonObject, startedBy: CopyOf['startedBy']): JsonObject =>
  startedBy ? { command: [...startedBy.words, ...wordsOf(command), ...wordsOf(args)] } : { command, args };

/** An ephemeral container has no resources of its own, so a variable about them must name the original. */
function withContainer(variable: JsonObject, containerName: string): JsonObject {
  const from = asObject(variable.valueFrom);
  const field = asObject(from.resourceFieldRef);
  if (from.resourceFieldRef === undefined || textOrUndefined(field.containerName) !== undefined) return variable;
  return { ...variable, valueFrom: { ...from, resourceFieldRef: { ...field, containerName } } };
}

async function readPod(client: ApiClient, { namespace, name }: NamedPod): Promise<JsonObject | undefined> {
  const answer = await client.send({ path: podPath(namespace, name) });
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw toClusterError(answer);
  return asObject(answer.body);
}

/** Also of a pod's template. */
export function containerOf(pod: JsonObject | undefined, name: string): JsonObject | undefined {
  const spec = asObject(pod?.spec);
  return [...asObjects(spec.containers), ...asObjects(spec.initContainers)].find((each) => each.name === name);
}

/** Of several with one name the last one counts (Kubernetes API, Container.env: merged by name). */
const copiedVariables = ({ env }: JsonObject): readonly JsonObject[] =>
  asObjects(env).filter(
    ({ name }, index, all) =>
      !isReserved(asText(name)) && all.findLastIndex((variable) => variable.name === name) === index,
  );

const devicesOf = ({ volumeDevices }: JsonObject): readonly JsonObject[] => asObjects(volumeDevices);

const wordsOf = (words: unknown): readonly string[] => (Array.isArray(words) ? words.map(asText) : []);

const isSet = (field: unknown): boolean => textOrUndefined(field) !== undefined;
const hasSubPath = ({ subPath, subPathExpr }: JsonObject): boolean => isSet(subPath) || isSet(subPathExpr);

interface Volume {
  /** `hostPath /var/log`, `PersistentVolumeClaim shop-data`. */
  readonly words: string;
  /** The harm that a second program could do with it: 3 to the node, 2 to data that outlives the pod, 1 by a secret, 0 to the pod alone. */
  readonly reach: 0 | 1 | 2 | 3;
}

/** Those that people must know of, by name. */
type Volumes = ReadonlyMap<string, Volume>;

const volumesOf = (pod: JsonObject | undefined): Volumes =>
  new Map(
    asObjects(asObject(pod?.spec).volumes).flatMap(({ name, ...source }) =>
      sourcesOf(source).map((volume) => [asText(name), volume] as const),
    ),
  );

const sourcesOf = (source: JsonObject): readonly Volume[] =>
  Object.entries(source).flatMap(([kind, detail]) => volumeOf(kind, asObject(detail)) ?? []);

function volumeOf(kind: string, detail: JsonObject): Volume | undefined {
  switch (kind) {
    case 'hostPath':
      return { words: `hostPath ${asText(detail.path)}`, reach: 3 };
    case 'persistentVolumeClaim':
      return { words: `PersistentVolumeClaim ${asText(detail.claimName)}`, reach: 2 };
    case 'secret':
      return { words: `Secret ${asText(detail.secretName ?? detail.name)}`, reach: 1 };
    case 'serviceAccountToken':
      return { words: `token for ${textOrUndefined(detail.audience) ?? 'the API server'}`, reach: 1 };
    case 'configMap':
      return { words: `ConfigMap ${asText(detail.name)}`, reach: 0 };
    case 'projected':
      return together(asObjects(detail.sources).flatMap(sourcesOf));
    case 'emptyDir':
    case 'downwardAPI':
      return undefined;
    default:
      return { words: kind, reach: 2 };
  }
}

function together(sources: readonly Volume[]): Volume | undefined {
  const [first, ...others] = sources.toSorted((a, b) => b.reach - a.reach);
  return first && { ...first, words: [first, ...others].map(({ words }) => words).join(', ') };
}

/** The volume that reaches farthest comes first. */
const byReach = (volumes: Volumes) => (a: JsonObject, b: JsonObject) => reachOf(b, volumes) - reachOf(a, volumes);

const reachOf = ({ name }: JsonObject, volumes: Volumes): number => volumes.get(asText(name))?.reach ?? 0;

function wordsOfMount({ name, mountPath, readOnly }: JsonObject, volumes: Volumes): string {
  const volume = volumes.get(asText(name));
  const kind = volume === undefined ? '' : ` (${volume.words})`;
  return `${asText(name)}${kind} at ${asText(mountPath)}${readOnly === true ? ' (read-only)' : ''}`;
}

const deviceText = ({ name, devicePath }: JsonObject): string => `${asText(name)} as ${asText(devicePath)}`;

function sourceText({ configMapRef, secretRef, prefix }: JsonObject): string {
  const [kind, reference] = configMapRef === undefined ? ['Secret', secretRef] : ['ConfigMap', configMapRef];
  const before = textOrUndefined(prefix);
  return `${kind} ${asText(asObject(reference).name)}${before === undefined ? '' : ` as ${before}…`}`;
}
