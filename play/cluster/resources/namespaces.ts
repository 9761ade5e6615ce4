import { answer, type Call, type Handler, readBody, readBytes, wantsTable } from '../api/call.ts';
import { openEnvelope } from '../api/protobuf.ts';
import { alreadyExists, badRequest, invalid, notFound } from '../api/status.ts';
import { isDryRun } from '../api/write-options.ts';
import type { EventObject } from '../objects/events.ts';
import { isObject, parseJson } from '../objects/json.ts';
import type { Labels } from '../objects/pod.ts';
import { fieldPairs } from '../objects/selectors.ts';
import { type Columns, EVENT_COLUMNS, NAMESPACE_COLUMNS, NODE_COLUMNS, rowOf, tableOf } from '../objects/table.ts';
import type { World } from '../world.ts';
import { deleteOptions } from './delete-options.ts';
import { pageOf } from './page.ts';
import { applyPatch } from './patch.ts';
import { podSecurityLabelCauses, warnOfViolations } from './pod-security-admission.ts';
import { metadataFrom } from './rbac-body.ts';

/** Handlers of namespaces, nodes and events. */
export function placeHandlers(world: World): readonly (readonly [string, Handler])[] {
  const { namespaces, nodes } = world.places;
  return [
    ['get namespaces', (call) => one(world, call, namespaces.get(call.route.name), NAMESPACE_COLUMNS)],
    [
      'list namespaces',
      (call) =>
        many({ world, call, items: [...namespaces.values()], kind: 'NamespaceList', columns: NAMESPACE_COLUMNS }),
    ],
    ['create namespaces', (call) => createNamespace(world, call)],
    ['patch namespaces', (call) => patchNamespace(world, call)],
    ['delete namespaces', (call) => deleteNamespace(world, call)],
    ['get nodes', (call) => one(world, call, nodes.get(call.route.name), NODE_COLUMNS)],
    [
      'list nodes',
      (call) => many({ world, call, items: [...nodes.values()], kind: 'NodeList', columns: NODE_COLUMNS }),
    ],
    ['list events', (call) => listEvents(world, call)],
  ];
}

function one<T extends { readonly metadata: object }>(
  world: World,
  call: Call,
  object: T | undefined,
  columns: Columns<T>,
): void {
  if (!object) throw notFound(call.route.resource, call.route.name);
  if (!wantsTable(call)) {
    answer(call, 200, object);
    return;
  }
  answer(call, 200, tableOf(columns.definitions, [rowOf(columns, object, world.clock.now())], {}));
}

interface Listing<T> {
  readonly world: World;
  readonly call: Call;
  readonly items: readonly T[];
  readonly kind: string;
  readonly columns: Columns<T>;
  /** Of the list; absent: one page with everything. */
  readonly metadata?: object;
}

function many<T extends { readonly metadata: object }>(listing: Listing<T>): void {
  const { world, call, items, kind, columns } = listing;
  const metadata = listing.metadata ?? { resourceVersion: String(world.pods.versions.current()) };
  if (!wantsTable(call)) {
    answer(call, 200, { kind, apiVersion: 'v1', metadata, items });
    return;
  }
  answer(
    call,
    200,
    tableOf(
      columns.definitions,
      items.map((item) => rowOf(columns, item, world.clock.now())),
      metadata,
    ),
  );
}

async function createNamespace(world: World, call: Call): Promise<void> {
  const body = await readBytes(call);
  const message = openEnvelope(body);
  const raw = message ? { metadata: metadataFrom(message) } : parseJson(body.toString('utf8'));
  const metadata = isObject(raw) && isObject(raw.metadata) ? raw.metadata : {};
  if (typeof metadata.name !== 'string') throw badRequest('name or generateName is required');
  if (world.places.namespaces.has(metadata.name)) throw alreadyExists('namespaces', metadata.name);
  answer(call, 201, labelled(world, call, metadata.name, textsOf(metadata.labels)));
}

async function patchNamespace(world: World, call: Call): Promise<void> {
  const known = world.places.namespaces.get(call.route.name);
  if (!known) throw notFound('namespaces', call.route.name);
  const before = parseJson(JSON.stringify(known));
  const body = await readBody(call);
  const { result } = applyPatch(isObject(before) ? before : {}, body, call.request.headers['content-type'] ?? '');
  const labels = isObject(result.metadata) ? textsOf(result.metadata.labels) : {};
  const after = labelled(world, call, call.route.name, labels);
  warnOfViolations(world, call, { before: known.metadata.labels, after: labels });
  answer(call, 200, after);
}

/** Stores the labels, unless they are wrong or this is a dry run. */
function labelled(world: World, call: Call, name: string, labels: Labels): object {
  const causes = podSecurityLabelCauses(labels);
  if (causes.length > 0) throw invalid('Namespace', name, causes);
  return isDryRun(call) ? world.places.draftNamespace(name, labels) : world.places.addNamespace(name, labels);
}

async function deleteNamespace(world: World, call: Call): Promise<void> {
  const options = await deleteOptions(call);
  const known = world.places.namespaces.get(call.route.name);
  if (!known) throw notFound('namespaces', call.route.name);
  if (!options.isDryRun) {
    for (const pod of world.pods.list(call.route.name)) world.pods.remove(pod);
    world.rbac.removeNamespace(call.route.name);
    world.objects.removeNamespace(call.route.name);
    world.places.namespaces.delete(call.route.name);
  }
  answer(call, 200, known);
}

function textsOf(value: unknown): Record<string, string> {
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, String(each)])) : {};
}

/** The fields of an event that the API server can select by (core/v1 event strategy, ToSelectableFields). */
const EVENT_FIELDS: Readonly<Record<string, (event: EventObject) => string | undefined>> = {
  'metadata.name': ({ metadata }) => metadata.name,
  'metadata.namespace': ({ metadata }) => metadata.namespace,
  'involvedObject.kind': ({ involvedObject }) => involvedObject.kind,
  'involvedObject.namespace': ({ involvedObject }) => involvedObject.namespace,
  'involvedObject.name': ({ involvedObject }) => involvedObject.name,
  'involvedObject.uid': ({ involvedObject }) => involvedObject.uid,
  'involvedObject.apiVersion': ({ involvedObject }) => involvedObject.apiVersion,
  'involvedObject.resourceVersion': ({ involvedObject }) => involvedObject.resourceVersion,
  'involvedObject.fieldPath': ({ involvedObject }) => involvedObject.fieldPath,
  reason: ({ reason }) => reason,
  reportingComponent: ({ reportingComponent }) => reportingComponent,
  source: ({ source, reportingComponent }) => source.component ?? reportingComponent,
  type: ({ type }) => type,
};

/** In the order of their names, as etcd keeps them: not of time. */
function listEvents(world: World, call: Call): void {
  const tests = fieldPairs(call.query.get('fieldSelector') ?? '').map(({ field, value, equal }) => {
    const read = EVENT_FIELDS[field];
    if (!read) throw badRequest(`field label not supported: ${field}`);
    return (event: EventObject) => ((read(event) ?? '') === value) === equal;
  });
  const all = world.events
    .list(call.route.namespace)
    .filter((event) => tests.every((test) => test(event)))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const { page, metadata } = pageOf(all, call.query, world.pods.versions.current());
  many({ world, call, items: page, kind: 'EventList', columns: EVENT_COLUMNS, metadata });
}

const keyOf = ({ metadata }: EventObject): string => `${metadata.namespace}/${metadata.name}`;
