import type { ReactNode } from 'react';
import type { SlackChannel } from '../../slack/state/team.ts';
import { Cluster } from './cluster/cluster.tsx';
import { useLine, useSession, useWorld } from './context.ts';
import { Announcer } from './conversation/announcer.tsx';
import { Channel } from './conversation/channel.tsx';
import { HomeTab } from './conversation/home.tsx';
import { Notified } from './conversation/notified.tsx';
import { Thread } from './conversation/thread.tsx';
import { Modal } from './forms/modal.tsx';
import { Notice } from './parts/notice.tsx';
import { PaneSwitch } from './rail/pane-switch.tsx';
import { Rail } from './rail/rail.tsx';

/** The whole page, once the server has said what there is. */
export function App(): ReactNode {
  const channelId = useSession((session) => session.channel);
  const thread = useSession((session) => session.thread);
  const pane = useSession((session) => session.pane);
  const notices = useSession((session) => session.notices);
  const person = useSession((session) => session.person);
  const channel = useWorld(({ team }) => team.channels[channelId]);
  const view = useWorld(({ views }) =>
    [...views.values()].findLast((one) => one.open && one.kind === 'modal' && one.user === person),
  );
  return (
    <div className="page" data-pane={pane} data-thread={thread !== undefined}>
      <AwayBanner />
      <PaneSwitch />
      <Rail />
      {notices ? <Notified /> : <Place channel={channel} />}
      {thread !== undefined && <Thread channel={channelId} root={thread} />}
      <Cluster />
      <Announcer />
      <Notice />
      {view !== undefined && <Modal key={view.id} stored={view} />}
    </div>
  );
}

function Place({ channel }: { readonly channel: SlackChannel | undefined }): ReactNode {
  const isHome = useSession(({ home }) => home);
  if (channel?.kind === 'im' && isHome) return <HomeTab channel={channel} />;
  if (channel !== undefined) return <Channel channel={channel} />;
  return (
    <main className="conversation">
      <p className="empty">This person is in no channel. Choose somebody else at the bottom left.</p>
    </main>
  );
}

function AwayBanner(): ReactNode {
  const line = useLine();
  return (
    <div className="banner" role="alert" hidden={line === 'open'}>
      {line === 'open' ? '' : 'The server is away; trying again …'}
    </div>
  );
}
