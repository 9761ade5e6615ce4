import { badRequest, invalid } from '../api/status.ts';
import { isObject } from '../objects/json.ts';
import type { Json, JsonObject, Labels } from '../objects/pod.ts';
import {
  type BindingObject,
  type PolicyRule,
  RBAC_GROUP,
  RBAC_VERSION,
  type RbacKind,
  type RbacObject,
  type RoleObject,
  type Subject,
} from '../objects/rbac.ts';
import { rbacCauses } from './rbac-validation.ts';

interface Birth {
  readonly namespace: string;
  readonly uid: string;
  readonly now: string;
  readonly strict: boolean;
}

const META = ['kind', 'apiVersion', 'metadata'];
const RULE = ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'];
const SUBJECT = ['kind', 'apiGroup', 'name', 'namespace'];

/**
 * An object as the API server would keep it, defaults filled in. @throws ApiError 400 for another namespace, wrong
 * types and (strict) unknown fields; 422 for what validation has against it
 */
export function rbacFrom(raw: JsonObject, kind: RbacKind, birth: Birth): RbacObject {
  const metadata = metadataOf(raw, kind, birth);
  const object =
    kind === 'Role' || kind === 'ClusterRole' ? roleOf(raw, kind, metadata) : bindingOf(raw, kind, metadata);
  if (birth.strict) checkFields(raw, kind);
  const causes = rbacCauses(object);
  if (causes.length > 0) throw invalid(kind, object.metadata.name, causes, RBAC_GROUP);
  return object;
}

function metadataOf(raw: JsonObject, kind: RbacKind, { namespace, uid, now }: Birth): RbacObject['metadata'] {
  const given = isObject(raw.metadata) ? raw.metadata : {};
  if (given.namespace !== undefined && given.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const prefix = text(given.generateName);
  return {
    name: text(given.name) || (prefix === '' ? '' : `${prefix}${uid.slice(0, 5)}`),
    ...(kind.startsWith('Cluster') ? {} : { namespace }),
    uid,
    creationTimestamp: now,
    ...textMap('labels', given.labels),
    ...textMap('annotations', given.annotations),
  };
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function textMap(key: string, value: Json | undefined): Readonly<Record<string, Labels>> {
  if (!isObject(value) || Object.keys(value).length === 0) return {};
  return { [key]: Object.fromEntries(Object.entries(value).map(([name, each]) => [name, String(each)])) };
}

function roleOf(raw: JsonObject, kind: RoleObject['kind'], metadata: RoleObject['metadata']): RoleObject {
  const rules = Array.isArray(raw.rules) ? objects(raw.rules, kind).map((rule) => ruleOf(rule, kind)) : null;
  return { kind, apiVersion: RBAC_VERSION, metadata, rules: rules?.length ? rules : null };
}

function ruleOf(rule: JsonObject, kind: RbacKind): PolicyRule {
  const filled = RULE.map((key) => [key, texts(rule[key], kind)] as const).filter(([, list]) => list.length > 0);
  return { verbs: [], ...Object.fromEntries(filled) };
}

function bindingOf(raw: JsonObject, kind: BindingObject['kind'], metadata: BindingObject['metadata']): BindingObject {
  const ref = isObject(raw.roleRef) ? raw.roleRef : {};
  const subjects = Array.isArray(raw.subjects) ? objects(raw.subjects, kind).map(subjectOf) : [];
  const apiGroup = text(ref.apiGroup) || RBAC_GROUP;
  return {
    kind,
    apiVersion: RBAC_VERSION,
    metadata,
    ...(subjects.length === 0 ? {} : { subjects }),
    roleRef: { apiGroup, kind: text(ref.kind), name: text(ref.name) },
  };
}

/** Users and groups are of the RBAC group unless they say otherwise; service accounts of the core group. */
function subjectOf(raw: JsonObject): Subject {
  const kind = text(raw.kind);
  const apiGroup = text(raw.apiGroup) || (kind === 'User' || kind === 'Group' ? RBAC_GROUP : '');
  const namespace = text(raw.namespace);
  return {
    kind,
    ...(apiGroup === '' ? {} : { apiGroup }),
    name: text(raw.name),
    ...(namespace === '' ? {} : { namespace }),
  };
}

function objects(list: readonly Json[], kind: RbacKind): readonly JsonObject[] {
  if (!list.every(isObject)) throw undecodable(kind, 'json: cannot unmarshal into Go struct');
  return list.filter(isObject);
}

function texts(value: Json | undefined, kind: RbacKind): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) {
    throw undecodable(kind, 'json: cannot unmarshal into Go value of type []string');
  }
  return value.map(String);
}

const undecodable = (kind: RbacKind, why: string) =>
  badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${why}`);

function checkFields(raw: JsonObject, kind: RbacKind): void {
  const isBinding = kind.endsWith('Binding');
  const known = [...META, ...(isBinding ? ['subjects', 'roleRef'] : ['rules', 'aggregationRule'])];
  const list = isBinding ? 'subjects' : 'rules';
  const items = Array.isArray(raw[list]) ? raw[list].filter(isObject) : [];
  const unknown = [
    ...Object.keys(raw).filter((key) => !known.includes(key)),
    ...items.flatMap((item, at) =>
      Object.keys(item)
        .filter((key) => !(isBinding ? SUBJECT : RULE).includes(key))
        .map((key) => `${list}[${at}].${key}`),
    ),
  ].map((field) => `unknown field "${field}"`);
  if (unknown.length > 0) throw undecodable(kind, `strict decoding error: ${unknown.join(', ')}`);
}
