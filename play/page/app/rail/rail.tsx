import type { ReactNode } from 'react';
import type { SlackChannel } from '../../../slack/state/team.ts';
import { useName, useRemember, useSession, useWorld } from '../context.ts';
import { useDo } from '../conversation/use-do.ts';
import { Avatar } from '../parts/avatar.tsx';
import { Icon } from '../parts/icon.tsx';
import { hasUnreadThread, unreadIn } from '../state/unread.ts';
import { People } from './people.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

/** The left side: the workspace, its channels, the direct message with the app, and who one is. */
export function Rail(): ReactNode {
  const team = useWorld((world) => world.team);
  const person = useSession((session) => session.person);
  const channels = Object.values(team.channels).filter(
    ({ members, is_archived, kind }) => kind !== 'im' && !is_archived && members.includes(person),
  );
  return (
    <nav className="rail" aria-label="Workspace">
      <header className="rail-head">
        <strong>{team.name} Workspace</strong>
        <ThemeSwitch />
      </header>
      <div className="rail-lists">
        <h2>Channels</h2>
        <ul>
          {channels.map((channel) => (
            <li key={channel.id}>
              <ChannelLink channel={channel} />
            </li>
          ))}
          {channels.length === 0 && <li className="rail-empty">In no channel</li>}
        </ul>
        <h2>Direct messages</h2>
        <ul>
          <li>
            <DirectLink />
          </li>
        </ul>
      </div>
      <People />
    </nav>
  );
}

function ChannelLink({ channel }: { readonly channel: SlackChannel }): ReactNode {
  const remember = useRemember();
  return (
    <Line
      channel={channel.id}
      onPick={() => remember({ channel: channel.id, thread: undefined, pane: 'conversation' })}
    >
      <span className="rail-mark" aria-hidden="true">
        {channel.kind === 'private' ? <Icon name="lock" /> : '#'}
      </span>
      {channel.name}
    </Line>
  );
}

/** The direct message is made when somebody first goes there. */
function DirectLink(): ReactNode {
  const remember = useRemember();
  const act = useDo();
  const nameOf = useName();
  const person = useSession((session) => session.person);
  const bot = useWorld((world) => world.botUserId);
  const direct = useWorld(({ team }) =>
    Object.values(team.channels).find(({ kind, user }) => kind === 'im' && user === person),
  );
  const open = async (): Promise<void> => {
    const answer = direct === undefined ? await act({ kind: 'open-direct', user: person }) : undefined;
    const channel = direct?.id ?? (answer?.ok ? answer.channel : undefined);
    if (channel !== undefined) remember({ channel, thread: undefined, pane: 'conversation' });
  };
  return (
    <Line channel={direct?.id} onPick={() => void open()}>
      <Avatar id={bot} name={nameOf(bot)} small />
      {nameOf(bot)}
      <span className="badge">APP</span>
    </Line>
  );
}

interface LineProps {
  readonly channel: string | undefined;
  readonly onPick: () => void;
  readonly children: ReactNode;
}

function Line({ channel, onPick, children }: LineProps): ReactNode {
  const world = useWorld((now) => now);
  const session = useSession((now) => now);
  const isHere = channel !== undefined && session.channel === channel;
  const unread = channel === undefined || isHere ? 0 : unreadIn(world, session, channel);
  const inThreads = channel !== undefined && hasUnreadThread(world, session, channel);
  const className = ['rail-line', (unread > 0 || inThreads) && 'rail-line-unread'].filter(Boolean).join(' ');
  return (
    <button type="button" className={className} aria-current={isHere ? 'page' : undefined} onClick={onPick}>
      {children}
      {unread > 0 && (
        <span className="count">
          {unread}
          <span className="only-heard"> unread</span>
        </span>
      )}
      {unread === 0 && inThreads && (
        <span className="dot">
          <span className="only-heard">unread replies</span>
        </span>
      )}
    </button>
  );
}
