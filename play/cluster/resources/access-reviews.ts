import type { Attributes, Authorizer } from '../api/authorizer.ts';
import { answer, type Call, type Handler, readBytes } from '../api/call.ts';
import type { User } from '../api/identity.ts';
import { type Fields, fieldsOf, openEnvelope, textOf } from '../api/protobuf.ts';
import { badRequest } from '../api/status.ts';
import { isObject, parseJson } from '../objects/json.ts';
import type { JsonObject } from '../objects/pod.ts';

interface Question {
  readonly asked: Attributes;
  /** Only in a SubjectAccessReview. */
  readonly user: User;
}

/** SelfSubjectAccessReview and SubjectAccessReview (authorization/v1), as JSON or, as kubectl sends them, protobuf. */
export function reviewHandlers(authorizer: Authorizer): readonly (readonly [string, Handler])[] {
  return [
    ['create selfsubjectaccessreviews', (call) => review(authorizer, call, 'SelfSubjectAccessReview')],
    ['create subjectaccessreviews', (call) => review(authorizer, call, 'SubjectAccessReview')],
  ];
}

async function review(authorizer: Authorizer, call: Call, kind: string): Promise<void> {
  const { asked, user } = questionOf(await readBytes(call.request));
  const allowed = authorizer.allows(kind.startsWith('Self') ? call.identity.user : user, asked);
  const spec = {
    resourceAttributes: asked,
    ...(kind.startsWith('Self') ? {} : { user: user.name, groups: user.groups }),
  };
  answer(call, 201, { kind, apiVersion: 'authorization.k8s.io/v1', metadata: {}, spec, status: { allowed } });
}

function questionOf(body: Buffer): Question {
  const message = openEnvelope(body);
  if (message) return fromProtobuf(fieldsOf(message.get(2)?.[0] ?? Buffer.alloc(0)));
  const value = parseJson(body.toString('utf8'));
  const spec = isObject(value) ? value.spec : undefined;
  if (!isObject(spec)) throw badRequest('the object provided is unrecognized');
  return fromJson(spec);
}

function fromJson(spec: JsonObject): Question {
  const asked = isObject(spec.resourceAttributes) ? spec.resourceAttributes : {};
  const text = (key: string) => (typeof asked[key] === 'string' ? asked[key] : '');
  const [verb, group, resource, subresource, namespace, name] = [
    'verb',
    'group',
    'resource',
    'subresource',
    'namespace',
    'name',
  ].map(text);
  const groups = Array.isArray(spec.groups) ? spec.groups.map(String) : [];
  return {
    asked: attributes([verb, group, resource, subresource, namespace, name]),
    user: { name: String(spec.user ?? ''), groups, extra: {} },
  };
}

function fromProtobuf(spec: Fields): Question {
  const asked = fieldsOf(spec.get(1)?.[0] ?? Buffer.alloc(0));
  const groups = (spec.get(4) ?? []).map((each) => each.toString('utf8'));
  return {
    asked: attributes([2, 3, 5, 6, 1, 7].map((number) => textOf(asked, number))),
    user: { name: textOf(spec, 3), groups, extra: {} },
  };
}

function attributes([verb = '', group = '', resource = '', subresource = '', namespace = '', name = '']: readonly (
  | string
  | undefined
)[]): Attributes {
  return { verb, group, resource, subresource, namespace, name };
}
