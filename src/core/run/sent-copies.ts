/** One message to an approver, still to be sent. It leaves the list once it is sent; kdebug looks for a doubtful one first. */
export type Notice =
  /** The whole card, in a direct message to one person. */
  | { readonly kind: 'copy'; readonly userId: string }
  /** The whole card, in a channel whose members may decide. */
  | { readonly kind: 'copy'; readonly channelId: string }
  /** Half of the time is over: a reply in a thread, or (without `threadTs`) a message of its own. */
  | { readonly kind: 'reminder'; readonly channelId: string; readonly threadTs?: string };

/** A message about the run, elsewhere than its card. */
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
 * How approvers are notified, beside the card. Saved before the first message is sent, so that any replica can continue, and edit
 * what was sent.
 */
export interface SentCopies {
  readonly remindAtMs: number;
  /** When kdebug began to send the reminders. */
  readonly remindedAtMs?: number;
  /** Whether approvers see the card in its channel and get nothing else. */
  readonly here: boolean;
  /** Not sent yet. */
  readonly waiting: readonly Notice[];
  readonly copies: readonly Copy[];
  /** How many further approvers neither see the card nor get a message. */
  readonly beyond?: number;
  /** How many could not be sent a message. */
  readonly unreached?: number;
  /** Channels of approvers where the card could not be shown. */
  readonly closed?: readonly string[];
}
