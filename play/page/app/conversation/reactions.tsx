import type { ReactNode } from 'react';
import type { StoredMessage } from '../../../slack/state/message.ts';
import { Words } from '../blocks/words.tsx';
import { useName } from '../context.ts';
import { emojiNamed } from '../text/emoji.ts';
import { useDo } from './use-do.ts';

/** Who reacted with what; pressing one adds or takes back one's own. */
export function Reactions({
  message,
  person,
}: {
  readonly message: StoredMessage;
  readonly person: string;
}): ReactNode {
  const act = useDo();
  const nameOf = useName();
  const { reactions, channel, ts } = message;
  if (reactions.length === 0) return null;
  return (
    <div className="reactions">
      {reactions.map(({ name, users }) => (
        <button
          key={name}
          type="button"
          className="reaction"
          aria-pressed={users.includes(person)}
          title={users.map(nameOf).join(', ')}
          onClick={() => void act({ kind: 'react', user: person, channel, ts, name })}
        >
          <Words>{emojiNamed(name)}</Words> {users.length}
          <span className="only-heard">
            {' '}
            {name.replaceAll('_', ' ')}: {users.map(nameOf).join(', ')}
          </span>
        </button>
      ))}
    </div>
  );
}
