import type { ReactNode } from 'react';
import type { SlackChannel } from '../../../slack/state/team.ts';
import { useName, useRemember, useSession, useWorld } from '../context.ts';
import { placeKey } from '../state/session.ts';

/** Says under a channel's name that the bot is not in it, or that one is not in it oneself, and what to do. */
export function WithoutBot({ channel }: { readonly channel: SlackChannel }): ReactNode {
  const bot = useWorld(({ botUserId }) => botUserId);
  const nameOf = useName();
  const person = useSession((session) => session.person);
  const remember = useRemember();
  if (!channel.members.includes(person))
    return (
      <p className="place-note">
        {nameOf(person)} is not in #{channel.name}. Everybody may read a public channel; only members are notified.
      </p>
    );
  if (channel.kind === 'im' || channel.members.includes(bot)) return null;
  const words = `/invite @${nameOf(bot)}`;
  const fill = (): void => {
    remember(({ drafts }) => ({ drafts: { ...drafts, [placeKey(person, channel.id)]: words } }));
    document.querySelector<HTMLElement>('.conversation .composer textarea')?.focus();
  };
  return (
    <p className="place-note">
      {nameOf(bot)} is not in this channel: it can answer a command privately, and post nothing.{' '}
      <button type="button" className="link-button" onClick={fill}>
        {words}
      </button>
    </p>
  );
}
