import { randomUUID } from 'node:crypto';
import { answer, type Call, type Handler, readBody, wantsTable } from '../api/call.ts';
import { ApiError, alreadyExists, badRequest, cause, expired, invalid, notFound } from '../api/status.ts';
import { isDryRun } from '../api/write-options.ts';
import { isObject, parseJson } from '../objects/json.ts';
import { type JsonObject, type PodObject, rfc3339 } from '../objects/pod.ts';
import { podFilter } from '../objects/selectors.ts';
import { POD_COLUMNS, rowOf, tableOf } from '../objects/table.ts';
import type { NodeSide, World } from '../world.ts';
import { deleteOptions } from './delete-options.ts';
import { pageOf } from './page.ts';
import { applyPatch } from './patch.ts';
import { podFrom } from './pod-defaults.ts';
import { admitByPodSecurity } from './pod-security-admission.ts';
import { scheduled, tellUnscheduled } from './scheduling.ts';

/** Handlers of `pods` without the watch and the subresources. */
export function podHandlers(world: World, nodes: NodeSide): readonly (readonly [string, Handler])[] {
  return [
    ['get pods', (call) => answerPod(world, call, 200, existing(world, call))],
    ['list pods', (call) => list(world, call)],
    ['create pods', (call) => create(world, nodes, call)],
    ['patch pods', (call) => patch(world, call)],
    ['delete pods', (call) => remove(world, nodes, call)],
  ];
}

/** @throws ApiError 404 */
export function existing(world: World, { route }: Call): PodObject {
  const pod = world.pods.get(route.namespace, route.name);
  if (!pod) throw notFound('pods', route.name);
  return pod;
}

export function answerPod(world: World, call: Call, status: number, pod: PodObject): void {
  if (!wantsTable(call)) {
    answer(call, status, world.pods.json(pod));
    return;
  }
  const { resourceVersion } = pod.metadata;
  answer(
    call,
    status,
    tableOf(POD_COLUMNS.definitions, [rowOf(POD_COLUMNS, pod, world.clock.now())], { resourceVersion }),
  );
}

function list(world: World, call: Call): void {
  const { query, route } = call;
  if (
    query.get('resourceVersionMatch') === 'Exact' &&
    Number(query.get('resourceVersion')) !== world.pods.versions.current()
  ) {
    throw expired('The resourceVersion for the provided list is too old.');
  }
  const filter = podFilter(query);
  const all = world.pods.list(route.namespace === '' ? undefined : route.namespace).filter(filter);
  const { page, metadata } = pageOf(all, query, world.pods.versions.current());
  if (wantsTable(call)) {
    const rows = page.map((pod) => rowOf(POD_COLUMNS, pod, world.clock.now()));
    answer(call, 200, tableOf(POD_COLUMNS.definitions, rows, metadata));
    return;
  }
  const items = page.map((pod) => world.pods.json(pod)).join(',');
  answer(call, 200, `{"kind":"PodList","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[${items}]}`);
}

async function create(world: World, nodes: NodeSide, call: Call): Promise<void> {
  const { namespace } = call.route;
  if (!world.places.namespaces.has(namespace)) throw notFound('namespaces', namespace);
  const raw = await jsonBody(call);
  const draft = podFrom(raw, {
    namespace,
    uid: randomUUID(),
    now: rfc3339(world.clock.now()),
    ...scheduled(world, raw, nodes.nodeName),
  });
  const { name } = draft.metadata;
  admitByPodSecurity(world, call, draft);
  world.webhooks.admit(call, 'CREATE', draft);
  if (world.pods.get(namespace, name)) throw alreadyExists('pods', name);
  if (isDryRun(call)) return answerPod(world, call, 201, draft);
  const stored = world.pods.put(draft);
  if (world.places.nodes.has(stored.spec.nodeName ?? '')) nodes.podAdded(stored);
  else tellUnscheduled(world, stored);
  answerPod(world, call, 201, stored);
}

const IMMUTABLE =
  'Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n';

/** Labels and annotations may change; anything of the spec is refused as the API server does. */
async function patch(world: World, call: Call): Promise<void> {
  const pod = existing(world, call);
  const { result } = applyPatch(toJson(world, pod), await readBody(call), call.request.headers['content-type'] ?? '');
  if (JSON.stringify(result.spec) !== JSON.stringify(toJson(world, pod).spec)) {
    throw invalid('Pod', pod.metadata.name, [cause('FieldValueForbidden', 'spec', IMMUTABLE)]);
  }
  const next = { ...pod, metadata: mergedMetadata(pod, result) };
  world.webhooks.admit(call, 'UPDATE', next);
  answerPod(world, call, 200, isDryRun(call) ? next : world.pods.put(next));
}

/** Labels and annotations of a patched pod; nothing else of the metadata can be changed by a patch. */
export function mergedMetadata(pod: PodObject, result: JsonObject): PodObject['metadata'] {
  const metadata = isObject(result.metadata) ? result.metadata : {};
  const { labels: _, annotations: __, ...kept } = pod.metadata;
  return { ...kept, ...texts('labels', metadata.labels), ...texts('annotations', metadata.annotations) };
}

/** A map of texts under its key; nothing where there is none, as Go leaves empty maps out. */
function texts(key: 'labels' | 'annotations', value: unknown): Pick<PodObject['metadata'], 'labels' | 'annotations'> {
  if (!isObject(value) || Object.keys(value).length === 0) return {};
  return { [key]: Object.fromEntries(Object.entries(value).map(([name, each]) => [name, String(each)])) };
}

export function toJson(world: World, pod: PodObject): JsonObject {
  const value = parseJson(world.pods.json(pod));
  return isObject(value) ? value : {};
}

async function remove(world: World, nodes: NodeSide, call: Call): Promise<void> {
  const options = await deleteOptions(call);
  const pod = existing(world, call);
  const asked = options.gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30;
  world.webhooks.admit(call, 'DELETE', pod);
  if (options.isDryRun) return answerPod(world, call, 200, pod);
  const deleting = beginDeletion(world, pod, asked);
  nodes.podDeleting(deleting);
  answerPod(world, call, 200, deleting);
}

/** Marks the pod; with no grace it is gone at once, whatever the node says. */
export function beginDeletion(world: World, pod: PodObject, graceSeconds: number): PodObject {
  const deletionTimestamp = rfc3339(world.clock.now() + graceSeconds * 1000);
  const metadata = { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds };
  const marked = world.pods.put({ ...pod, metadata });
  if (graceSeconds === 0) world.pods.remove(marked);
  return marked;
}

async function jsonBody(call: Call): Promise<JsonObject> {
  const type = call.request.headers['content-type'] ?? '';
  const text = await readBody(call);
  if (text === '') return {};
  if (type.includes('protobuf'))
    throw new ApiError(
      415,
      'UnsupportedMediaType',
      'the body of the request was in an unknown format - accepted media types include: application/json',
      {},
    );
  try {
    const value = parseJson(text);
    if (isObject(value)) return value;
  } catch {
    // Told below.
  }
  throw badRequest('the object provided is unrecognized (must be of type Pod): json parse error');
}
