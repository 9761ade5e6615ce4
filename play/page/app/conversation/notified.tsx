import type { ReactNode } from 'react';
import type { Notification } from '../../../slack/state/message.ts';
import { Words } from '../blocks/words.tsx';
import { useName, useRemember, useSession, useWorld } from '../context.ts';
import { Avatar } from '../parts/avatar.tsx';
import { Scroller } from '../parts/scroller.tsx';
import { isUnseen, notifiedOf } from '../state/notified.ts';
import { placeAt } from '../state/session.ts';
import { logOf, type World } from '../state/world.ts';
import { msOf, timeOf } from '../text/date.ts';

const REASONS: Readonly<Record<Notification['why'], string>> = {
  mention: 'You were named',
  group: 'Your group was named',
  direct: 'Direct message',
  thread: 'In a thread you follow',
};

/** Everything that Slack notified this person of: who, where, why, and what the notification said. */
export function Notified(): ReactNode {
  const world = useWorld((now) => now);
  const person = useSession((session) => session.person);
  const nameOf = useName();
  const all = notifiedOf(world, person);
  return (
    <main className="conversation" aria-label="You were notified">
      <header className="pane-head">
        <h1>You were notified</h1>
        <span className="small">{nameOf(person)}</span>
      </header>
      <Scroller className="list" label="Notifications">
        <p className="notified-rule">
          Slack notifies a person who is named (by name, or by their group) in a channel that they are in, of direct
          messages, and of replies in a thread that they follow. An edit notifies nobody. A phone shows the text of a
          message and nothing else, a desktop the words of its blocks.
        </p>
        <ul>
          {all.map((one) => (
            <li key={`${one.channel}/${one.ts}`}>
              <Entry notification={one} writer={writerOf(world, one)} />
            </li>
          ))}
        </ul>
        {all.length === 0 && <p className="empty">Nothing yet.</p>}
      </Scroller>
    </main>
  );
}

interface EntryProps {
  readonly notification: Notification;
  readonly writer: string;
}

function Entry({ notification, writer }: EntryProps): ReactNode {
  const remember = useRemember();
  const nameOf = useName();
  const isNew = useSession((session) => isUnseen(session, notification));
  const place = useWorld(({ team }) => team.channels[notification.channel]);
  const { channel, ts, threadTs, why, phone, desktop } = notification;
  const where = place === undefined || place.kind === 'im' ? 'with you alone' : `#${place.name}`;
  return (
    <button
      type="button"
      className={isNew ? 'notified notified-new' : 'notified'}
      onClick={() => remember(placeAt(channel, { thread: threadTs, ts }))}
    >
      <Avatar id={writer} name={nameOf(writer)} />
      <span className="notified-words">
        <span className="notified-head">
          <strong>{nameOf(writer)}</strong>
          <span>
            {where}
            {threadTs !== undefined && ', in a thread'}
          </span>
          <time>{timeOf(msOf(ts))}</time>
        </span>
        <span className="badge notified-why">{REASONS[why]}</span>
        <Said where="Desktop" words={desktop} />
        <Said where="Phone" words={phone} />
      </span>
      {isNew && (
        <span className="red-dot">
          <span className="only-heard">new</span>
        </span>
      )}
    </button>
  );
}

/** What one kind of device shows; a phone says that it cannot, where a message has blocks and no text. */
function Said({ where, words }: { readonly where: 'Desktop' | 'Phone'; readonly words: string }): ReactNode {
  return (
    <span className="notified-said">
      <span className="notified-device">{where}</span>
      <span className="notified-text">
        {words === '' ? <em>This content can’t be displayed.</em> : <Words>{words}</Words>}
      </span>
    </span>
  );
}

/** Who wrote the message; the app, when the message is gone. */
function writerOf(world: World, { channel, ts, threadTs }: Notification): string {
  const { roots, replies } = logOf(world, channel);
  const list = threadTs === undefined ? roots : (replies.get(threadTs) ?? []);
  return list.find((one) => one.ts === ts)?.user ?? world.botUserId;
}
