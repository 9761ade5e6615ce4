import type { PageChange, Snapshot } from '../../contract.ts';

export type Line = 'connecting' | 'open' | 'away';

interface Ears {
  readonly onSnapshot: (snapshot: Snapshot) => void;
  /** Changes in order, those of one frame together. */
  readonly onChanges: (changes: readonly PageChange[]) => void;
  readonly onLine: (line: Line) => void;
}

const FRAME_MS = 16;
const RETRY_MS = 1_000;

/**
 * Keeps listening until `close`: whatever breaks, it tries again every second, and the next snapshot heals everything.
 * A browser's own retry is not enough, since it gives up on any status but 200.
 */
export function listen(url: string, { onSnapshot, onChanges, onLine }: Ears): { close(): void } {
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let frame: ReturnType<typeof setTimeout> | undefined;
  let due: PageChange[] = [];

  const flush = (): void => {
    frame = undefined;
    const changes = due;
    due = [];
    onChanges(changes);
  };
  const connect = (): void => {
    due = [];
    source = new EventSource(url);
    source.addEventListener('snapshot', ({ data }: MessageEvent<string>) => {
      due = [];
      onSnapshot(JSON.parse(data) as Snapshot);
      onLine('open');
    });
    source.addEventListener('change', ({ data }: MessageEvent<string>) => {
      due.push(JSON.parse(data) as PageChange);
      frame ??= setTimeout(flush, FRAME_MS);
    });
    source.addEventListener('error', () => {
      source?.close();
      onLine('away');
      clearTimeout(retry);
      retry = setTimeout(connect, RETRY_MS);
    });
  };
  connect();
  return {
    close() {
      clearTimeout(retry);
      clearTimeout(frame);
      source?.close();
    },
  };
}
