import type { Origin } from '../run/run.ts';
import { own } from './own.ts';
import type { Identity } from './policy.ts';

/** The Kubernetes user that a person's calls are made as. */
export interface KubernetesIdentity {
  readonly user: string;
  readonly groups: readonly string[];
  readonly slackUser: string;
}

/** Fills the policy's identity templates for a person; undefined: the bot's own account acts. */
export function identityFor(
  identity: Identity,
  origin: Pick<Origin, 'requesterId' | 'teamId' | 'channelId'>,
): KubernetesIdentity | undefined {
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

/** Whom a SubjectAccessReview is about when the bot acts with its own account; undefined: this person is not mapped. */
export function subjectFor(
  identity: Identity,
  userId: string,
): { user: string; groups: readonly string[] } | undefined {
  const user = identity.mode === 'serviceAccount' ? own(identity.users, userId) : undefined;
  return user === undefined ? undefined : { user, groups: [] };
}

/**
 * Whether two Slack accounts are one person: the same account, or both mapped to the same Kubernetes user. Prevents that
 * somebody approves their own request with a second account; the map is the only thing that knows of one.
 */
export function isSamePerson(identity: Identity, a: string, b: string): boolean {
  const mapped = own(identity.users, a);
  return a === b || (mapped !== undefined && mapped === own(identity.users, b));
}
