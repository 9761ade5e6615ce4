import { z } from 'zod';
import { MAX_ACTION_ID, MAX_BUTTON_VALUE, MAX_CALLBACK_ID, MAX_PRIVATE_METADATA } from './limits.ts';
import { FormState, MAX_VALUE_LENGTH } from './views/form-state.ts';

/** The fields of Slack's payloads that kdebug reads. Drops everything else, prototype keys too. */

export const id = z.string().regex(/^[A-Z][A-Z0-9]{1,30}$/);
const ts = z.string().regex(/^\d{1,16}\.\d{1,9}$/);
/** Slack sends an absent enterprise as null, as an empty string, or not at all. */
const optionalId = id
  .nullish()
  .catch(undefined)
  .transform((value) => value ?? undefined);
/** Of a message, too: one with a file was seen with `"bot_id":null`. Any other wrong shape is refused. */
const optional = <Value extends string>(schema: z.ZodType<Value>) =>
  z
    .union([schema, z.null(), z.literal('')])
    .optional()
    .transform((value) => value || undefined);
const optionalText = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

/** Absent, null or empty: no app. Any other value that is not our id, even of a wrong shape, is another app's. */
const appId = z
  .unknown()
  .optional()
  .transform((value) => (value === undefined || value === null || value === '' ? undefined : nameOf(value)));
const nameOf = (value: unknown): string => (typeof value === 'string' ? value : 'not an id');

/** Slack, "Implementing slash commands". */
export const CommandPayload = z.object({
  team_id: id,
  enterprise_id: optionalId,
  channel_id: id,
  /** `mpdm-…` for a group message. People can choose names, so a name never grants anything. */
  channel_name: z.string().optional(),
  user_id: id,
  api_app_id: appId,
  command: z.string().default(''),
  text: z.string().default(''),
  trigger_id: z.string().min(1),
  response_url: z.string().optional(),
});
export type CommandPayload = z.infer<typeof CommandPayload>;

/**
 * The fields of every event's envelope (Slack, "Events API"). `event_time`: the time of the event, in seconds since
 * 1970.
 */
export const envelope = {
  team_id: id,
  enterprise_id: optionalId,
  api_app_id: appId,
  event_time: z.number().optional().catch(undefined),
};
/** The last editor of the message, and the time; absent if nobody has edited it. */
const edited = z.unknown().optional();

/** Slack, "app_mention event". */
export const MentionPayload = z.object({
  ...envelope,
  event: z.object({
    user: optional(id),
    bot_id: optional(z.string()),
    /** The writer's own team, which may differ in a shared channel. */
    user_team: optionalId,
    team: optionalId,
    channel: id,
    ts,
    thread_ts: optional(ts),
    text: optionalText,
    edited,
  }),
});
export type MentionPayload = z.infer<typeof MentionPayload>;

const directMessage = {
  user: optional(id),
  bot_id: optional(z.string()),
  subtype: optional(z.string()),
  ts,
  thread_ts: optional(ts),
  text: optionalText,
  edited,
};
/** Slack, "message.im event": `subtype` for edits, files and the like. An edit has the message, as it is and as it was. */
export const DirectPayload = z.object({
  ...envelope,
  event: z.object({
    ...directMessage,
    channel_type: z.string(),
    team: optionalId,
    channel: id,
    message: z.object(directMessage).optional().catch(undefined),
    previous_message: z.object({ text: z.string() }).optional().catch(undefined),
  }),
});
export type DirectPayload = z.infer<typeof DirectPayload>;

/** Slack, "member_joined_channel event". Somebody who joins by themselves has no inviter, or a "blank" one. */
export const JoinedPayload = z.object({
  ...envelope,
  event: z.object({ user: id, channel: id, team: optionalId, inviter: optionalId }),
});
export type JoinedPayload = z.infer<typeof JoinedPayload>;

/** Slack, "app_home_opened event". `channel`: the direct message with the bot; `tab`: which of the app's tabs it is. */
export const HomePayload = z.object({
  ...envelope,
  event: z.object({ user: id, channel: id, tab: z.string().max(40).default('') }),
});

/** Slack, "Interaction payloads". */
const interaction = {
  team: z.object({ id: optionalId, enterprise_id: optionalId }).nullish(),
  enterprise: z.object({ id: optionalId }).nullish(),
  api_app_id: appId,
  user: z.object({ id, team_id: optionalId }),
};
const Interaction = z.object(interaction);
export type Interaction = z.infer<typeof Interaction>;

const responseUrl = z.string().optional();
const triggerId = z.string().min(1);

