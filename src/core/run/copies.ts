import type { Run } from './run.ts';
import type { PostRef } from './run-state.ts';
import type { Copy } from './sent-copies.ts';

/** The state that every copy shows: the votes so far, then the decision. Equal texts mean equal copies. */
export function shownOnCopies({ state, approval }: Pick<Run, 'state' | 'approval'>): string {
  const votes = approval?.votes.map(({ userId }) => userId).join(' ') ?? '';
  if (state === 'pending-approval') return `waiting ${votes}`.trimEnd();
  return ENDED_BY_PEOPLE.has(state) ? state : 'approved';
}

const ENDED_BY_PEOPLE: ReadonlySet<string> = new Set(['rejected', 'expired', 'cancelled']);

export function staleCopies({ asked: sent, ...run }: Pick<Run, 'asked' | 'state' | 'approval'>): readonly Copy[] {
  const now = shownOnCopies(run);
  const isOpen = run.state === 'pending-approval';
  return (sent?.copies ?? []).filter(({ shows, isReminder }) => shows !== now && !(isOpen && isReminder));
}

/**
 * The time at which a run that waits for votes next needs a replica: at the next look for approvers, at the reminder,
 * then at the expiry. Undefined: now, because its card is not posted yet, or an approver not yet notified, or looked
 * for.
 */
export function waitsUntilMs(run: Run): number | undefined {
  const { asked: sent, approval, delivery } = run;
  if (!delivery.anchor || !sent || sent.waiting.length > 0 || staleCopies(run).length > 0) return undefined;
  const expiresAtMs = approval?.expiresAtMs;
  if (expiresAtMs === undefined) return undefined;
  const { again, remindAtMs, remindedAtMs } = sent;
  if (again && again.atMs === undefined) return undefined;
  return Math.min(expiresAtMs, again?.atMs ?? expiresAtMs, remindedAtMs === undefined ? remindAtMs : expiresAtMs);
}

export const isSamePost = (a: PostRef, b: PostRef): boolean => a.channelId === b.channelId && a.ts === b.ts;

/** A card is the run's own, or a copy with the same buttons. */
export function isCardOf({ delivery, asked: sent }: Run, ref: PostRef): boolean {
  const cards = [...(delivery.anchor ? [delivery.anchor] : []), ...(sent?.copies ?? [])];
  return cards.some((card) => isSamePost(card, ref));
}
