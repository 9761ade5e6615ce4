import { asUserId } from '../ids.ts';
import type { Origin } from '../run/run.ts';
import { own } from './own.ts';
import type { Identity, Unmapped } from './policy.ts';

/** The Kubernetes user that a person's calls are made as. */
export interface KubernetesIdentity {
  readonly user: string;
  readonly groups: readonly string[];
  readonly slackUser: string;
}

/** Everything that the templates know. */
type Asker = Pick<Origin, 'requesterId' | 'teamId' | 'channelId'>;

/** Fills the policy's identity templates for a person; undefined: the bot's own account acts. */
export function identityFor(identity: Identity, origin: Asker): KubernetesIdentity | undefined {
  if (identity.mode === 'serviceAccount') return undefined;
  const fill = (template: string): string =>
    template
      .replaceAll('{userId}', origin.requesterId)
      .replaceAll('{teamId}', origin.teamId)
      .replaceAll('{channelId}', origin.channelId);
  return {
    user: own(identity.users, origin.requesterId) ?? fill(identity.user),
    groups: identity.groups.map(fill),
    slackUser: origin.requesterId,
  };
}

/** The policy's word on people whom `users` does not name, with its default. */
export const unmappedOf = ({ mode, users, unmapped }: Identity): Unmapped =>
  unmapped ?? (mode === 'serviceAccount' && Object.keys(users).length > 0 ? 'deny' : 'allow');

/** Whether a person may do nothing at all, because the policy does not map them (`Unmapped`). */
export const isRefusedUnmapped = (identity: Identity, userId: string): boolean =>
  unmappedOf(identity) === 'deny' && own(identity.users, userId) === undefined;

/** Whom a SubjectAccessReview is about when the bot acts with its own account; undefined: this person is not mapped. */
export function subjectFor(
  identity: Identity,
  userId: string,
): { user: string; groups: readonly string[] } | undefined {
  const user = identity.mode === 'serviceAccount' ? own(identity.users, userId) : undefined;
  return user === undefined ? undefined : { user, groups: [] };
}

/**
 * Whether a Slack account belongs to who asked: the same account, or one that the policy gives the same Kubernetes user, by its
 * map or by its template. Prevents that somebody approves their own request with a second account.
 */
export function isSamePerson(identity: Identity, asker: Asker, userId: string): boolean {
  const name = ownUserOf(identity, asker);
  if (userId === asker.requesterId) return true;
  return name !== undefined && name === ownUserOf(identity, { ...asker, requesterId: asUserId(userId) });
}

/** The Kubernetes user that tells this person from others; undefined: theirs is the bot's, or everybody's. */
function ownUserOf(identity: Identity, asker: Asker): string | undefined {
  const mapped = own(identity.users, asker.requesterId);
  const isPersonal = identity.mode === 'impersonate' && identity.user.includes('{userId}');
  return mapped ?? (isPersonal ? identityFor(identity, asker)?.user : undefined);
}
