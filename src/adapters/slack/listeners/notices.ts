import { z } from 'zod';
import type { SlackDirectory } from '../directory.ts';
import { envelope, id } from '../payloads.ts';
import { type Delivered, isOurs, type ListenerContext } from './gate.ts';

/**
 * Slack sends notices by itself, without a person whose rights could be checked, so no notice starts or shows anything.
 */

/** Slack, "channel_id_changed event": a private channel gets another id when somebody shares it with another company. */
export const ChannelIdPayload = z.object({
  ...envelope,
  event: z.object({ old_channel_id: id, new_channel_id: id }),
});

/** Slack, "subteam_members_changed event". */
export const GroupPayload = z.object({ ...envelope, event: z.object({ subteam_id: id }) });

export interface NoticeContext extends Pick<ListenerContext, 'identity' | 'log'> {
  readonly directory: Pick<SlackDirectory, 'groupChanged'>;
  /** The policy names the channel. */
  readonly isNamed: (channelId: string) => boolean;
}

type Notice = Pick<Delivered, 'body'> & { readonly context: NoticeContext };

/** The policy and its rules are keyed by id: under the new one, nothing may run until an operator changes it. */
export async function onChannelId({ context, body }: Notice): Promise<void> {
  const { data } = ChannelIdPayload.safeParse(body);
  if (!data || !isFromOurs(data, context)) return;
  const { old_channel_id: oldChannelId, new_channel_id: newChannelId } = data.event;
  const inPolicy = context.isNamed(oldChannelId);
  context.log.error('Slack gave a channel another id: put the new one in the policy', {
    oldChannelId,
    newChannelId,
    inPolicy,
  });
}

/** Another person may be an approver now, or none any more. */
export async function onGroup({ context, body }: Notice): Promise<void> {
  const { data } = GroupPayload.safeParse(body);
  if (data && isFromOurs(data, context)) context.directory.groupChanged(data.event.subteam_id);
}

type Envelope = Omit<z.infer<typeof GroupPayload>, 'event'>;

function isFromOurs({ team_id, enterprise_id, api_app_id }: Envelope, { identity, log }: NoticeContext): boolean {
  const sender = { teamIds: [team_id], enterpriseId: enterprise_id, appId: api_app_id };
  const isFrom = isOurs(sender, { namesApp: true }, identity);
  if (!isFrom) log.warn('notice of another team or app ignored');
  return isFrom;
}
