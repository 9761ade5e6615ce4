import { memo, type ReactNode } from 'react';
import type { StoredMessage } from '../../../slack/state/message.ts';
import { useName, useRemember } from '../context.ts';
import { Avatar } from '../parts/avatar.tsx';
import { useNow } from '../parts/now.ts';
import { agoOf, msOf } from '../text/date.ts';

interface Props {
  readonly root: string;
  readonly replies: readonly StoredMessage[];
  readonly unread: boolean;
}

/** Under a message with a thread: who replied, how often, when last; opens it. */
export const ReplyBar = memo(({ root, replies, unread }: Props): ReactNode => {
  const remember = useRemember();
  const nameOf = useName();
  const now = useNow(15_000);
  const last = replies.at(-1);
  if (last === undefined) return null;
  const people = [...new Set(replies.map(({ user }) => user))].slice(0, 4);
  return (
    <button
      type="button"
      className={unread ? 'reply-bar reply-bar-unread' : 'reply-bar'}
      onClick={() => remember({ thread: root, pane: 'thread' })}
    >
      {people.map((id) => (
        <Avatar key={id} id={id} name={nameOf(id)} small />
      ))}
      <span className="reply-count">
        {replies.length} {replies.length === 1 ? 'reply' : 'replies'}
      </span>
      {unread && <span className="badge badge-new">New</span>}
      <span className="reply-last">Last reply {agoOf(msOf(last.ts), now)}</span>
    </button>
  );
});
