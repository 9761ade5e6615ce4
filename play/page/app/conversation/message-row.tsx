import { memo, type ReactNode, useMemo, useState } from 'react';
import type { StoredMessage } from '../../../slack/state/message.ts';
import { Attachments } from '../blocks/attachments.tsx';
import { Blocks } from '../blocks/blocks.tsx';
import { RichText } from '../blocks/rich-text.tsx';
import { SurfaceContext } from '../blocks/surface.ts';
import { isFromApp, useName } from '../context.ts';
import { Avatar } from '../parts/avatar.tsx';
import { dayTitle, msOf, timeOf } from '../text/date.ts';
import { richTextOf } from '../text/mrkdwn.ts';
import { FileCard } from './file-card.tsx';
import { PrivateNote } from './private-note.tsx';
import { Reactions } from './reactions.tsx';
import { ReplyBar } from './reply-bar.tsx';
import { Toolbar } from './toolbar.tsx';
import { useDo } from './use-do.ts';

interface Props {
  readonly message: StoredMessage;
  readonly person: string;
  readonly continued: boolean;
  readonly inThread: boolean;
  /** Of the thread under it. */
  readonly replies?: readonly StoredMessage[] | undefined;
  readonly threadUnread?: boolean;
}

/** One message. It is drawn again only when it, or who looks, changes. */
export const MessageRow = memo(({ message, person, continued, inThread, replies, threadUnread = false }: Props) => {
  const [near, setNear] = useState(false);
  const nameOf = useName();
  const name = nameOf(message.user);
  const isPrivate = message.visibleTo !== undefined;
  const moment = msOf(message.ts);
  const className = ['message', continued && 'message-continued', isPrivate && 'message-private'];
  return (
    <article
      className={className.filter(Boolean).join(' ')}
      aria-label={`${name}, ${timeOf(moment)}${isPrivate ? ', only visible to you' : ''}`}
      tabIndex={-1}
      data-ts={message.ts}
      onMouseEnter={() => setNear(true)}
      onMouseLeave={() => setNear(false)}
      onFocus={() => setNear(true)}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setNear(false);
      }}
    >
      {isPrivate && <PrivateNote ts={message.ts} />}
      <div className="message-gutter">
        {continued ? (
          <time className="message-time-small">{timeOf(moment).replace(/ [AP]M$/, '')}</time>
        ) : (
          <Avatar id={message.user} name={name} />
        )}
      </div>
      <div className="message-main">
        {!continued && (
          <p className="message-head">
            <strong className="message-name">{name}</strong>
            {isFromApp(message) && <span className="badge">APP</span>}
            <time
              className="message-time"
              dateTime={new Date(moment).toISOString()}
              title={`${dayTitle(moment, { nowMs: Date.now() })} at ${timeOf(moment)}`}
            >
              {timeOf(moment)}
            </time>
          </p>
        )}
        <Body message={message} person={person} />
        <Reactions message={message} person={person} />
        {replies !== undefined && <ReplyBar root={message.ts} replies={replies} unread={threadUnread} />}
      </div>
      {near && !message.tombstone && <Toolbar message={message} inThread={inThread} />}
    </article>
  );
});

function Body({ message, person }: { readonly message: StoredMessage; readonly person: string }): ReactNode {
  const act = useDo();
  const { channel, ts } = message;
  const surface = useMemo(
    () => ({
      press: async (blockId: string, actionId: string, chosen?: readonly string[]) => {
        const pressed = { kind: 'press', user: person, channel, ts, blockId, actionId } as const;
        await act(chosen === undefined ? pressed : { ...pressed, chosen });
      },
    }),
    [act, person, channel, ts],
  );
  if (message.tombstone) return <p className="tombstone">This message was deleted.</p>;
  return (
    <SurfaceContext value={surface}>
      {message.blocks.length > 0 ? (
        <Blocks blocks={message.blocks} />
      ) : (
        <RichText parts={richTextOf(message.text, { marks: message.mrkdwn !== false })} />
      )}
      {message.attachments !== undefined && (
        <Attachments
          attachments={message.attachments}
          press={async (label) => void (await act({ kind: 'press-attachment', user: person, channel, ts, label }))}
        />
      )}
      {message.edited !== undefined && <span className="edited">(edited)</span>}
      {message.files.map((id) => (
        <FileCard key={id} id={id} />
      ))}
    </SurfaceContext>
  );
}
