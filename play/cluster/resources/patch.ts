import { ApiError, badRequest } from '../api/status.ts';
import { isObject, isSameJson, parseJson } from '../objects/json.ts';
import type { Json, JsonObject } from '../objects/pod.ts';

/** Lists that a strategic merge joins by a key; every other list is replaced (struct tags of core/v1). */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  ephemeralContainers: 'name',
  containers: 'name',
  initContainers: 'name',
  env: 'name',
  ownerReferences: 'uid',
};

const ORDER = '$setElementOrder/';

/**
 * Applies a patch of any of the three kinds. @throws ApiError 400 not JSON or not a patch; 415 another media type;
 * 422 a JSON patch whose `test` fails or whose path is missing.
 */
export function applyPatch(
  target: JsonObject,
  body: string,
  mediaType: string,
): { readonly result: JsonObject; readonly patch: Json } {
  const kind = mediaType.split(';')[0]?.trim();
  if (kind === 'application/json-patch+json') {
    const patch = parsePatch(body);
    return { result: applyJsonPatch(target, patch), patch };
  }
  if (kind === 'application/strategic-merge-patch+json' || kind === 'application/merge-patch+json') {
    const patch = parsePatch(body);
    if (!isObject(patch)) throw badRequest('error decoding patch: json: cannot unmarshal array into Go value');
    const strategic = kind.includes('strategic');
    return { result: mergeObject(target, patch, strategic), patch };
  }
  throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

function parsePatch(body: string): Json {
  try {
    return parseJson(body);
  } catch {
    throw badRequest('unexpected end of JSON input');
  }
}

function mergeObject(target: JsonObject, patch: JsonObject, strategic: boolean): JsonObject {
  const merged: Record<string, Json> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (strategic && key.startsWith('$')) continue;
    if (value === null) delete merged[key];
    else merged[key] = mergeValue({ key, before: target[key], value, order: patch[ORDER + key], strategic });
  }
  return merged;
}

interface Merge {
  readonly key: string;
  readonly before: Json | undefined;
  readonly value: Json;
  readonly order: Json | undefined;
  readonly strategic: boolean;
}

function mergeValue({ key, before, value, order, strategic }: Merge): Json {
  const mergeKey = MERGE_KEYS[key];
  if (strategic && Array.isArray(value) && mergeKey) {
    return mergeList({ before: elements(before), patch: elements(value), order: elements(order), mergeKey });
  }
  if (isObject(value)) return mergeObject(isObject(before) ? before : {}, value, strategic);
  return value;
}

const elements = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

interface ListMerge {
  readonly before: readonly JsonObject[];
  readonly patch: readonly JsonObject[];
  readonly order: readonly JsonObject[];
  readonly mergeKey: string;
}

/** Without an order of the client's, new elements come first (found by experiment, Kubernetes 1.34). */
function mergeList({ before, patch, order, mergeKey }: ListMerge): JsonObject[] {
  const removed = new Set(patch.filter((each) => each.$patch === 'delete').map((each) => each[mergeKey]));
  const patched = patch.filter((each) => each.$patch === undefined);
  const known = new Map(before.map((each) => [each[mergeKey], each]));
  const fresh = new Map<Json | undefined, JsonObject>();
  for (const each of patched) {
    const key = each[mergeKey];
    const place = known.has(key) ? known : fresh;
    // An element that comes twice is merged with itself.
    place.set(key, mergeObject(place.get(key) ?? {}, each, true));
  }
  const result = [...fresh.values(), ...known.values()].filter((each) => !removed.has(each[mergeKey]));
  const place = new Map(order.map((each, at) => [each[mergeKey], at]));
  return place.size === 0
    ? result
    : result.sort((a, b) => (place.get(a[mergeKey]) ?? -1) - (place.get(b[mergeKey]) ?? -1));
}

function applyJsonPatch(target: JsonObject, patch: Json): JsonObject {
  if (!Array.isArray(patch)) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  }
  const root: Json = structuredClone(target);
  for (const operation of elements(patch)) applyOperation(root, operation);
  return isObject(root) ? root : target;
}

const rejected = () =>
  new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

function applyOperation(root: Json, operation: JsonObject): void {
  const path = String(operation.path)
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = path.pop() ?? '';
  const parent = path.reduce<Json | undefined>((at, part) => child(at, part), root);
  if (operation.op === 'test') {
    if (!isSameJson(child(parent, last), operation.value)) throw rejected();
    return;
  }
  if (operation.op !== 'add' && child(parent, last) === undefined) throw rejected();
  change(parent, last, operation);
}

function child(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(key)];
  return isObject(value) ? value[key] : undefined;
}

function change(parent: Json | undefined, key: string, operation: JsonObject): void {
  const value = operation.value ?? null;
  if (Array.isArray(parent)) changeList(parent, key, operation.op, value);
  else if (!isObject(parent)) throw rejected();
  else if (operation.op === 'remove') Reflect.deleteProperty(parent, key);
  else Reflect.set(parent, key, value);
}

function changeList(list: Json[], key: string, op: Json | undefined, value: Json): void {
  const at = key === '-' ? list.length : Number(key);
  if (!Number.isInteger(at) || at > list.length) throw rejected();
  if (op === 'add') list.splice(at, 0, value);
  else if (op === 'replace') list.splice(at, 1, value);
  else list.splice(at, 1);
}
