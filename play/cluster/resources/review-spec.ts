import { type Fields, listOf, openEnvelope, textOf, textsOf } from '../api/protobuf.ts';
import { isObject, parseJson } from '../objects/json.ts';
import type { Json } from '../objects/pod.ts';

/** `verb`, `namespace` and so on; what is empty is absent. */
type Words = Readonly<Record<string, string>>;

/** The spec of an access review. `user` and `groups` only in a SubjectAccessReview. */
export interface ReviewSpec {
  readonly resourceAttributes?: Words;
  readonly nonResourceAttributes?: Words;
  readonly user?: string;
  readonly groups?: readonly string[];
}

const RESOURCE = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'];
const PATH = ['path', 'verb'];

/** Reads JSON or, as kubectl sends it, protobuf; nothing when it is neither. */
export function reviewSpec(body: Buffer): ReviewSpec | undefined {
  const message = openEnvelope(body);
  if (message) return fromProtobuf(listOf(message, 2)[0]);
  const value = jsonIn(body.toString('utf8'));
  if (!isObject(value) || !isObject(value.spec)) return undefined;
  const { resourceAttributes, nonResourceAttributes, user, groups } = value.spec;
  return specOf(
    wordsOf(resourceAttributes, RESOURCE),
    wordsOf(nonResourceAttributes, PATH),
    typeof user === 'string' ? user : '',
    Array.isArray(groups) ? groups.map(String) : [],
  );
}

function jsonIn(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function wordsOf(value: Json | undefined, keys: readonly string[]): Words | undefined {
  if (!isObject(value)) return undefined;
  return withoutEmpty(keys.map((key) => [key, typeof value[key] === 'string' ? value[key] : '']));
}

const withoutEmpty = (pairs: readonly (readonly [string, string])[]): Words =>
  Object.fromEntries(pairs.filter(([, value]) => value !== ''));

/** Field numbers: authorization/v1 generated.proto; the attributes are numbered in the order of the lists above. */
function fromProtobuf(spec: Fields | undefined): ReviewSpec {
  if (!spec) return {};
  const words = (at: number, keys: readonly string[]): Words | undefined => {
    const [message] = listOf(spec, at);
    return message && withoutEmpty(keys.map((key, index) => [key, textOf(message, index + 1)]));
  };
  return specOf(words(1, RESOURCE), words(2, PATH), textOf(spec, 3), textsOf(spec, 4));
}

function specOf(
  resource: Words | undefined,
  path: Words | undefined,
  user: string,
  groups: readonly string[],
): ReviewSpec {
  return {
    ...(resource ? { resourceAttributes: resource } : {}),
    ...(path ? { nonResourceAttributes: path } : {}),
    ...(user === '' ? {} : { user }),
    ...(groups.length === 0 ? {} : { groups }),
  };
}
