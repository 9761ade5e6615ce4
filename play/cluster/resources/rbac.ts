import { randomUUID } from 'node:crypto';
import { answer, type Call, type Handler, readBytes, wantsTable } from '../api/call.ts';
import { alreadyExists, cause, conflict, invalid, notFound } from '../api/status.ts';
import { isDryRun } from '../api/write-options.ts';
import { isObject, isSameJson, parseJson } from '../objects/json.ts';
import { type JsonObject, rfc3339 } from '../objects/pod.ts';
import {
  isBinding,
  isNamespacedKind,
  RBAC_GROUP,
  RBAC_KINDS,
  RBAC_VERSION,
  type RbacKind,
  type RbacObject,
} from '../objects/rbac.ts';
import { BINDING_COLUMNS, ROLE_COLUMNS } from '../objects/rbac-table.ts';
import { metadataFilter } from '../objects/selectors.ts';
import { rowOf, tableOf } from '../objects/table.ts';
import type { World } from '../world.ts';
import { deleteOptions } from './delete-options.ts';
import { applyPatch } from './patch.ts';
import { rbacBody } from './rbac-body.ts';
import { rbacFrom } from './rbac-decoding.ts';

/**
 * Roles and bindings: create, get, list, update, patch, delete. What somebody grants is not compared with what they hold
 * (the real server's escalation check): only the admin makes grants here.
 */
export function rbacHandlers(world: World): readonly (readonly [string, Handler])[] {
  return Object.entries(RBAC_KINDS).flatMap(([resource, kind]): readonly (readonly [string, Handler])[] => [
    [`get ${resource}`, (call) => show(world, call, 200, existing(world, call, kind))],
    [`list ${resource}`, (call) => list(world, call, kind)],
    [`create ${resource}`, (call) => create(world, call, kind)],
    [`update ${resource}`, (call) => update(world, call, kind)],
    [`patch ${resource}`, (call) => patch(world, call, kind)],
    [`delete ${resource}`, (call) => remove(world, call, kind)],
  ]);
}

function existing(world: World, { route }: Call, kind: RbacKind): RbacObject {
  const found = world.rbac.get(kind, route.namespace, route.name);
  if (!found) throw notFound(route.resource, route.name, RBAC_GROUP);
  return found;
}

function show(world: World, call: Call, status: number, object: RbacObject): void {
  if (!wantsTable(call)) answer(call, status, object);
  else answer(call, status, tableFor(world, [object], { resourceVersion: object.metadata.resourceVersion }));
}

function tableFor(world: World, objects: readonly RbacObject[], metadata: object): object {
  const now = world.clock.now();
  const bindings = objects.filter(isBinding);
  if (bindings.length > 0) {
    return tableOf(
      BINDING_COLUMNS.definitions,
      bindings.map((each) => rowOf(BINDING_COLUMNS, each, now)),
      metadata,
    );
  }
  return tableOf(
    ROLE_COLUMNS.definitions,
    objects.map((each) => rowOf(ROLE_COLUMNS, each, now)),
    metadata,
  );
}

function list(world: World, call: Call, kind: RbacKind): void {
  const items = world.rbac.list(kind, call.route.namespace).filter(metadataFilter(call.query));
  const metadata = { resourceVersion: String(world.pods.versions.current()) };
  if (wantsTable(call)) {
    answer(call, 200, tableFor(world, items, metadata));
    return;
  }
  // The items of a typed list have no kind of their own.
  const bare = items.map(({ kind: _, apiVersion: __, ...rest }) => rest);
  answer(call, 200, { kind: `${kind}List`, apiVersion: RBAC_VERSION, metadata, items: bare });
}

async function create(world: World, call: Call, kind: RbacKind): Promise<void> {
  const raw = rbacBody(await readBytes(call), kind);
  const { namespace, resource } = call.route;
  if (isNamespacedKind(kind) && !world.places.namespaces.has(namespace)) throw notFound('namespaces', namespace);
  const made = rbacFrom(raw, kind, birthOf(world, call, undefined));
  const { name } = made.metadata;
  if (world.rbac.get(kind, namespace, name)) throw alreadyExists(resource, name, RBAC_GROUP);
  show(world, call, 201, isDryRun(call) ? made : world.rbac.put(made));
}

const birthOf = (world: World, call: Call, before: RbacObject | undefined) => ({
  namespace: call.route.namespace,
  uid: before?.metadata.uid ?? randomUUID(),
  now: before?.metadata.creationTimestamp ?? rfc3339(world.clock.now()),
  strict: call.query.get('fieldValidation') === 'Strict',
});

async function update(world: World, call: Call, kind: RbacKind): Promise<void> {
  const raw = rbacBody(await readBytes(call), kind);
  replace(world, call, existing(world, call, kind), raw);
}

async function patch(world: World, call: Call, kind: RbacKind): Promise<void> {
  const body = (await readBytes(call)).toString('utf8');
  const before = existing(world, call, kind);
  const target = parseJson(JSON.stringify(before));
  const { result } = applyPatch(isObject(target) ? target : {}, body, call.request.headers['content-type'] ?? '');
  replace(world, call, before, result);
}

/** @throws ApiError 409 an outdated resourceVersion; 422 another role: that needs a new binding */
function replace(world: World, call: Call, before: RbacObject, raw: JsonObject): void {
  const { name, resourceVersion } = before.metadata;
  const asked = isObject(raw.metadata) ? raw.metadata.resourceVersion : undefined;
  if (asked !== undefined && asked !== resourceVersion) throw conflict(call.route.resource, name, RBAC_GROUP);
  const after = rbacFrom(raw, before.kind, birthOf(world, call, before));
  if (isBinding(before) && isBinding(after) && !isSameJson(before.roleRef, after.roleRef)) {
    const { apiGroup: APIGroup, kind: Kind, name: Name } = after.roleRef;
    const told = `Invalid value: ${JSON.stringify({ APIGroup, Kind, Name })}: cannot change roleRef`;
    throw invalid(before.kind, name, [cause('FieldValueInvalid', 'roleRef', told)], RBAC_GROUP);
  }
  const kept = { ...after, metadata: { ...after.metadata, ...(resourceVersion ? { resourceVersion } : {}) } };
  const isStored = !isDryRun(call) && !isSameJson(kept, before);
  show(world, call, 200, isStored ? world.rbac.put(after) : kept);
}

async function remove(world: World, call: Call, kind: RbacKind): Promise<void> {
  const options = await deleteOptions(call);
  const found = existing(world, call, kind);
  if (!options.isDryRun) world.rbac.remove(found);
  const { name, uid } = found.metadata;
  const details = { name, group: RBAC_GROUP, kind: call.route.resource, uid };
  answer(call, 200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
}
