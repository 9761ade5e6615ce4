import type { Attributes, Authorizer } from '../api/authorizer.ts';
import { answer, type Call, type Handler, readBytes } from '../api/call.ts';
import type { User } from '../api/identity.ts';
import { badRequest, cause, invalid } from '../api/status.ts';
import { type ReviewSpec, reviewSpec } from './review-spec.ts';

const GROUP = 'authorization.k8s.io';

/** SelfSubjectAccessReview and SubjectAccessReview (authorization/v1), answered by the authorizer of every request. */
export function reviewHandlers(authorizer: Authorizer): readonly (readonly [string, Handler])[] {
  return [
    ['create selfsubjectaccessreviews', (call) => review(authorizer, call, 'SelfSubjectAccessReview')],
    ['create subjectaccessreviews', (call) => review(authorizer, call, 'SubjectAccessReview')],
  ];
}

async function review(authorizer: Authorizer, call: Call, kind: string): Promise<void> {
  const spec = reviewSpec(await readBytes(call));
  if (!spec)
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind`);
  const isSelf = kind.startsWith('Self');
  if (!isSelf && spec.user === undefined && spec.groups === undefined) {
    throw refused('spec.user', '""', 'at least one of user or group must be specified');
  }
  const user: User = { name: spec.user ?? '', groups: spec.groups ?? [], extra: {} };
  const { allowed, reason } = authorizer.decide(isSelf ? call.identity.user : user, attributesOf(spec));
  const status = { allowed, ...(reason === '' ? {} : { reason }) };
  answer(call, 201, { kind, apiVersion: `${GROUP}/v1`, metadata: {}, spec, status });
}

/** @throws ApiError 422 unless exactly one of the two is asked about */
function attributesOf({ resourceAttributes, nonResourceAttributes }: ReviewSpec): Attributes {
  if (resourceAttributes && nonResourceAttributes) {
    const { path = '', verb = '' } = nonResourceAttributes;
    const value = JSON.stringify({ Path: path, Verb: verb });
    throw refused('spec.nonResourceAttributes', value, 'cannot be specified in combination with resourceAttributes');
  }
  const asked = resourceAttributes ?? nonResourceAttributes;
  if (!asked) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    throw refused('spec.resourceAttributes', 'null', why);
  }
  const text = (key: string) => asked[key] ?? '';
  return {
    verb: text('verb'),
    group: text('group'),
    resource: text('resource'),
    subresource: text('subresource'),
    namespace: text('namespace'),
    name: text('name'),
    path: text('path'),
    isResource: resourceAttributes !== undefined,
  };
}

const refused = (field: string, value: string, why: string) =>
  invalid('', '', [cause('FieldValueInvalid', field, `Invalid value: ${value}: ${why}`)], GROUP);
