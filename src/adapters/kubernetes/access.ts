import { KdebugError } from '../../core/errors.ts';
import type { AccessRequest, AccessResult, ActingAs } from '../../flow/ports/cluster.ts';
import { Cached } from '../../lib/cached.ts';
import type { Clock } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { ApiClient } from './api/api-client.ts';
import { type ApiResponse, readStatus, toClusterError } from './api/api-errors.ts';
import { checkIdentity } from './api/connection.ts';
import { asFlag, asObject, asText } from './api/json-fields.ts';
import { podPath } from './api/paths.ts';

export interface Right {
  readonly verb: 'get' | 'patch';
  readonly subresource?: 'ephemeralcontainers' | 'log';
}

const ADD_CONTAINER: Right = { verb: 'patch', subresource: 'ephemeralcontainers' };

export type ReviewClient = Pick<ApiClient, 'send'>;

/** Whose right is reviewed: the impersonated person's, a subject's, or (neither) the bot's own. */
export type ReviewedIdentity = Pick<AccessRequest, 'actingAs' | 'subject'>;

/** Without a name: every pod of the namespace (ResourceAttributes: an empty name "means all"). */
export interface ReviewTarget {
  readonly namespace: string;
  readonly name?: string;
}

export interface ReviewResult {
  readonly allowed: boolean;
  /** The authoriser's own words; RBAC has none for most refusals. */
  readonly reason: string;
}

const TIMEOUT_MS = 5_000;

/**
 * Reviews one right (authorization/v1 SelfSubjectAccessReview, or SubjectAccessReview for a subject). Throws unless the
 * answer is a clear yes or no.
 * @throws KdebugError cluster_forbidden (its detail names the missing rule), identity_reserved, and those of
 * `toClusterError`
 */
async function reviewAccess(
  client: ReviewClient,
  who: ReviewedIdentity,
  what: { readonly right: Right; readonly target: ReviewTarget },
): Promise<ReviewResult> {
  const answer = await sendReview(client, who, what);
  if (answer.status === 403) throw lackingRight(answer, who);
  if (answer.status < 200 || answer.status > 299) throw toClusterError(answer);
  const status = asObject(asObject(answer.body).status);
  const allowed = asFlag(status.allowed);
  if (allowed === undefined)
    throw new KdebugError('cluster_failed', { detail: 'the access review has no clear answer' });
  return { allowed, reason: asText(status.reason) };
}

/**
 * Asks if RBAC lets this identity add ephemeral containers to a pod. Needed only after a 403: RBAC and admission
 * plug-ins answer with the same reason and details. A failed review counts as no.
 * @throws KdebugError cluster_unreachable
 */
export async function mayAddEphemeralContainers(
  client: ReviewClient,
  target: ReviewTarget & { readonly actingAs: ActingAs | undefined },
): Promise<boolean> {
  const who = target.actingAs ? { actingAs: target.actingAs } : {};
  const answer = await sendReview(client, who, { right: ADD_CONTAINER, target });
  return asObject(asObject(answer.body).status).allowed === true;
}

function sendReview(
  client: ReviewClient,
  { actingAs, subject }: ReviewedIdentity,
  { right, target }: { readonly right: Right; readonly target: ReviewTarget },
): Promise<ApiResponse> {
  const ofSubject = actingAs ? undefined : subject;
  if (ofSubject) checkIdentity(ofSubject.user, ofSubject.groups);
  const kind = ofSubject ? 'SubjectAccessReview' : 'SelfSubjectAccessReview';
  const { namespace, name } = target;
  const resourceAttributes = { namespace, ...defined({ name }), ...right, resource: 'pods' };
  return client.send({
    method: 'POST',
    path: `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`,
    body: {
      type: 'application/json',
      value: {
        apiVersion: 'authorization.k8s.io/v1',
        kind,
        spec: {
          resourceAttributes,
          ...defined({
            user: ofSubject?.user,
            groups: ofSubject && groupsOf(ofSubject.groups),
          }),
        },
      },
    },
    actingAs,
    timeoutMs: TIMEOUT_MS,
  });
}

/** The API server adds this group to every authenticated or impersonated user, so a review of a subject needs it too. */
const groupsOf = (groups: readonly string[]): readonly string[] => [...groups, 'system:authenticated'];

/** A 403 to a review: kdebug may not impersonate the person, or create reviews. Its details name the resource. */
function lackingRight(answer: ApiResponse, { actingAs }: ReviewedIdentity): KdebugError {
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

const RIGHTS: readonly Right[] = [ADD_CONTAINER, { verb: 'get', subresource: 'log' }, { verb: 'get' }];
const ALLOWED_MS = 30_000;
const DENIED_MS = 5_000;
const MAX_ANSWERS = 5_000;

/**
 * Asks if somebody may debug a pod. Reviews the whole namespace first, because that result serves every pod of a batch;
 * reviews the pod by name only for rights missing there (rules with `resourceNames`). Caches a yes for 30 s, a no for 5
 * s. Equal questions share one review; an error reaches all callers and is not cached.
 */
export class Access {
  readonly #client: ReviewClient;
  readonly #known: Cached<AccessResult>;

  constructor(client: ReviewClient, clock: Clock) {
    this.#client = client;
    const freshMs = ({ kind }: AccessResult): number => (kind === 'allowed' ? ALLOWED_MS : DENIED_MS);
    this.#known = new Cached({ clock, freshMs, maxEntries: MAX_ANSWERS });
  }

  /** @throws KdebugError as the Cluster port says, and identity_reserved */
  async of(request: AccessRequest): Promise<AccessResult> {
    const { namespace, podName: name } = request;
    if (name !== undefined) podPath(namespace, name);
    const everywhere = await this.#reviewAll(request, { namespace }, RIGHTS);
    if (everywhere.kind === 'allowed' || name === undefined) return everywhere;
    const open = RIGHTS.filter((right) => everywhere.missing.includes(textOfRight(right)));
    return this.#reviewAll(request, { namespace, name }, open);
  }

  #reviewAll(who: ReviewedIdentity, target: ReviewTarget, rights: readonly Right[]): Promise<AccessResult> {
    const key = JSON.stringify([identityKey(who), target.namespace, target.name ?? '', rights.map(textOfRight)]);
    return this.#known.get(key, () => review(this.#client, who, { target, rights }));
  }
}

/** Everything that the result may depend on, and the kind of review: no identity ever gets another's result. */
function identityKey({ actingAs, subject }: ReviewedIdentity): readonly unknown[] {
  if (actingAs) return ['acting', actingAs.user, actingAs.groups, actingAs.slackUser];
  return subject ? ['subject', subject.user, subject.groups] : ['self'];
}

async function review(
  client: ReviewClient,
  who: ReviewedIdentity,
  { target, rights }: { readonly target: ReviewTarget; readonly rights: readonly Right[] },
): Promise<AccessResult> {
  const answers = await Promise.all(
    rights.map(async (right) => ({ right, ...(await reviewAccess(client, who, { right, target })) })),
  );
  const denied = answers.filter(({ allowed }) => !allowed);
  if (denied.length === 0) return { kind: 'allowed' };
  const reasons = new Set(denied.map(({ reason }) => reason).filter((reason) => reason !== ''));
  return { kind: 'denied', reason: [...reasons].join('; '), missing: denied.map(({ right }) => textOfRight(right)) };
}

/** Spelled as in a Role's rule: `patch pods/ephemeralcontainers`. */
const textOfRight = ({ verb, subresource }: Right): string =>
  `${verb} pods${subresource === undefined ? '' : `/${subresource}`}`;
