import type { ReactNode } from 'react';
import type { StoredMessage } from '../../../slack/state/message.ts';
import { Words } from '../blocks/words.tsx';
import { useRemember, useSession, useWorld } from '../context.ts';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { emojiNamed, QUICK_REACTIONS } from '../text/emoji.ts';
import { useDo } from './use-do.ts';

/** What can be done with a message that is pointed at, or has the keyboard. */
export function Toolbar({
  message,
  inThread,
}: {
  readonly message: StoredMessage;
  readonly inThread: boolean;
}): ReactNode {
  const act = useDo();
  const remember = useRemember();
  const person = useSession((session) => session.person);
  const shortcuts = useWorld((world) => world.shortcuts);
  const { channel, ts } = message;
  const isPrivate = message.visibleTo !== undefined;
  const items = shortcuts.map(({ callbackId, name }) => ({
    id: callbackId,
    label: name,
    detail: 'kdebug',
    onPick: () => void act({ kind: 'shortcut', user: person, callbackId, channel, ts }),
  }));
  const copy = {
    id: 'copy',
    label: 'Copy text',
    onPick: () => void navigator.clipboard.writeText(message.text).catch(() => undefined),
  };
  return (
    <div className="toolbar" role="toolbar" aria-label="Message actions">
      {!isPrivate &&
        QUICK_REACTIONS.map((name) => (
          <button
            key={name}
            type="button"
            className="icon-button"
            aria-label={`React with ${name.replaceAll('_', ' ')}`}
            onClick={() => void act({ kind: 'react', user: person, channel, ts, name })}
          >
            <Words>{emojiNamed(name)}</Words>
          </button>
        ))}
      {!isPrivate && !inThread && (
        <button
          type="button"
          className="icon-button"
          aria-label="Reply in thread"
          title="Reply in thread"
          onClick={() => remember({ thread: ts, pane: 'thread' })}
        >
          <Icon name="thread" />
        </button>
      )}
      <Menu
        label="More actions"
        title="More actions"
        className="icon-button"
        items={isPrivate ? [copy] : [...items, copy]}
      >
        <Icon name="more" />
      </Menu>
    </div>
  );
}
