import type { ReactNode } from 'react';
import type { SlackChannel } from '../../../slack/state/team.ts';
import { useName, useRemember, useSession, useWorld } from '../context.ts';
import { useDo } from '../conversation/use-do.ts';
import { Avatar } from '../parts/avatar.tsx';
import { Icon } from '../parts/icon.tsx';
import { unseenOf } from '../state/notified.ts';
import { placeAt } from '../state/session.ts';
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
        <NotifiedLink />
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
    <Line channel={channel.id} onPick={() => remember(placeAt(channel.id))}>
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
    if (channel !== undefined) remember(placeAt(channel));
  };
  return (
    <Line channel={direct?.id} onPick={() => void open()}>
      <Avatar id={bot} name={nameOf(bot)} small />
      {nameOf(bot)}
      <span className="badge">APP</span>
    </Line>
  );
}

function NotifiedLink(): ReactNode {
  const remember = useRemember();
  const person = useSession((session) => session.person);
  const isHere = useSession((session) => session.notices);
  const world = useWorld((now) => now);
  const waiting = useSession((session) => unseenOf(world, session, { person }));
  return (
    <button
      type="button"
      className={waiting > 0 ? 'rail-line rail-line-unread' : 'rail-line'}
      aria-current={isHere ? 'page' : undefined}
      onClick={() => remember({ notices: true, thread: undefined, sought: undefined, pane: 'conversation' })}
    >
      <span className="rail-mark" aria-hidden="true">
        <Icon name="bell" />
      </span>
      Notifications
      <Count of={waiting} what="new" />
    </button>
  );
}

/** A red number, for what asks for somebody's attention. */
function Count({ of, what }: { readonly of: number; readonly what: string }): ReactNode {
  if (of === 0) return null;
  return (
    <span className="count">
      {of}
      <span className="only-heard"> {what}</span>
    </span>
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
  const isHere = channel !== undefined && session.channel === channel && !session.notices;
  const unread = channel === undefined || isHere ? 0 : unreadIn(world, session, channel);
  const inThreads = channel !== undefined && hasUnreadThread(world, session, channel);
  const waiting = channel === undefined ? 0 : unseenOf(world, session, { person: session.person, channel });
  const className = ['rail-line', (unread > 0 || inThreads || waiting > 0) && 'rail-line-unread']
    .filter(Boolean)
    .join(' ');
  return (
    <button type="button" className={className} aria-current={isHere ? 'page' : undefined} onClick={onPick}>
      {children}
      {unread > 0 && <span className="only-heard"> {unread} unread</span>}
      <Count of={waiting} what={waiting === 1 ? 'notification' : 'notifications'} />
      {unread === 0 && waiting === 0 && inThreads && (
        <span className="dot">
          <span className="only-heard">unread replies</span>
        </span>
      )}
    </button>
  );
}
