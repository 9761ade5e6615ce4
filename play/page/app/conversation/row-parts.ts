import type { StoredMessage } from '../../../slack/state/message.ts';
import { dayOf, msOf } from '../text/date.ts';

const SAME_BREATH_MS = 5 * 60_000;

/** A message that follows its writer's own within five minutes is drawn without name and picture. */
export function isContinued(before: StoredMessage | undefined, message: StoredMessage): boolean {
  if (before === undefined || before.user !== message.user) return false;
  if ((before.visibleTo === undefined) !== (message.visibleTo === undefined) || before.tombstone) return false;
  return msOf(message.ts) - msOf(before.ts) < SAME_BREATH_MS && dayOf(msOf(before.ts)) === dayOf(msOf(message.ts));
}

/** Ephemeral messages stand where they arrived. Both lists are in order; so is the answer. */
export function woven(kept: readonly StoredMessage[], own: readonly StoredMessage[]): readonly StoredMessage[] {
  if (own.length === 0) return kept;
  return [...kept, ...own].sort((one, other) => (one.ts < other.ts ? -1 : one.ts > other.ts ? 1 : 0));
}

/** The message that one came for, when it is one of these. */
export const soughtIn = (messages: readonly StoredMessage[], sought: string | undefined): string | undefined =>
  messages.some(({ ts }) => ts === sought) ? sought : undefined;
