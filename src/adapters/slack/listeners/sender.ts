import type { ReasonCode } from '../../../core/errors.ts';
import type { Identity } from '../identity.ts';

/** Who sent a request, as far as Slack vouches for it. */
export interface Sender {
  /** Every team that the request names: where it stands, and the person's own. All of them must be ours. */
  readonly teamIds: readonly (string | undefined)[];
  readonly enterpriseId: string | undefined;
  readonly appId: string | undefined;
}

/**
 * Why a request is not for us, if it is not. A shared channel (Slack Connect) holds people of other teams who see our
 * buttons and commands; another app may sign with a secret that was copied. Refuses when nothing says which team it is.
 * An enterprise vouches only where we are installed in one.
 */
export function reasonToRefuse(sender: Sender, identity: Identity): ReasonCode | undefined {
  if (identity.appId !== undefined && sender.appId !== undefined && sender.appId !== identity.appId)
    return 'slack_not_our_team';
  const teamIds = sender.teamIds.filter((teamId) => teamId !== undefined);
  if (teamIds.length > 0 && teamIds.every((teamId) => teamId === identity.teamId)) return undefined;
  const sameEnterprise = identity.enterpriseId !== undefined && sender.enterpriseId === identity.enterpriseId;
  return sameEnterprise ? undefined : 'slack_not_our_team';
}
