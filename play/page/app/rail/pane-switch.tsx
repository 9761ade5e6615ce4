import type { ReactNode } from 'react';
import { useRemember, useSession, useWorld } from '../context.ts';
import { unseenOf } from '../state/notified.ts';
import { PANES, type Pane } from '../state/session.ts';

const TITLES: Readonly<Record<Pane, string>> = {
  channels: 'Channels',
  conversation: 'Messages',
  thread: 'Thread',
  cluster: 'Cluster',
};

/** In a narrow window: which part of the page is shown. */
export function PaneSwitch(): ReactNode {
  const pane = useSession((session) => session.pane);
  const hasThread = useSession((session) => session.thread !== undefined);
  const remember = useRemember();
  const world = useWorld((now) => now);
  const waits = useSession((session) => unseenOf(world, session, { person: session.person }) > 0);
  return (
    <nav className="pane-switch" aria-label="Parts of the page">
      {PANES.filter((one) => one !== 'thread' || hasThread).map((one) => (
        <button
          key={one}
          type="button"
          aria-current={pane === one ? 'page' : undefined}
          onClick={() => remember({ pane: one })}
        >
          {TITLES[one]}
          {one === 'channels' && waits && (
            <span className="red-dot">
              <span className="only-heard"> new notifications</span>
            </span>
          )}
        </button>
      ))}
    </nav>
  );
}
