import { randomUUID } from 'node:crypto';
import { isObject, parseJson } from '../objects/json.ts';
import { rfc3339 } from '../objects/pod.ts';
import { isNamespacedKind, RBAC_KINDS, type RbacObject } from '../objects/rbac.ts';
import type { World } from '../world.ts';
import { rbacFrom } from './rbac-decoding.ts';

/** Stores a role or binding, whatever was there under its name. @throws Error another kind; ApiError as the API says it */
export function applyRbac(world: World, object: object): RbacObject {
  const raw = parseJson(JSON.stringify(object));
  const kind = Object.values(RBAC_KINDS).find((each) => isObject(raw) && raw.kind === each);
  if (!isObject(raw) || !kind) throw new Error('only roles and bindings can be applied');
  const metadata = isObject(raw.metadata) ? raw.metadata : {};
  const named = typeof metadata.namespace === 'string' ? metadata.namespace : 'default';
  const birth = { namespace: isNamespacedKind(kind) ? named : '', now: rfc3339(world.clock.now()), strict: true };
  return world.rbac.put(rbacFrom(raw, kind, { ...birth, uid: randomUUID() }));
}
