/**
 * A person as Slack knows them now. Only a `member` may request or vote. `sibling`: in our Enterprise organisation, but
 * only in its other workspaces.
 */
export interface Person {
  readonly userId: string;
  readonly teamId: string;
  readonly kind: 'member' | 'guest' | 'sibling' | 'outsider' | 'bot' | 'deactivated';
  /** For display, never for matching. */
  readonly name: string;
}

/**
 * People and channels. Throws `KdebugError slack_unreachable`, `slack_refused`; on a failure nobody is allowed
 * anything. With `sinceMs`, only answers to requests sent at that moment or later count.
 */
export interface Directory {
  /** Cached for at most 60 s. @throws KdebugError person_unknown */
  person(userId: string, sinceMs?: number): Promise<Person>;
  /** The members of a user group; never older than 5 s. @throws KdebugError usergroup_unknown */
  members(usergroupId: string, sinceMs?: number): Promise<ReadonlySet<string>>;
  /**
   * Slack's facts about a channel. Never older than 60 s, or 2 s where the bot is no member: an invitation counts at
   * once.
   * @throws KdebugError slack_channel_closed for a private channel without the bot
   */
  channel(channelId: string): Promise<ChannelFacts>;
  /**
   * The people in a channel that the bot can see; never older than 5 s, at most 2,000 of them.
   * @throws KdebugError slack_channel_closed; slack_refused with the fact `error` `too_many_members`
   */
  channelMembers(channelId: string, sinceMs?: number): Promise<ReadonlySet<string>>;
  /**
   * The channels that both a person and the bot are in, names by id. Never older than 5 s; of more than 9,000, the first ones.
   */
  channelsOf(userId: string): Promise<ReadonlyMap<string, string>>;
}

/** The facts of a conversation that kdebug uses (Slack, "Conversation object"). */
export interface ChannelFacts {
  /** Shared with another company (Slack Connect), or invited to be. */
  readonly isShared: boolean;
  /** The bot is in it, so it can post there. Always true for a direct message with the bot. */
  readonly isMember: boolean;
  /** Only its members know that it exists. */
  readonly isPrivate: boolean;
}
