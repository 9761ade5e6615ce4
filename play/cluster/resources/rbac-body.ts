import { type Fields, fieldsOf, listOf, openEnvelope, textOf, textsOf } from '../api/protobuf.ts';
import { badRequest } from '../api/status.ts';
import { isObject, parseJson } from '../objects/json.ts';
import type { Json, JsonObject } from '../objects/pod.ts';
import type { RbacKind } from '../objects/rbac.ts';

/** A body as JSON, which it is, or protobuf, which kubectl sends for what it makes itself. @throws ApiError 400 */
export function rbacBody(body: Buffer, kind: RbacKind): JsonObject {
  const message = openEnvelope(body);
  if (message) return kind.endsWith('Binding') ? bindingFrom(message) : roleFrom(message);
  return jsonBody(body, kind);
}

function jsonBody(body: Buffer, kind: RbacKind): JsonObject {
  let value: Json;
  try {
    value = parseJson(body.toString('utf8'));
  } catch {
    value = null;
  }
  if (!isObject(value)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind`);
  }
  const { kind: named = kind, apiVersion = 'rbac.authorization.k8s.io/v1' } = value;
  if (named !== kind || apiVersion !== 'rbac.authorization.k8s.io/v1') {
    throw badRequest(`${String(named)} in version "${String(apiVersion)}" cannot be handled as a ${kind}`);
  }
  return value;
}

/** Field numbers: rbac/v1 generated.proto. */
function roleFrom(role: Fields): JsonObject {
  const rules = listOf(role, 2).map((rule) => ({
    verbs: textsOf(rule, 1),
    apiGroups: textsOf(rule, 2),
    resources: textsOf(rule, 3),
    resourceNames: textsOf(rule, 4),
    nonResourceURLs: textsOf(rule, 5),
  }));
  return { metadata: metadataFrom(role), rules };
}

function bindingFrom(binding: Fields): JsonObject {
  const subjects = listOf(binding, 2).map((subject) => ({
    kind: textOf(subject, 1),
    apiGroup: textOf(subject, 2),
    name: textOf(subject, 3),
    namespace: textOf(subject, 4),
  }));
  const [ref = fieldsOf(Buffer.alloc(0))] = listOf(binding, 3);
  const roleRef = { apiGroup: textOf(ref, 1), kind: textOf(ref, 2), name: textOf(ref, 3) };
  return { metadata: metadataFrom(binding), subjects, roleRef };
}

/** The first field of every object: the name, labels and annotations of meta/v1 ObjectMeta. */
export function metadataFrom(object: Fields): JsonObject {
  const [metadata = fieldsOf(Buffer.alloc(0))] = listOf(object, 1);
  const map = (number: number) =>
    Object.fromEntries(listOf(metadata, number).map((entry) => [textOf(entry, 1), textOf(entry, 2)]));
  const namespace = textOf(metadata, 3);
  return {
    name: textOf(metadata, 1),
    generateName: textOf(metadata, 2),
    ...(namespace === '' ? {} : { namespace }),
    labels: map(11),
    annotations: map(12),
  };
}
