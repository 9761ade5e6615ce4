import type { StoredMessage } from '../../../slack/state/message.ts';
import { placeKey, type Session } from './session.ts';
import { logOf, type World } from './world.ts';

/** The `ts` up to which this person has read a channel or thread. */
export function readUpTo({ read, since, person }: Session, channel: string, thread?: string): string {
  const mark = read[placeKey(person, channel, thread)] ?? '0';
  return mark > since ? mark : since;
}

export const firstUnread = (
  messages: readonly StoredMessage[],
  upTo: string,
  person: string,
): StoredMessage | undefined => messages.find(({ ts, user }) => ts > upTo && user !== person);

/** What is for this person's eyes only, in one channel or thread, and was not dismissed. */
export const ephemeralsFor = (
  world: World,
  { person, dismissed }: Session,
  channel: string,
  thread?: string,
): StoredMessage[] =>
  world.ephemerals.filter(
    (one) =>
      one.visibleTo === person &&
      one.channel === channel &&
      (thread === undefined || one.threadTs === thread) &&
      !dismissed.includes(one.ts),
  );

/** How many messages of a channel, its threads left out, this person has not seen. */
export function unreadIn(world: World, session: Session, channel: string): number {
  const upTo = readUpTo(session, channel);
  const isNew = ({ ts, user }: StoredMessage): boolean => ts > upTo && user !== session.person;
  const own = ephemeralsFor(world, session, channel).filter((one) => one.threadTs === undefined);
  return logOf(world, channel).roots.filter(isNew).length + own.filter(isNew).length;
}

/** Whether a channel has a thread with replies that this person has not seen. */
export function hasUnreadThread(world: World, session: Session, channel: string): boolean {
  const { replies } = logOf(world, channel);
  return [...replies].some(([root, thread]) => isThreadUnread(thread, session, { channel, root }));
}

export function isThreadUnread(
  thread: readonly StoredMessage[],
  session: Session,
  { channel, root }: { readonly channel: string; readonly root: string },
): boolean {
  return firstUnread(thread, readUpTo(session, channel, root), session.person) !== undefined;
}
