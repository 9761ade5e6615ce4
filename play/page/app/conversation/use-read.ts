import { useEffect, useRef } from 'react';
import type { StoredMessage } from '../../../slack/state/message.ts';
import { usePlay, useRemember } from '../context.ts';
import { type Pane, placeKey } from '../state/session.ts';
import { firstUnread, readUpTo } from '../state/unread.ts';

/**
 * What is on the screen counts as read. The answer is the first message that was new when this person came here: the line
 * "New" stays over it until they leave.
 */
export function useRead(messages: readonly StoredMessage[], channel: string, thread?: string): string | undefined {
  const { session } = usePlay();
  const remember = useRemember();
  const { person } = session.get();
  const key = placeKey(person, channel, thread);
  const entered = useRef<{ key: string; newFrom: string | undefined }>(undefined);
  if (entered.current?.key !== key) {
    const first = firstUnread(messages, readUpTo(session.get(), channel, thread), person);
    entered.current = { key, newFrom: first?.ts };
  }
  const last = messages.at(-1)?.ts;
  useEffect(() => {
    if (!isOnScreen(session.get().pane, thread)) return;
    if (last === undefined || last <= readUpTo(session.get(), channel, thread)) return;
    remember(({ read }) => ({ read: { ...read, [key]: last } }));
  });
  return entered.current.newFrom;
}

/** As in styles/narrow.css: there, one part of the page is shown at a time. */
const NARROW = '(max-width: 940px)';

const isOnScreen = (pane: Pane, thread: string | undefined): boolean =>
  !matchMedia(NARROW).matches || pane === (thread === undefined ? 'conversation' : 'thread');
