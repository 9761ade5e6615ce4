import type { ReactNode } from 'react';
import { useRemember, useSession } from '../context.ts';
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
        </button>
      ))}
    </nav>
  );
}
