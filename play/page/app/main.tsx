import './styles/theme.css';
import './styles/page.css';
import './styles/rail.css';
import './styles/message.css';
import './styles/blocks.css';
import './styles/composer.css';
import './styles/cluster.css';
import './styles/windows.css';
import './styles/notified.css';
import './styles/emoji.css';
import './styles/narrow.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { PlayContext } from './context.ts';
import { followSystem } from './rail/theme.ts';
import { type Line, listen } from './state/connection.ts';
import { serverWith } from './state/server.ts';
import { keepSession, openSession, type Session } from './state/session.ts';
import { createStore, type Store } from './state/store.ts';
import { applyChange, type World, worldOf } from './state/world.ts';

const server = serverWith(new URLSearchParams(location.search).get('token') ?? '');
const line = createStore<Line>('connecting');
const notice = createStore<string | undefined>(undefined);

/** What the first snapshot made; the next ones change what is in it. */
let stores: { world: Store<World>; session: Store<Session> } | undefined;

followSystem();
listen(server.eventsUrl(), {
  onLine: (now) => line.set(() => now),
  onChanges: (changes) => stores?.world.set((world) => changes.reduce(applyChange, world)),
  onSnapshot(snapshot) {
    const world = worldOf(snapshot);
    const isSame = stores?.world.get().world === snapshot.world;
    if (stores === undefined) stores = open(world, openSession(snapshot, sessionStorage));
    else {
      stores.world.set(() => world);
      const { session } = stores;
      if (!isSame) session.set(() => openSession(snapshot, sessionStorage));
    }
  },
});

function open(initial: World, begun: Session): { world: Store<World>; session: Store<Session> } {
  const world = createStore(initial);
  const session = createStore(begun);
  session.subscribe(() => keepSession(world.get().world, session.get(), sessionStorage));
  const place = document.getElementById('root');
  if (place === null) throw new Error('the page has no #root');
  createRoot(place).render(
    <StrictMode>
      <PlayContext value={{ world, session, line, server, notice }}>
        <App />
      </PlayContext>
    </StrictMode>,
  );
  return { world, session };
}
