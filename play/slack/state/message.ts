/** JSON as it came over the wire. */
export type Json = Record<string, unknown>;

/** A message as Slack keeps it, in a channel or for one person only. Plain data. */
export interface StoredMessage {
  readonly channel: string;
  readonly ts: string;
  /** The thread's root; absent on messages of the channel itself. */
  readonly threadTs?: string;
  readonly user: string;
  /** Set on messages with files, also an app's. */
  readonly subtype?: 'file_share';
  /** Set on an app's messages; what Slack shows of a file message does not have it (api/shown.ts). */
  readonly botId?: string;
  readonly appId?: string;
  text: string;
  blocks: Json[];
  /** "Secondary attachments", as Slack keeps them: each has an `id`, counted from 1, and so has each of its actions. */
  attachments?: Json[];
  metadata?: Json;
  files: string[];
  /** Slack's "(edited)": set when an update changed the text of a message without blocks. */
  edited?: { user: string; ts: string };
  /** How often it was updated. */
  revisions: number;
  /** As asked for: absent means Slack's default (media unfurls, links of apps do not). */
  unfurlLinks?: boolean;
  unfurlMedia?: boolean;
  linkNames?: boolean;
  parse?: string;
  mrkdwn?: boolean;
  reactions: { name: string; users: string[] }[];
  /** "This message was deleted.": a root whose replies stay. */
  tombstone?: boolean;
  /** A root whose thread takes no more replies. */
  locked?: boolean;
  /** Only this person sees it. */
  readonly visibleTo?: string;
}

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  title: string;
  /** Bytes announced, and received. */
  readonly size: number;
  readonly snippetType?: string;
  /** What it shows, in words. */
  readonly altText?: string;
  readonly createdAtMs: number;
  /** Where the bytes are on this machine; set once they arrived whole. */
  path?: string;
  state: 'awaiting-bytes' | 'uploaded' | 'complete';
  /** Who shared it; absent: the app. */
  readonly user?: string;
  /** The URL of its bytes, for callers with the right token. */
  readonly urlPrivate?: string;
  shares: { channel: string; ts: string; threadTs?: string }[];
  /** Behind a free workspace's limit: Slack gives next to nothing of it. */
  hidden?: boolean;
}

export interface StoredView {
  readonly id: string;
  readonly kind: 'modal' | 'home';
  readonly user: string;
  view: Json;
  hash: string;
  open: boolean;
  /** Of a view that was pushed: the lowest of its stack, and the one below it. */
  readonly rootId?: string;
  readonly previousId?: string;
  /** What stands in its inputs as far as Slack's server knows: as the browser sent it last. */
  values?: Json;
  /** What the app last suggested for each external select, by block id: people can pick nothing else. */
  suggested?: Record<string, Json[]>;
  /** What the last submission was answered with, when it was refused (`response_action: errors`). */
  errors?: Json;
  /** What the person reads when Slack could not make sense of the app's answer, or got none. */
  trouble?: string;
}

/** One push to one person. */
export interface Notification {
  readonly user: string;
  readonly channel: string;
  readonly ts: string;
  readonly threadTs?: string;
  /** The first that applies of: a direct message, their name (or @channel), their group's name, a thread they follow. */
  readonly why: 'mention' | 'group' | 'direct' | 'thread';
  /** What it says on a phone: the message's `text` and nothing else, so perhaps nothing. */
  readonly phone: string;
  /** What it says on a desktop: the words of the blocks. */
  readonly desktop: string;
}
