import type { ReactNode } from 'react';
import { useWorld } from '../context.ts';
import { useNow } from '../parts/now.ts';
import { agoOf } from '../text/date.ts';

/** Newest first. */
export function Events(): ReactNode {
  const events = useWorld((world) => world.events);
  const now = useNow(5_000);
  if (events.length === 0) return <p className="empty">No events yet.</p>;
  return (
    <ol className="events">
      {events.toReversed().map(({ uid, type, reason, message, pod, count, atMs }) => (
        <li key={uid} className={type === 'Warning' ? 'event event-warning' : 'event'}>
          <p className="event-head">
            <strong>{reason}</strong>
            <span>{pod}</span>
            {count > 1 && <span>×{count}</span>}
            <time dateTime={new Date(atMs).toISOString()}>{agoOf(atMs, now)}</time>
          </p>
          <p className="event-words">{message}</p>
        </li>
      ))}
    </ol>
  );
}
