import type { AccessAnswer, AccessRequest } from '../../flow/ports/cluster.ts';
import type { Clock } from '../../flow/ports/machine.ts';
import {
  ADD_CONTAINER,
  type ReviewClient,
  type Reviewed,
  type ReviewedPlace,
  type Right,
  reviewAccess,
} from './access-review.ts';
import { podPath } from './api/paths.ts';
import { KeptAnswers } from './kept-answers.ts';

const RIGHTS: readonly Right[] = [ADD_CONTAINER, { verb: 'get', subresource: 'log' }, { verb: 'get' }];
const ALLOWED_MS = 30_000;
const DENIED_MS = 5_000;
const MOST_ANSWERS = 5_000;

/**
 * Whether somebody may debug a pod. Asked for all pods of the namespace first, because that answer serves every pod of a batch;
 * only what is not allowed there is asked for the pod by name (rules with `resourceNames`). A yes is at most 30 s old,
 * a no 5 s; the same question is never under way twice. An error is never kept, and is thrown to everyone who waits for it.
 */
export class Access {
  readonly #client: ReviewClient;
  readonly #known: KeptAnswers<AccessAnswer>;

  constructor(client: ReviewClient, clock: Clock) {
    this.#client = client;
    const freshMs = ({ kind }: AccessAnswer): number => (kind === 'allowed' ? ALLOWED_MS : DENIED_MS);
    this.#known = new KeptAnswers({ clock, freshMs, most: MOST_ANSWERS });
  }

  /** @throws KdebugError as the Cluster port says, and identity_reserved */
  async of(request: AccessRequest): Promise<AccessAnswer> {
    const { namespace, podName: name } = request;
    if (name !== undefined) podPath(namespace, name);
    const everywhere = await this.#answerOf(request, { namespace }, RIGHTS);
    if (everywhere.kind === 'allowed' || name === undefined) return everywhere;
    const open = RIGHTS.filter((right) => everywhere.missing.includes(wordsOf(right)));
    return this.#answerOf(request, { namespace, name }, open);
  }

  #answerOf(who: Reviewed, place: ReviewedPlace, rights: readonly Right[]): Promise<AccessAnswer> {
    const key = JSON.stringify([identityKey(who), place.namespace, place.name ?? '', rights.map(wordsOf)]);
    return this.#known.of(key, () => ask(this.#client, who, { place, rights }));
  }
}

/** Everything that the cluster's answer may depend on, and the way of asking: an answer is never another identity's. */
function identityKey({ actingAs, subject }: Reviewed): readonly unknown[] {
  if (actingAs) return ['acting', actingAs.user, actingAs.groups, actingAs.slackUser];
  return subject ? ['subject', subject.user, subject.groups] : ['self'];
}

async function ask(
  client: ReviewClient,
  who: Reviewed,
  { place, rights }: { readonly place: ReviewedPlace; readonly rights: readonly Right[] },
): Promise<AccessAnswer> {
  const answers = await Promise.all(
    rights.map(async (right) => ({ right, ...(await reviewAccess(client, who, { right, place })) })),
  );
  const denied = answers.filter(({ allowed }) => !allowed);
  if (denied.length === 0) return { kind: 'allowed' };
  const reasons = new Set(denied.map(({ reason }) => reason).filter((reason) => reason !== ''));
  return { kind: 'denied', reason: [...reasons].join('; '), missing: denied.map(({ right }) => wordsOf(right)) };
}

/** As a rule of a Role has it: `patch pods/ephemeralcontainers`. */
const wordsOf = ({ verb, subresource }: Right): string =>
  `${verb} pods${subresource === undefined ? '' : `/${subresource}`}`;
