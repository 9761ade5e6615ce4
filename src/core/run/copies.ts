import type { PostRef, Run } from './run.ts';

/** What every copy says of a run: the votes while it waits for more, then that it is decided. Equal texts mean equal copies. */
export function shownOnCopies({ state, approval }: Pick<Run, 'state' | 'approval'>): string {
  const votes = approval?.votes.map(({ userId }) => userId).join(' ') ?? '';
  if (state === 'pending-approval') return `waiting ${votes}`.trimEnd();
  return ENDED_BY_PEOPLE.has(state) ? state : 'approved';
}

const ENDED_BY_PEOPLE: ReadonlySet<string> = new Set(['rejected', 'expired', 'cancelled']);

/** Copies that say something else than they should by now. */
export function staleCopies({ asked, ...run }: Pick<Run, 'asked' | 'state' | 'approval'>): readonly Copy[] {
  const now = shownOnCopies(run);
  const isOpen = run.state === 'pending-approval';
  return (asked?.copies ?? []).filter(({ shows, isReminder }) => shows !== now && !(isOpen && isReminder));
}

/**
 * Until when a run that waits for votes needs nobody: the reminder, then the expiry. Undefined: its card does not stand yet, or somebody
 * is still to be told.
 */
export function waitsUntilMs(run: Run): number | undefined {
  const { asked, approval, delivery } = run;
  if (!delivery.anchor || !asked || asked.waiting.length > 0 || staleCopies(run).length > 0) return undefined;
  const expiresAtMs = approval?.expiresAtMs;
  if (expiresAtMs === undefined) return undefined;
  return asked.remindedAtMs === undefined ? Math.min(asked.remindAtMs, expiresAtMs) : expiresAtMs;
}

export const isSamePost = (a: PostRef, b: PostRef): boolean => a.channelId === b.channelId && a.ts === b.ts;

/** Whether a message is the run's card, or a copy of it with the same buttons. */
export function isCardOf({ delivery, asked }: Run, ref: PostRef): boolean {
  const cards = [...(delivery.anchor ? [delivery.anchor] : []), ...(asked?.copies ?? [])];
  return cards.some((card) => isSamePost(card, ref));
}

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
