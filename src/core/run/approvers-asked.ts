/** One message to be sent to somebody who may decide. Sent once: what was sent leaves the list, and a doubtful one is looked for first. */
export type Notice =
  /** The whole card, in a direct message to one person. */
  | { readonly kind: 'copy'; readonly userId: string }
  /** The whole card, in a channel whose members may decide. */
  | { readonly kind: 'copy'; readonly channelId: string }
  /** Half of the time is over: a reply in a thread, or (without `threadTs`) a message of its own. */
  | { readonly kind: 'reminder'; readonly channelId: string; readonly threadTs?: string };

/** A message about the run that stands elsewhere than its card. */
export interface Copy {
  readonly channelId: string;
  readonly ts: string;
  /** Of a direct message: with whom. */
  readonly userId?: string;
  /** What it says (`shownOnCopies`): another value now means that it must be edited. */
  readonly shows: string;
  /** A reminder, which is edited only once there is a decision. */
  readonly isReminder?: true;
}

/**
 * How the people who may decide on a run were told of it, beside the card. Written before the first message is sent, so that any
 * replica can go on, and edit what was sent.
 */
export interface ApproversAsked {
  readonly remindAtMs: number;
  /** When the reminders were begun. */
  readonly remindedAtMs?: number;
  /** Whether people who may decide see the card where it stands, and have nothing else. */
  readonly here: boolean;
  /** Not sent yet. */
  readonly waiting: readonly Notice[];
  readonly copies: readonly Copy[];
  /** How many people more than kdebug writes to may decide and do not see the card. */
  readonly beyond?: number;
  /** Who could not be written to. */
  readonly unreached?: number;
  /** Channels of approvers where the card could not be shown. */
  readonly closed?: readonly string[];
}
