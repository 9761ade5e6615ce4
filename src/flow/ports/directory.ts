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
 * The age that an answer may have. A moment: only answers to questions sent then or later count, for what is decided
 * now. `shown`: for what is only shown; where Slack takes no more questions, the last known answer, at most 10 minutes
 * old. Absent: 60 s.
 */
export type HowFresh = number | 'shown';

/**
 * People and channels. Throws `KdebugError slack_unreachable`, `slack_refused`; on a failure nobody is allowed
 * anything. Lists of people have a number of calls a minute, a part of which is kept for what is not only shown: else `slack_busy`.
 */
export interface Directory {
  /** Cached for at most 60 s; with `sinceMs`, only answers to requests sent then or later. @throws KdebugError person_unknown */
  person(userId: string, sinceMs?: number): Promise<Person>;
  /** The members of a user group. @throws KdebugError usergroup_unknown */
  members(usergroupId: string, howFresh?: HowFresh): Promise<ReadonlySet<string>>;
  /**
   * Slack's facts about a channel. Never older than 60 s, or 2 s where the bot is no member: an invitation counts at
   * once.
   * @throws KdebugError slack_channel_closed for a private channel without the bot
   */
  channel(channelId: string): Promise<ChannelFacts>;
  /**
   * The people in a channel that the bot can see, at most 2,000 of them.
   * @throws KdebugError slack_channel_closed; slack_refused with the fact `error` `too_many_members`
   */
  channelMembers(channelId: string, howFresh?: HowFresh): Promise<ReadonlySet<string>>;
  /**
   * True if both the bot and this person are in a channel of at most 10,000 people.
   * @throws KdebugError as above if that is not known: then neither yes nor no
   */
  areTogetherIn(channelId: string, userId: string, howFresh?: HowFresh): Promise<boolean>;
}

/** The facts of a conversation that kdebug uses (Slack, "Conversation object"). */
export interface ChannelFacts {
  /** Without `#`; empty for a direct message. For display, never for matching. */
  readonly name: string;
  /** Shared with another company (Slack Connect), or invited to be. */
  readonly isShared: boolean;
  /** The bot is in it, and it is not archived, so it can post there. Always true for a direct message with the bot. */
  readonly isMember: boolean;
  /** Only its members know that it exists. */
  readonly isPrivate: boolean;
}
