import type { SlackChannel } from '../state/team.ts';
import type { Call } from './method.ts';
import { SlackError } from './slack-error.ts';

const PREFIX = { public: 'channels', private: 'groups', im: 'im', mpim: 'mpim' } as const;

/** The scopes that let a method of the family see any conversation at all. */
export function conversationScopes(right: 'read' | 'history'): readonly string[] {
  return [`channels:${right}`, `groups:${right}`, `im:${right}`, `mpim:${right}`];
}

/** Slack's answer for a right that the token lacks, with what is needed and what there is. */
export function missingScope(needed: readonly string[], provided: readonly string[]): SlackError {
  return new SlackError('missing_scope', { needed: needed.join(','), provided: provided.join(',') });
}

/** The channel, if the bot can see that it exists: a private one only as a member. @throws SlackError channel_not_found */
export function visibleChannel(call: Call, id: string): SlackChannel {
  const channel = call.slack.team.channels[id];
  if (channel === undefined) throw new SlackError('channel_not_found');
  if (channel.kind !== 'public' && !isMember(call, channel)) throw new SlackError('channel_not_found');
  return channel;
}

/** @throws SlackError missing_scope: reading a private channel takes `groups:*`, and so on by kind of channel */
export function requireRight(call: Call, channel: SlackChannel, right: 'read' | 'history'): void {
  const needed = `${PREFIX[channel.kind]}:${right}`;
  if (!call.token.scopes.includes(needed)) throw missingScope([needed], call.token.scopes);
}

export function isMember(call: Call, channel: SlackChannel): boolean {
  return channel.members.includes(call.slack.app.botUserId);
}

/**
 * Where the bot wants to speak: a channel's id, or a person's (their direct message).
 * @throws SlackError channel_not_found, not_in_channel (unless `chat:write.public`), is_archived
 */
export function writableChannel(call: Call, id: string): SlackChannel {
  const user = call.slack.team.users[id];
  if (user !== undefined) return call.slack.direct(id);
  const channel = visibleChannel(call, id);
  if (channel.is_archived) throw new SlackError('is_archived');
  if (!isMember(call, channel) && !call.token.scopes.includes('chat:write.public'))
    throw new SlackError('not_in_channel');
  return channel;
}
