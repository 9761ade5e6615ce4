import type { ApproversAsked, Notice } from '../core/run/approvers-asked.ts';
import type { Run } from '../core/run/run.ts';
import type { Place } from './ports/slack.ts';

export const placeOf = ({
  channelId,
  threadTs,
}: {
  readonly channelId: string;
  readonly threadTs?: string;
}): Place => ({
  channelId,
  ...(threadTs !== undefined && { threadTs }),
});

/** A reminder that is lost is no more than that. */
export function lost(asked: ApproversAsked, notice: Notice): ApproversAsked {
  if (notice.kind === 'reminder') return asked;
  if ('userId' in notice) return { ...asked, unreached: (asked.unreached ?? 0) + 1 };
  return { ...asked, closed: [...(asked.closed ?? []), notice.channelId] };
}

/** In the card's thread where those who decide see it, in the thread of each direct message, and once more in their own channel. */
export function remindersOf({ delivery, origin, approval }: Run, { here, copies }: ApproversAsked): readonly Notice[] {
  const { anchor } = delivery;
  const voted = new Set(approval?.votes.map(({ userId }) => userId));
  const atCard: readonly Notice[] =
    here && anchor && delivery.anchorGone !== true
      ? [{ kind: 'reminder', channelId: anchor.channelId, threadTs: origin.threadTs ?? anchor.ts }]
      : [];
  const others = copies
    .filter(({ userId, isReminder }) => !isReminder && !(userId !== undefined && voted.has(userId)))
    .map(
      ({ userId, channelId, ts }): Notice => ({
        kind: 'reminder',
        channelId,
        ...(userId !== undefined && { threadTs: ts }),
      }),
    );
  return [...atCard, ...others];
}