/** A click on a button of a message (Slack, "block_actions payload"). For an ephemeral message, only its `ts` is present. */
export const ClickPayload = z.object({
  ...interaction,
  channel: z.object({ id }),
  container: z.object({ message_ts: ts, thread_ts: optional(ts) }),
  message: z.object({ thread_ts: optional(ts) }).nullish(),
  response_url: responseUrl,
  trigger_id: triggerId,
  actions: z.tuple([
    z.object({ action_id: z.string().min(1).max(MAX_ACTION_ID), value: z.string().max(MAX_BUTTON_VALUE).default('') }),
  ]),
});
export type ClickPayload = z.infer<typeof ClickPayload>;

/** Slack, "Legacy: Interactive message field guide": a click on a button of an attachment. It names no app. */
export const AlertPayload = z.object({
  ...interaction,
  channel: z.object({ id }),
  message_ts: ts,
  /** The message as it was; absent where Slack does not keep it. */
  original_message: z
    .object({
      thread_ts: optional(ts),
      text: optionalText,
      blocks: z.unknown().optional(),
      attachments: z.unknown().optional(),
    })
    .nullish(),
  response_url: responseUrl,
  trigger_id: triggerId,
  actions: z.tuple([z.object({ name: z.string().default(''), value: z.string().max(MAX_BUTTON_VALUE).default('') })]),
});
export type AlertPayload = z.infer<typeof AlertPayload>;

const SharedFile = z.object({ name: z.string(), size: z.number(), url_private: z.string() });
/** Drops files that are deleted, hidden or another company's: Slack sends little more than their id. */
const SharedFiles = z
  .array(SharedFile.nullable().catch(null))
  .optional()
  .catch(undefined)
  .transform((files) => files?.filter((file) => file !== null));

/** Slack, "Shortcuts". */
export const ShortcutPayload = z.object({
  ...interaction,
  channel: z.object({ id }),
  message: z.object({
    ts,
    thread_ts: optional(ts),
    text: optionalText,
    blocks: z.unknown().optional(),
    attachments: z.unknown().optional(),
    files: SharedFiles,
  }),
  response_url: responseUrl,
  trigger_id: triggerId,
});
export type ShortcutPayload = z.infer<typeof ShortcutPayload>;

/** Slack, "Shortcuts", a global one: it names no channel. */
export const GlobalShortcutPayload = z.object({ ...interaction, trigger_id: triggerId });

/** Slack, "view_submission payload". */
export const SubmissionPayload = z.object({
  ...interaction,
  trigger_id: triggerId.optional(),
  view: z.object({
    id: z.string().min(1).max(MAX_ACTION_ID),
    private_metadata: z.string().max(MAX_PRIVATE_METADATA),
    state: z.object({ values: FormState }),
  }),
});
export type SubmissionPayload = z.infer<typeof SubmissionPayload>;

/** A view's id, and the `hash` of the state that the person saw. */
const OpenView = z.object({
  id: z.string().min(1).max(MAX_ACTION_ID),
  hash: z.string().max(MAX_ACTION_ID),
  private_metadata: z.string().max(MAX_PRIVATE_METADATA),
});

/** A changed input of a view (Slack, "block_actions payload"), with what stands in all of them. */
export const ChangePayload = z.object({
  ...interaction,
  view: OpenView.extend({ state: z.object({ values: FormState }) }),
  actions: z.tuple([z.object({ action_id: z.string().min(1).max(MAX_ACTION_ID) })]),
});
export type ChangePayload = z.infer<typeof ChangePayload>;

/**
 * Words typed into an external select of a view (Slack, "block_suggestion payload"). Its `view.state` is what Slack knew
 * last, not what stands there (bolt-js issue 1146), so it is not read.
 */
export const SearchPayload = z.object({
  ...interaction,
  view: OpenView,
  action_id: z.string().min(1).max(MAX_ACTION_ID),
  block_id: z.string().max(MAX_ACTION_ID),
  /** The text typed so far; none yet when the menu opens. */
  value: optionalText.pipe(z.string().max(MAX_VALUE_LENGTH)),
});

/** A form's `private_metadata` (see `views/modal.ts`). Checked for its shape; not trusted. */
export const FormOrigin = z
  .string()
  .max(MAX_PRIVATE_METADATA)
  .transform((json, context): unknown => {
    try {
      return JSON.parse(json);
    } catch {
      context.addIssue({ code: 'custom', message: 'not JSON' });
      return z.NEVER;
    }
  })
  .pipe(
    z.object({
      name: z.string().min(1).max(MAX_CALLBACK_ID),
      value: z.string().max(MAX_PRIVATE_METADATA),
      channelId: id,
      threadTs: ts.exactOptional(),
    }),
  );
export type FormOrigin = z.infer<typeof FormOrigin>;
