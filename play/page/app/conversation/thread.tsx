import { type ReactNode, useMemo, useState } from 'react';
import { Composer } from '../composer/composer.tsx';
import { useRemember, useSession, useWorld } from '../context.ts';
import { NO_MESSAGES } from '../state/messages.ts';
import { ephemeralsFor } from '../state/unread.ts';
import { logOf } from '../state/world.ts';
import { MessageList } from './message-list.tsx';
import { soughtIn, woven } from './row-parts.ts';
import { useRead } from './use-read.ts';

/** The side panel: a message and its replies. */
export function Thread({ channel, root }: { readonly channel: string; readonly root: string }): ReactNode {
  const world = useWorld((now) => now);
  const session = useSession((now) => now);
  const remember = useRemember();
  const { roots, replies } = logOf(world, channel);
  const first = roots.find(({ ts }) => ts === root);
  const thread = replies.get(root) ?? NO_MESSAGES;
  const messages = useMemo(() => {
    const own = ephemeralsFor(world, session, channel, root);
    return woven(first === undefined ? thread : [first, ...thread], own);
  }, [world, session, channel, root, first, thread]);
  const newFrom = useRead(messages, channel, root);
  const [sent, setSent] = useState(0);
  const name = world.team.channels[channel]?.name ?? '';
  return (
    <aside className="thread" aria-label="Thread">
      <header className="pane-head">
        <h2>Thread</h2>
        <span className="small">#{name}</span>
        <button
          type="button"
          className="icon-button"
          aria-label="Close thread"
          onClick={() => remember({ thread: undefined, pane: 'conversation' })}
        >
          ✕
        </button>
      </header>
      <MessageList
        key={`${session.person}/${root}/${soughtIn(thread, session.sought) ?? ''}`}
        label="Messages in the thread"
        messages={messages}
        sought={soughtIn(thread, session.sought)}
        person={session.person}
        newFrom={newFrom === root ? undefined : newFrom}
        // The message itself was seen in the channel: what is new begins with its first reply.
        from={newFrom === root ? thread[0]?.ts : newFrom}
        sent={sent}
        inThread
      />
      <div className="foot">
        <Composer
          key={`${session.person}/${root}`}
          channel={channel}
          thread={root}
          label="Reply…"
          onSend={() => setSent(sent + 1)}
        />
      </div>
    </aside>
  );
}
