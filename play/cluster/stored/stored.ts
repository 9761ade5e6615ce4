import { answer, type Call, type Handler, readBody, wantsTable } from '../api/call.ts';
import { alreadyExists, badRequest, noSuchResource, notFound } from '../api/status.ts';
import { isDryRun } from '../api/write-options.ts';
import { isObject, parseJson } from '../objects/json.ts';
import type { JsonObject } from '../objects/pod.ts';
import { metadataFilter } from '../objects/selectors.ts';
import { rowOf, tableOf } from '../objects/table.ts';
import { deleteOptions } from '../resources/delete-options.ts';
import { pageOf } from '../resources/page.ts';
import type { World } from '../world.ts';
import { STORED_KINDS, type StoredKind, type StoredObject } from './kinds.ts';

/** Claims, classes, services, slices and workloads: get, list, create, delete. There are no controllers. */
export function storedHandlers(world: World): readonly (readonly [string, Handler])[] {
  return Object.entries(STORED_KINDS).flatMap(([resource, kind]): readonly (readonly [string, Handler])[] => {
    const own =
      (handler: (call: Call) => void | Promise<void>): Handler =>
      (call) => {
        if (call.route.group !== kind.group) throw noSuchResource();
        return handler(call);
      };
    return [
      [`get ${resource}`, own((call) => show(world, call, kind, existing(world, call, kind)))],
      [`list ${resource}`, own((call) => list(world, call, kind))],
      [`create ${resource}`, own((call) => create(world, call, kind))],
      [`delete ${resource}`, own((call) => remove(world, call, kind))],
    ];
  });
}

function existing(world: World, { route }: Call, { group }: StoredKind): StoredObject {
  const found = world.objects.get(route.resource, route.namespace, route.name);
  if (!found) throw notFound(route.resource, route.name, group);
  return found;
}

function show(world: World, call: Call, { columns }: StoredKind, object: StoredObject, status = 200): void {
  if (!wantsTable(call)) {
    answer(call, status, object);
    return;
  }
  const { resourceVersion } = object.metadata;
  answer(call, status, tableOf(columns.definitions, [rowOf(columns, object, world.clock.now())], { resourceVersion }));
}

function list(world: World, call: Call, { kind, group, columns }: StoredKind): void {
  const all = world.objects.list(call.route.resource, call.route.namespace).filter(metadataFilter(call.query));
  const { page, metadata } = pageOf(all, call.query, world.pods.versions.current());
  if (wantsTable(call)) {
    const rows = page.map((object) => rowOf(columns, object, world.clock.now()));
    answer(call, 200, tableOf(columns.definitions, rows, metadata));
    return;
  }
  // The items of a typed list have no kind of their own.
  const items = page.map(({ kind: _, apiVersion: __, ...rest }) => rest);
  answer(call, 200, { kind: `${kind}List`, apiVersion: group === '' ? 'v1' : `${group}/v1`, metadata, items });
}

async function create(world: World, call: Call, kind: StoredKind): Promise<void> {
  const raw = await bodyOf(call, kind);
  const { namespace, resource } = call.route;
  if (kind.namespaced && !world.places.namespaces.has(namespace)) throw notFound('namespaces', namespace);
  const { name } = world.objects.draft(resource, raw, namespace).metadata;
  if (world.objects.get(resource, namespace, name)) throw alreadyExists(resource, name, kind.group);
  const made = isDryRun(call)
    ? world.objects.draft(resource, raw, namespace)
    : world.objects.put(resource, raw, namespace);
  show(world, call, kind, made, 201);
}

async function bodyOf(call: Call, { kind }: StoredKind): Promise<JsonObject> {
  let raw: unknown;
  try {
    raw = parseJson(await readBody(call));
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
  }
  if (!isObject(raw))
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): json parse error`);
  if (!isObject(raw.metadata) || typeof raw.metadata.name !== 'string')
    throw badRequest('name or generateName is required');
  return raw;
}

async function remove(world: World, call: Call, kind: StoredKind): Promise<void> {
  const options = await deleteOptions(call);
  const found = existing(world, call, kind);
  const { resource } = call.route;
  if (!options.isDryRun) world.objects.remove(resource, found);
  const { name, uid } = found.metadata;
  const details = { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: resource, uid };
  answer(call, 200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
}
