import { useState } from 'react';
import { usePlay, useRemember, useSession } from '../context.ts';
import { placeKey } from '../state/session.ts';

interface Place {
  readonly person: string;
  readonly channel: string;
  readonly thread: string | undefined;
}

/** What is being written in one place, kept over reloads, and its sending. */
export function useDraft({ person, channel, thread }: Place) {
  const { server } = usePlay();
  const remember = useRemember();
  const key = placeKey(person, channel, thread);
  const text = useSession(({ drafts }) => drafts[key] ?? '');
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string>();

  const write = (next: string): void => {
    setFailed(undefined);
    remember(({ drafts }) => ({ drafts: { ...drafts, [key]: next } }));
  };
  /** What could not be sent stands there again, unless something else was begun meanwhile. */
  const send = async (said: string): Promise<void> => {
    write('');
    setBusy(true);
    const words = { kind: 'type', user: person, channel, text: said } as const;
    const answer = await server.do(thread === undefined ? words : { ...words, threadTs: thread });
    setBusy(false);
    if (answer.ok) return;
    remember(({ drafts }) => (drafts[key] ? {} : { drafts: { ...drafts, [key]: said } }));
    setFailed(answer.error);
  };
  return { text, write, send, busy, failed };
}
