import { z } from 'zod';
import { MAX_ACTION_ID, MAX_BUTTON_VALUE } from './limits.ts';

/** The fields that kdebug reads of what Slack sends; everything else is dropped here, prototype keys too. */

const id = z.string().regex(/^[A-Z][A-Z0-9]{1,30}$/);
const ts = z.string().regex(/^\d{1,16}\.\d{1,9}$/);
/** Slack sends an absent enterprise as null, as an empty string, or not at all. */
const optionalId = id
  .nullish()
  .catch(undefined)
  .transform((value) => value ?? undefined);

/** A slash command (Slack, "Implementing slash commands"). */
export const CommandPayload = z.object({
  team_id: id,
  enterprise_id: optionalId,
  channel_id: id,
  user_id: id,
  api_app_id: optionalId,
  text: z.string().default(''),
  trigger_id: z.string().min(1),
  response_url: z.string().optional(),
});
export type CommandPayload = z.infer<typeof CommandPayload>;

/** The envelope of an `app_mention` event (Slack, "Events API"). */
export const MentionPayload = z.object({
  team_id: id,
  enterprise_id: optionalId,
  api_app_id: optionalId,
  event: z.object({
    user: id.optional(),
    bot_id: z.string().optional(),
    /** The writer's own team: in a shared channel it may be another one. */
    user_team: optionalId,
    team: optionalId,
    channel: id,
    ts,
    thread_ts: ts.optional(),
    text: z.string(),
  }),
});
export type MentionPayload = z.infer<typeof MentionPayload>;

/** A click on a button of a message (Slack, "block_actions payload"). */
export const ClickPayload = z.object({
  team: z.object({ id: optionalId, enterprise_id: optionalId }).nullish(),
  enterprise: z.object({ id: optionalId }).nullish(),
  api_app_id: optionalId,
  user: z.object({ id, team_id: optionalId }),
  channel: z.object({ id }),
  message: z.object({ ts, thread_ts: ts.optional() }),
  response_url: z.string().optional(),
  actions: z.tuple([
    z.object({ action_id: z.string().min(1).max(MAX_ACTION_ID), value: z.string().max(MAX_BUTTON_VALUE).default('') }),
  ]),
});
export type ClickPayload = z.infer<typeof ClickPayload>;
