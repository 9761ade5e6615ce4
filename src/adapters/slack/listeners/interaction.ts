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

/** The message that was clicked or picked. */
interface Source {
  readonly ts: string;
  /** The root's own `ts` in a root that has replies. */
  readonly thread_ts?: string | undefined;
}

/** Where the person looks: in the thread if the message is a reply, else in the channel, also when replies stand under the message. */
export const placeOf = ({ channel, user, response_url }: Standing, { ts, thread_ts }: Source): PrivatePlace => ({
  channelId: channel.id,
  userId: user.id,
  ...(thread_ts === undefined || thread_ts === ts ? {} : { threadTs: thread_ts, isReply: true as const }),
  ...(response_url === undefined ? {} : { responseUrl: response_url }),
});
