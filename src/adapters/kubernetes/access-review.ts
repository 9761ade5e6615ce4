import { KdebugError } from '../../core/errors.ts';
import type { AccessRequest, ActingAs } from '../../flow/ports/cluster.ts';
import type { ApiClient } from './api/api-client.ts';
import { type ApiAnswer, readStatus, toClusterError } from './api/api-errors.ts';
import { checkIdentity } from './api/identity-headers.ts';
import { asFlag, asObject, asText } from './api/json-fields.ts';

/** A right on pods, as a rule of a Role has it. */
export interface Right {
  readonly verb: 'get' | 'patch';
  readonly subresource?: 'ephemeralcontainers' | 'log';
}

export const ADD_CONTAINER: Right = { verb: 'patch', subresource: 'ephemeralcontainers' };

/** What a review needs of the API client. */
export type ReviewClient = Pick<ApiClient, 'send'>;

/** Whose right is asked for: the impersonated person's, a subject's, or (neither) the bot's own. */
export type Reviewed = Pick<AccessRequest, 'actingAs' | 'subject'>;

/** Where. Without a name: for every pod of the namespace (ResourceAttributes: an empty name "means all"). */
export interface ReviewedPlace {
  readonly namespace: string;
  readonly name?: string;
}

export interface ReviewAnswer {
  readonly allowed: boolean;
  /** The authoriser's own words; RBAC has none for most refusals. */
  readonly reason: string;
}

const TIMEOUT_MS = 5_000;

/**
 * Asks the cluster's authorisation about one right (authorization/v1 SelfSubjectAccessReview, or SubjectAccessReview for a
 * subject). Anything but a clear yes or no throws. @throws KdebugError cluster_forbidden (its detail names the rule that
 * lacks), identity_reserved, and as `toClusterError` says
 */
export async function reviewAccess(
  client: ReviewClient,
  who: Reviewed,
  asked: { readonly right: Right; readonly place: ReviewedPlace },
): Promise<ReviewAnswer> {
  const answer = await sendReview(client, who, asked);
  if (answer.status === 403) throw lackingRight(answer, who);
  if (answer.status < 200 || answer.status > 299) throw toClusterError(answer);
  const status = asObject(asObject(answer.body).status);
  const allowed = asFlag(status.allowed);
  if (allowed === undefined) throw new KdebugError('cluster_failed', { detail: 'an access review without an answer' });
  return { allowed, reason: asText(status.reason) };
}

/**
 * Whether RBAC lets this identity add ephemeral containers to a pod. Asked only after a 403, because RBAC's answer and an
 * admission plug-in's have the same reason and the same details: nothing in them but the sentence tells them apart.
 * No answer counts as no. @throws KdebugError cluster_unreachable
 */
export async function mayAddEphemeralContainers(
  client: ReviewClient,
  place: ReviewedPlace & { readonly actingAs: ActingAs | undefined },
): Promise<boolean> {
  const who = place.actingAs ? { actingAs: place.actingAs } : {};
  const answer = await sendReview(client, who, { right: ADD_CONTAINER, place });
  return asObject(asObject(answer.body).status).allowed === true;
}

function sendReview(
  client: ReviewClient,
  { actingAs, subject }: Reviewed,
  { right, place }: { readonly right: Right; readonly place: ReviewedPlace },
): Promise<ApiAnswer> {
  const ofSubject = actingAs ? undefined : subject;
  if (ofSubject) checkIdentity(ofSubject.user, ofSubject.groups);
  const kind = ofSubject ? 'SubjectAccessReview' : 'SelfSubjectAccessReview';
  const { namespace, name } = place;
  const resourceAttributes = { namespace, ...(name !== undefined && { name }), ...right, resource: 'pods' };
  return client.send({
    method: 'POST',
    path: `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`,
    body: {
      type: 'application/json',
      value: {
        apiVersion: 'authorization.k8s.io/v1',
        kind,
        spec: { resourceAttributes, ...(ofSubject && { user: ofSubject.user, groups: groupsOf(ofSubject.groups) }) },
      },
    },
    actingAs,
    timeoutMs: TIMEOUT_MS,
  });
}

/** Every user that an API server authenticates or lets somebody impersonate has this group; so has the subject. */
const groupsOf = (groups: readonly string[]): readonly string[] => [...groups, 'system:authenticated'];

/** A 403 to a review is not about the pod: kdebug may not become the person, or whoever asks may not ask. Its details name the resource. */
function lackingRight(answer: ApiAnswer, { actingAs }: Reviewed): KdebugError {
  const { kind, message } = readStatus(answer.status, answer.body);
  const isImpersonation = IMPERSONATED.has(kind);
  const rule = isImpersonation
    ? impersonationRule(kind, asText(asObject(asObject(answer.body).details).name))
    : `apiGroups: [authorization.k8s.io], resources: [${kind}], verbs: [create]`;
  const who = actingAs && !isImpersonation ? actingAs.user : "kdebug's own account";
  return new KdebugError('cluster_forbidden', {
    detail: `${who} needs this rule in a ClusterRole: {${rule}} (${message})`,
    facts: { status: answer.status },
  });
}

const IMPERSONATED: ReadonlySet<string> = new Set(['users', 'groups', 'userextras', 'uids', 'serviceaccounts']);

function impersonationRule(kind: string, name: string): string {
  const isExtra = kind === 'userextras';
  const group = isExtra || kind === 'uids' ? 'authentication.k8s.io' : '""';
  const resource = isExtra ? 'userextras/slack-user' : kind;
  return `apiGroups: [${group}], resources: [${resource}], resourceNames: [${JSON.stringify(name)}], verbs: [impersonate]`;
}
