import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useName, usePlay } from '../context.ts';
import { NO_MESSAGES } from '../state/messages.ts';
import { ephemeralsFor } from '../state/unread.ts';
import { logOf } from '../state/world.ts';

/** Tells a screen reader of each new message of the open channel, its threads included, once; updates are left unsaid. */
export function Announcer(): ReactNode {
  const { world, session } = usePlay();
  const nameOf = useName();
  const [said, setSaid] = useState('');
  const heard = useRef<{ place: string; ts: string }>(undefined);
  useEffect(() => {
    const look = (): void => {
      const { person, channel, thread } = session.get();
      const { roots, replies } = logOf(world.get(), channel);
      const lists = [
        roots,
        replies.get(thread ?? '') ?? NO_MESSAGES,
        ephemeralsFor(world.get(), session.get(), channel),
      ];
      const latest = lists.map((list) => list.at(-1)).filter((one) => one !== undefined);
      const newest = latest.sort((one, other) => (one.ts < other.ts ? -1 : 1)).at(-1);
      const place = `${person}/${channel}`;
      const before = heard.current;
      heard.current = { place, ts: newest?.ts ?? '' };
      if (newest === undefined || before?.place !== place || newest.ts <= before.ts || newest.user === person) return;
      setSaid(`${nameOf(newest.user)}: ${newest.text.slice(0, 300)}`);
    };
    look();
    return world.subscribe(look);
  }, [world, session, nameOf]);
  return (
    <div className="only-heard" role="status" aria-live="polite">
      {said}
    </div>
  );
}
