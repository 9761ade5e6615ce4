import { useEffect, useState } from 'react';
import { useLine, usePlay } from '../context.ts';
import type { LogChoice } from '../state/session.ts';

/** The most that the page holds, in characters. */
const KEPT = 200_000;
const RETRY_MS = 1_500;

interface Shown {
  readonly text: string;
  readonly state: string;
}

/** A container's log, growing. When it cannot be read yet, it is asked for again until it can; its end says so. */
export function useLog(choice: LogChoice | undefined): Shown {
  const { server } = usePlay();
  const line = useLine();
  const [shown, setShown] = useState<Shown>({ text: '', state: '' });
  const { namespace, pod, container } = choice ?? {};
  useEffect(() => {
    if (namespace === undefined || pod === undefined || container === undefined || line !== 'open') return;
    const gone = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      const response = await fetch(server.logUrl({ namespace, pod, container }), { signal: gone.signal });
      if (!response.ok || response.body === null) {
        setShown({ text: '', state: await response.text() });
        retry = setTimeout(start, RETRY_MS);
        return;
      }
      setShown({ text: '', state: '' });
      for await (const chunk of piecesOf(response.body))
        setShown(({ text, state }) => ({ text: (text + chunk).slice(-KEPT), state }));
      setShown(({ text }) => ({ text, state: '— end of the log —' }));
    };
    const start = (): void => {
      read().catch(() => {
        // Aborted, or the server is away: the line's next state starts it anew.
      });
    };
    start();
    return () => {
      clearTimeout(retry);
      gone.abort();
    };
  }, [server, line, namespace, pod, container]);
  return shown;
}

async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    yield decoder.decode(next.value, { stream: true });
  }
}
