import { type ReactNode, useMemo, useState } from 'react';
import type { SlackChannel } from '../../../slack/state/team.ts';
import { Composer } from '../composer/composer.tsx';
import { useName, useRemember, useSession, useWorld } from '../context.ts';
import { Guide } from '../guide/guide.tsx';
import { Icon } from '../parts/icon.tsx';
import { NO_MESSAGES } from '../state/messages.ts';
import { ephemeralsFor, isThreadUnread } from '../state/unread.ts';
import { logOf } from '../state/world.ts';
import { AppTabs } from './home.tsx';
import { MessageList, type ThreadBelow } from './message-list.tsx';
import { soughtIn, woven } from './row-parts.ts';
import { useRead } from './use-read.ts';
import { WithoutBot } from './without-bot.tsx';

/** The middle of the page: a channel or direct message. */
export function Channel({ channel }: { readonly channel: SlackChannel }): ReactNode {
  const world = useWorld((now) => now);
  const session = useSession((now) => now);
  const { person } = session;
  const { roots, replies } = logOf(world, channel.id);
  const own = useMemo(
    () => ephemeralsFor(world, session, channel.id).filter(({ threadTs }) => threadTs === undefined),
    [world, session, channel.id],
  );
  const messages = useMemo(() => woven(roots, own), [roots, own]);
  const newFrom = useRead(messages, channel.id);
  const [sent, setSent] = useState(0);
  const remember = useRemember();
  const onSend = (): void => {
    setSent(sent + 1);
    // The offers would cover the answer to what was typed without them.
    remember(({ example, guide }) => ({ guide: guide && example !== undefined }));
  };
  const threadOf = (root: string): ThreadBelow | undefined => {
    const thread = replies.get(root) ?? NO_MESSAGES;
    if (thread.length === 0) return undefined;
    return { replies: thread, unread: isThreadUnread(thread, session, { channel: channel.id, root }) };
  };
  const title = useTitle(channel);
  return (
    <main className="conversation" aria-label={title}>
      <Header channel={channel} title={title} />
      <WithoutBot channel={channel} />
      <MessageList
        key={`${person}/${channel.id}/${soughtIn(roots, session.sought) ?? ''}`}
        label={`Messages in ${title}`}
        messages={messages}
        person={person}
        newFrom={newFrom}
        sought={soughtIn(roots, session.sought)}
        sent={sent}
        intro={<Intro channel={channel} title={title} />}
        threadOf={threadOf}
      />
      <div className="foot">
        <Guide offers={channel.kind !== 'im'} />
        <Composer key={`${person}/${channel.id}`} channel={channel.id} label={`Message ${title}`} onSend={onSend} />
      </div>
    </main>
  );
}

function useTitle(channel: SlackChannel): string {
  const nameOf = useName();
  const bot = useWorld(({ botUserId }) => botUserId);
  if (channel.kind === 'im') return nameOf(bot);
  return `#${channel.name}`;
}

function Header({ channel, title }: { readonly channel: SlackChannel; readonly title: string }): ReactNode {
  const remember = useRemember();
  const guide = useSession((session) => session.guide);
  return (
    <header className="pane-head">
      <h1>
        {channel.kind === 'private' && <Icon name="lock" />} {title}
      </h1>
      <span className="small">
        {channel.members.length} {channel.members.length === 1 ? 'member' : 'members'}
      </span>
      <AppTabs channel={channel} />
      {!guide && (
        <button type="button" className="button button-small" onClick={() => remember({ guide: true })}>
          <Icon name="compass" /> Examples
        </button>
      )}
    </header>
  );
}

function Intro({ channel, title }: { readonly channel: SlackChannel; readonly title: string }): ReactNode {
  const hasExamples = useWorld(({ examples }) => examples.length > 0);
  const more = hasExamples ? ', or take an example' : '';
  return (
    <div className="intro">
      <h2>{title}</h2>
      <p>
        {channel.kind === 'im'
          ? 'Between you and the kdebug app.'
          : `This is the very beginning of the channel. Type /kdebug and a pod’s name${more}.`}
      </p>
    </div>
  );
}
