import { type ReactNode, useEffect } from 'react';
import type { SlackChannel } from '../../../slack/state/team.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { useName, useRemember, useSession, useWorld } from '../context.ts';
import { objectsOf, stringOf } from '../json.ts';
import { useDo } from './use-do.ts';

/** What the app shows this person on its Home tab. Going there tells the app, as in Slack. */
export function HomeTab({ channel }: { readonly channel: SlackChannel }): ReactNode {
  const act = useDo();
  const nameOf = useName();
  const person = useSession((session) => session.person);
  const bot = useWorld(({ botUserId }) => botUserId);
  const home = useWorld(({ views }) =>
    [...views.values()].findLast((one) => one.kind === 'home' && one.user === person),
  );
  useEffect(() => {
    void act({ kind: 'open-home', user: person, tab: 'home' });
  }, [act, person]);
  return (
    <main className="conversation" aria-label={`Home of ${nameOf(bot)}`}>
      <header className="pane-head">
        <h1>{nameOf(bot)}</h1>
        <AppTabs channel={channel} />
      </header>
      <section className="home" aria-label="Home">
        {home === undefined ? (
          <p className="empty">This app has not shown anything here yet.</p>
        ) : (
          objectsOf(home.view.blocks).map((block) => <Blocks key={stringOf(block.block_id)} blocks={[block]} />)
        )}
      </section>
    </main>
  );
}

/** The two tabs of the app, where it has a Home. */
export function AppTabs({ channel }: { readonly channel: SlackChannel }): ReactNode {
  const remember = useRemember();
  const hasHome = useWorld((world) => world.hasHome);
  const isHome = useSession(({ home }) => home);
  if (channel.kind !== 'im' || !hasHome) return null;
  return (
    <nav className="app-tabs" aria-label="The app">
      <button
        type="button"
        className="button button-small"
        aria-current={isHome ? 'page' : undefined}
        onClick={() => remember({ home: true, thread: undefined })}
      >
        Home
      </button>
      <button
        type="button"
        className="button button-small"
        aria-current={isHome ? undefined : 'page'}
        onClick={() => remember({ home: false })}
      >
        Messages
      </button>
    </nav>
  );
}
