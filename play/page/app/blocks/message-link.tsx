import type { MouseEvent, ReactNode } from 'react';
import { usePlay, useRemember } from '../context.ts';
import { placeAt } from '../state/session.ts';
import type { Linked } from '../text/permalink.ts';

interface Props {
  readonly href: string;
  readonly linked: Linked;
  readonly children: string;
}

/** A link to a message of this workspace: it opens here, if the person may see the channel. */
export function MessageLink({ href, linked, children }: Props): ReactNode {
  const { world, session, notice } = usePlay();
  const remember = useRemember();
  const { channel, ts, threadTs: thread } = linked;
  const go = (event: MouseEvent): void => {
    event.preventDefault();
    const place = world.get().team.channels[channel];
    const isOpen = place?.kind === 'public' || place?.members.includes(session.get().person) === true;
    if (isOpen) remember(placeAt(channel, { thread, ts }));
    else notice.set(() => 'This message is in a private channel that you are not in. Slack shows you nothing of it.');
  };
  return (
    <a href={href} title={href} onClick={go}>
      {children}
    </a>
  );
}
