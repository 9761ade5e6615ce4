import type { Origin } from '../run/run.ts';
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
    user: identity.users[origin.requesterId] ?? fill(identity.user),
    groups: identity.groups.map(fill),
    slackUser: origin.requesterId,
  };
}
