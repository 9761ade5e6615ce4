import type { ActingAs } from '../../flow/ports.ts';
import type { ApiClient } from './api/api-client.ts';
import { asObject } from './api/json-fields.ts';

/**
 * Whether RBAC lets this identity add ephemeral containers to a pod (authorization/v1 SelfSubjectAccessReview). Asked only
 * after a 403, because RBAC's answer and an admission plug-in's have the same reason and the same details: nothing in
 * them but the sentence tells them apart. No answer counts as no.
 */
export async function mayAddEphemeralContainers(client: ApiClient, place: ReviewedPlace): Promise<boolean> {
  const answer = await client.send({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: { type: 'application/json', value: review(place) },
    actingAs: place.actingAs,
  });
  return asObject(asObject(answer.body).status).allowed === true;
}

export interface ReviewedPlace {
  readonly namespace: string;
  readonly name: string;
  readonly actingAs: ActingAs | undefined;
}

const review = ({ namespace, name }: ReviewedPlace) => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  spec: {
    resourceAttributes: { namespace, name, verb: 'patch', resource: 'pods', subresource: 'ephemeralcontainers' },
  },
});
