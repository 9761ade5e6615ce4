import type { PrivatePlace } from '../../../flow/ports/slack.ts';
import type { Identity } from '../identity.ts';
import type { Interaction } from '../payloads.ts';
import type { Sender } from './authorise.ts';

export const senderOf = (
  { team, enterprise, user, api_app_id }: Interaction,
  channelId: string | undefined,
): Sender => ({
  userId: user.id,
  channelId,
  teamIds: [team?.id, user.team_id],
  enterpriseId: enterprise?.id ?? team?.enterprise_id,
  appId: api_app_id,
});

/** The person's own team; what is not said was checked to be ours. */
export const teamIdOf = ({ team, user }: Interaction, identity: Identity): string =>
  user.team_id ?? team?.id ?? identity.teamId;

interface Standing extends Interaction {
  readonly channel: { readonly id: string };
  readonly response_url?: string | undefined;
}

export const placeOf = ({ channel, user, response_url }: Standing, threadTs: string | undefined): PrivatePlace => ({
  channelId: channel.id,
  userId: user.id,
  ...(threadTs === undefined ? {} : { threadTs }),
  ...(response_url === undefined ? {} : { responseUrl: response_url }),
});
