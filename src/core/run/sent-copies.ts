/**
 * One message to an approver, still to be sent. It leaves the list when sent; kdebug looks for a doubtful one first.
 */
export type Notice =
  /** The whole card, in a direct message to one person. */
  | { readonly kind: 'copy'; readonly userId: string }
  /** The whole card, in a channel whose members may decide. */
  | { readonly kind: 'copy'; readonly channelId: string }
  /** Half of the time is over: a reply in a thread, or (without `threadTs`) a separate message. */
  | { readonly kind: 'reminder'; readonly channelId: string; readonly threadTs?: string };

/** A message about the run, elsewhere than its card. */
export interface Copy {
  readonly channelId: string;
  readonly ts: string;
  readonly userId?: string;
  /** The shown state (`shownOnCopies`); when that changes, the message needs an edit. */
  readonly shows: string;
  /** A reminder, edited only after a decision. */
  readonly isReminder?: true;
}

/**
 * The notices to approvers, besides the card. Saved before the first message is sent, so that any replica can continue,
 * and edit the sent ones.
 */
export interface SentCopies {
  readonly remindAtMs: number;
  readonly remindedAtMs?: number;
  /** Approvers see the card in its channel and get nothing else. */
  readonly here: boolean;
  readonly waiting: readonly Notice[];
  readonly copies: readonly Copy[];
  /** The number of further approvers who neither see the card nor get a message. */
  readonly beyond?: number;
  /** The number of approvers whom no message could reach. */
  readonly unreached?: number;
  /** Channels of approvers where the card could not be shown. */
  readonly closed?: readonly string[];
  /** Slack did not say who all the approvers are: they are looked for again at `atMs`; without it, now. */
  readonly again?: { readonly looks: number; readonly atMs?: number };
}
