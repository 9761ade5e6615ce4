import type { Snapshot } from '../../contract.ts';

export const PANES = ['channels', 'conversation', 'thread', 'cluster'] as const;
export type Pane = (typeof PANES)[number];

export interface LogChoice {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** What is typed and open in this browser; the server knows nothing of it. */
export interface Session {
  readonly person: string;
  readonly channel: string;
  readonly thread?: string | undefined;
  /** Instead of the channel: what this person was notified of. */
  readonly notices: boolean;
  /** Of the direct message with the app: its Home tab. */
  readonly home: boolean;
  /** The message that one came here for: it is shown first, and marked. */
  readonly sought?: string | undefined;
  /** By person and place. */
  readonly drafts: Readonly<Record<string, string>>;
  /** What each person sent, oldest first. */
  readonly history: Readonly<Record<string, readonly string[]>>;
  /** By person and place: the `ts` up to which it was read. */
  readonly read: Readonly<Record<string, string>>;
  /** What was there before this browser came counts as read. */
  readonly since: string;
  /** Ephemeral messages that were dismissed. */
  readonly dismissed: readonly string[];
  readonly guide: boolean;
  /** The example that was chosen last. */
  readonly example?: string | undefined;
  /** What a narrow window shows. */
  readonly pane: Pane;
  readonly log?: LogChoice | undefined;
  /** The log shown is that of the newest debug container. */
  readonly follow: boolean;
}

export const placeKey = (person: string, channel: string, thread?: string): string =>
  thread === undefined ? `${person}/${channel}` : `${person}/${channel}/${thread}`;

/** What is open once one has gone to a channel, a thread, or a message in either. */
export function placeAt(channel: string, at: { readonly thread?: string | undefined; readonly ts?: string } = {}) {
  const { thread, ts: sought } = at;
  const pane: Pane = thread === undefined ? 'conversation' : 'thread';
  return { channel, thread, sought, notices: false, home: false, pane };
}

const storageKey = (world: string): string => `kdebug-play/${world}`;

function newest({ messages, ephemerals }: Snapshot): string {
  let found = '0';
  for (const { ts } of [...messages, ...ephemerals]) if (ts > found) found = ts;
  return found;
}

/** Where a browser keeps words for a reload: its session storage. */
interface Keep {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** What this browser kept of this world, else a fresh start with the first example's person and channel. */
export function openSession(snapshot: Snapshot, storage: Pick<Keep, 'getItem'>): Session {
  const [first] = snapshot.examples;
  const fresh: Session = {
    person: first?.user ?? Object.keys(snapshot.team.users)[0] ?? '',
    channel: first?.channel ?? Object.keys(snapshot.team.channels)[0] ?? '',
    notices: false,
    home: false,
    drafts: {},
    history: {},
    read: {},
    since: newest(snapshot),
    dismissed: [],
    guide: true,
    pane: 'conversation',
    follow: true,
  };
  try {
    const kept: unknown = JSON.parse(storage.getItem(storageKey(snapshot.world)) ?? '{}');
    return typeof kept === 'object' && kept !== null ? { ...fresh, ...kept } : fresh;
  } catch {
    return fresh;
  }
}

/** Quietly nothing where storage is full or forbidden: the page works without. */
export function keepSession(world: string, session: Session, storage: Keep): void {
  try {
    storage.setItem(storageKey(world), JSON.stringify(session));
  } catch {
    // Only a reload will notice.
  }
}
