import { EventEmitter } from 'node:events';
import type { Installed } from '../manifest.ts';
import { Background } from './background.ts';
import type { Habits } from './habits.ts';
import type { Json, Notification, StoredFile, StoredMessage, StoredView } from './message.ts';
import { notificationsOf } from './notify.ts';
import type { SlackChannel, Team } from './team.ts';

/** Who the app is in this workspace, its secrets, and what its manifest asks for. */
interface AppIdentity extends Installed {
  readonly appId: string;
  readonly botUserId: string;
  readonly botId: string;
  readonly botToken: string;
  readonly appToken: string;
  readonly signingSecret: string;
  /** What the app-level token may do. */
  readonly appScopes: readonly string[];
}

/** Everything that can be seen to happen, in order. `message` is the state after the change. */
export type Change =
  | { readonly kind: 'posted' | 'updated' | 'deleted'; readonly message: StoredMessage }
  | { readonly kind: 'ephemeral' | 'ephemeral-removed'; readonly message: StoredMessage }
  | { readonly kind: 'reaction'; readonly message: StoredMessage }
  | { readonly kind: 'notified'; readonly notification: Notification }
  | { readonly kind: 'file'; readonly file: StoredFile }
  | { readonly kind: 'view'; readonly view: StoredView }
  | { readonly kind: 'team'; readonly team: Team }
  | { readonly kind: 'call'; readonly method: string; readonly ok: boolean }
  | { readonly kind: 'delivered'; readonly what: string; readonly payload: Json }
  | { readonly kind: 'socket'; readonly open: number };

export type Clock = () => number;

/**
 * The workspace's whole state as plain data, with a feed of changes. One writer (this process), so nothing is locked.
 * `ts` values are unique and strictly increasing over the whole workspace.
 */
export class SlackState {
  readonly team: Team;
  readonly app: AppIdentity;
  readonly now: Clock;
  readonly habits: Habits;
  /** Shares of files, which come after the answer that says they are complete. */
  readonly background: Background;
  /** Per channel, in order of `ts`. */
  readonly messages = new Map<string, Map<string, StoredMessage>>();
  readonly ephemerals: StoredMessage[] = [];
  /** Everybody's, oldest first. Only new posts notify: edits, reactions and private answers do not. */
  readonly notifications: Notification[] = [];
  readonly files = new Map<string, StoredFile>();
  readonly views = new Map<string, StoredView>();
  readonly changes = new EventEmitter<{ change: [Change] }>();
  private lastMicros = 0;
  private sequence = 0;

  constructor(
    team: Team,
    app: AppIdentity,
    { now, shareDelayMs, habits }: { now: Clock; shareDelayMs: number; habits: Habits },
  ) {
    this.background = new Background(shareDelayMs);
    this.team = team;
    this.app = app;
    this.now = now;
    this.habits = habits;
    this.changes.setMaxListeners(0);
  }

  nextTs(): string {
    this.lastMicros = Math.max(this.lastMicros + 1, this.now() * 1000);
    return `${Math.floor(this.lastMicros / 1e6)}.${String(this.lastMicros % 1e6).padStart(6, '0')}`;
  }

  /** An id of Slack's shape: a capital letter and ten more characters. */
  nextId(letter: string): string {
    this.sequence += 1;
    return `${letter}0${this.sequence.toString(36).toUpperCase().padStart(9, '0')}`;
  }

  channelMessages(channel: string): Map<string, StoredMessage> {
    let found = this.messages.get(channel);
    if (found === undefined) {
      found = new Map();
      this.messages.set(channel, found);
    }
    return found;
  }

  message(channel: string, ts: string): StoredMessage | undefined {
    return this.messages.get(channel)?.get(ts);
  }

  post(message: StoredMessage): void {
    this.insert(message);
    this.tell({ kind: 'posted', message });
    for (const notification of notificationsOf(this, message)) {
      this.notifications.push(notification);
      this.tell({ kind: 'notified', notification });
    }
  }

  /** A file may be seen above what was posted before it. */
  private insert(message: StoredMessage): void {
    const messages = this.channelMessages(message.channel);
    const later = [...messages].filter(([ts]) => ts > message.ts);
    for (const [ts] of later) messages.delete(ts);
    messages.set(message.ts, message);
    for (const [ts, each] of later) messages.set(ts, each);
  }

  replies(channel: string, rootTs: string): StoredMessage[] {
    return [...this.channelMessages(channel).values()].filter((message) => message.threadTs === rootTs);
  }

  /** Removes a message; a root with replies stays as a tombstone, as in Slack. */
  remove(message: StoredMessage): void {
    if (this.replies(message.channel, message.ts).length > 0) {
      Object.assign(message, { tombstone: true, text: 'This message was deleted.', blocks: [], files: [] });
      delete message.metadata;
    } else {
      this.channelMessages(message.channel).delete(message.ts);
    }
    this.tell({ kind: 'deleted', message });
  }

  /** The direct message between the bot and a person, opened when there is none. */
  direct(userId: string): SlackChannel {
    const known = Object.values(this.team.channels).find((one) => one.kind === 'im' && one.user === userId);
    if (known !== undefined) return known;
    const members = [userId, this.app.botUserId];
    const id = `D0${userId.slice(1)}`;
    return this.opened({ id, name: userId, kind: 'im', members, user: userId });
  }

  /** The direct message between the bot and several people. */
  together(userIds: readonly string[]): SlackChannel {
    const members = [...userIds, this.app.botUserId].sort();
    const known = Object.values(this.team.channels).find(
      (one) => one.kind === 'mpim' && [...one.members].sort().join() === members.join(),
    );
    return known ?? this.opened({ id: this.nextId('G'), name: `mpdm-${members.join('--')}`, kind: 'mpim', members });
  }

  private opened(one: Omit<SlackChannel, 'is_archived' | 'is_ext_shared'>): SlackChannel {
    const channel: SlackChannel = { ...one, is_archived: false, is_ext_shared: false };
    this.team.channels[channel.id] = channel;
    this.tell({ kind: 'team', team: this.team });
    return channel;
  }

  tell(change: Change): void {
    this.changes.emit('change', change);
  }
}
