import { createContext, useCallback, useContext, useSyncExternalStore } from 'react';
import type { StoredMessage } from '../../slack/state/message.ts';
import type { Line } from './state/connection.ts';
import type { Server } from './state/server.ts';
import type { Session } from './state/session.ts';
import type { Store } from './state/store.ts';
import type { World } from './state/world.ts';

/** What every part of the page may look at or ask. */
export interface Play {
  readonly world: Store<World>;
  readonly session: Store<Session>;
  readonly line: Store<Line>;
  readonly server: Server;
  /** The last error, until somebody dismisses it. */
  readonly notice: Store<string | undefined>;
}

export const PlayContext = createContext<Play | undefined>(undefined);

export function usePlay(): Play {
  const play = useContext(PlayContext);
  if (play === undefined) throw new Error('outside of the page');
  return play;
}

/** What `select` finds; drawn again only when that is another object. */
export function useWorld<T>(select: (world: World) => T): T {
  const { world } = usePlay();
  return useSyncExternalStore(world.subscribe, () => select(world.get()));
}

export function useSession<T>(select: (session: Session) => T): T {
  const { session } = usePlay();
  return useSyncExternalStore(session.subscribe, () => select(session.get()));
}

export function useLine(): Line {
  const { line } = usePlay();
  return useSyncExternalStore(line.subscribe, line.get);
}

/** Changes what this browser remembers. */
export function useRemember(): (change: Partial<Session> | ((now: Session) => Partial<Session>)) => void {
  const { session } = usePlay();
  return useCallback(
    (change) => session.set((now) => ({ ...now, ...(typeof change === 'function' ? change(now) : change) })),
    [session],
  );
}

/** How a person's name is written, whatever the id. */
export function useName(): (id: string) => string {
  const users = useWorld(({ team }) => team.users);
  return useCallback((id) => (id === 'USLACKBOT' ? 'Slackbot' : (users[id]?.real_name ?? id)), [users]);
}

export const isFromApp = (message: StoredMessage): boolean =>
  message.botId !== undefined || message.user === 'USLACKBOT';
