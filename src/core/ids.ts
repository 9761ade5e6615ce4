declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Ten characters of lower-case base32 (`a-z2-7`); short enough to type, 50 bits. */
export type RunId = Branded<'RunId'>;
/** A Slack channel id (`C…`, `G…`, `D…`); never a channel's name. */
export type ChannelId = Branded<'ChannelId'>;
/** A Slack user id (`U…`, `W…`); never a display name. */
export type UserId = Branded<'UserId'>;

/** Only these three make a branded id of a string. Callers have checked its shape or read it from a trusted record. */
export const asRunId = (text: string): RunId => text as RunId;
export const asChannelId = (text: string): ChannelId => text as ChannelId;
export const asUserId = (text: string): UserId => text as UserId;

/** Begins the id under which an alert source acts. A person has an id of Slack there, and no id of Slack has a colon. */
const ALERT = 'alert:';
export const userOfAlerts = (source: string): UserId => asUserId(`${ALERT}${source}`);
/** The alert source that acts under this id; undefined: a person does. */
export const alertSourceOf = (userId: string): string | undefined =>
  userId.startsWith(ALERT) ? userId.slice(ALERT.length) : undefined;

/** Ids of direct messages with one person; those of several people look like channels. */
export const isDirect = (channelId: string): boolean => /^D[A-Z0-9]/.test(channelId);

const RUN_ID = /^[a-z2-7]{10}$/;

/** Checks only the shape; there need not be such a run. */
export const isRunId = (text: string): text is RunId => RUN_ID.test(text);
