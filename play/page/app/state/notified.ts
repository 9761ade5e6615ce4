import type { Notification } from '../../../slack/state/message.ts';
import type { Session } from './session.ts';
import { readUpTo } from './unread.ts';
import type { World } from './world.ts';

/** What this person was notified of, newest first. */
export const notifiedOf = (world: World, person: string): readonly Notification[] =>
  world.notified.filter(({ user }) => user === person).reverse();

/** A notification is done with once its message was on the screen. */
export const isUnseen = (session: Session, { user, channel, ts, threadTs }: Notification): boolean =>
  ts > readUpTo({ ...session, person: user }, channel, threadTs);

/** How many notifications wait for a person, in all places or in one. */
export const unseenOf = (world: World, session: Session, of: { person: string; channel?: string }): number =>
  world.notified.filter(
    (one) =>
      one.user === of.person && (of.channel === undefined || one.channel === of.channel) && isUnseen(session, one),
  ).length;
