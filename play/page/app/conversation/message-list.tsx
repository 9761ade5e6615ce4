import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import type { StoredMessage } from '../../../slack/state/message.ts';
import { Scroller } from '../parts/scroller.tsx';
import { dayOf, dayTitle, msOf } from '../text/date.ts';
import { MessageRow } from './message-row.tsx';
import { isContinued } from './row-parts.ts';
import { useBottom } from './use-bottom.ts';

export interface ThreadBelow {
  readonly replies: readonly StoredMessage[];
  readonly unread: boolean;
}

interface Props {
  readonly label: string;
  readonly messages: readonly StoredMessage[];
  readonly person: string;
  /** Where the line "New" stands. */
  readonly newFrom: string | undefined;
  /** The message that one came for: reading begins there, and it is marked. */
  readonly sought?: string | undefined;
  /** Where reading begins; default: there. */
  readonly from?: string | undefined;
  /** How often one has sent something here. */
  readonly sent: number;
  readonly inThread?: boolean;
  /** What stands above the first message. */
  readonly intro?: ReactNode;
  readonly threadOf?: (root: string) => ThreadBelow | undefined;
}

/** Messages, oldest first, kept at their end unless the reader went up. Arrow keys go from one to the next. */
export function MessageList(props: Props): ReactNode {
  const { label, messages, person, newFrom, sought, from = newFrom, sent, inThread = false, intro, threadOf } = props;
  const list = useRef<HTMLElement>(null);
  const { hasNewBelow, goDown, onScroll } = useBottom(list, { last: messages.at(-1)?.ts, from: sought ?? from, sent });
  return (
    <div className="list-frame">
      <Scroller ref={list} className="list" label={label} onKeyDown={onKey} onScroll={onScroll}>
        <div className="list-content">
          {intro}
          {messages.map((message, index) => {
            const before = messages[index - 1];
            const isFirstReply = inThread && index === 1;
            const opensDay = before === undefined || dayOf(msOf(before.ts)) !== dayOf(msOf(message.ts));
            const thread = threadOf?.(message.ts);
            const isNew = message.ts === newFrom;
            return (
              <div key={message.ts} className={message.ts === sought ? 'list-item list-item-sought' : 'list-item'}>
                {opensDay && <Divider words={dayTitle(msOf(message.ts), { nowMs: Date.now() })} />}
                {isFirstReply && <Divider words={repliesOf(messages)} isCount />}
                {isNew && <Divider words="New" isNew />}
                <MessageRow
                  message={message}
                  person={person}
                  continued={!opensDay && !isNew && !isFirstReply && isContinued(before, message)}
                  inThread={inThread}
                  replies={thread?.replies}
                  threadUnread={thread?.unread ?? false}
                />
              </div>
            );
          })}
        </div>
      </Scroller>
      {hasNewBelow && (
        <button type="button" className="pill" onClick={goDown}>
          New messages ↓
        </button>
      )}
    </div>
  );
}

interface DividerProps {
  readonly words: string;
  readonly isNew?: boolean;
  readonly isCount?: boolean;
}

function Divider({ words, isNew = false, isCount = false }: DividerProps): ReactNode {
  const className = ['divider', isNew && 'divider-new', isCount && 'divider-count'].filter(Boolean).join(' ');
  return (
    <div className={className}>
      <span>{words}</span>
    </div>
  );
}

/** Of a thread's messages, the root left out; what only one person sees does not count. */
function repliesOf(messages: readonly StoredMessage[]): string {
  const count = messages.slice(1).filter(({ visibleTo }) => visibleTo === undefined).length;
  return `${count} ${count === 1 ? 'reply' : 'replies'}`;
}

function onKey(event: KeyboardEvent<HTMLElement>): void {
  const { target, currentTarget, key } = event;
  if (!(target instanceof HTMLElement) || !['ArrowDown', 'ArrowUp', 'Escape'].includes(key)) return;
  const isOnMessage = target.matches('.message');
  if (target !== currentTarget && !isOnMessage) return;
  if (key === 'Escape') {
    currentTarget.focus();
    return;
  }
  const all = [...currentTarget.querySelectorAll<HTMLElement>('.message')];
  const at = isOnMessage ? all.indexOf(target) + (key === 'ArrowDown' ? 1 : -1) : all.length - 1;
  const next = all[at];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}
