import type { ActionName, FormName, ShortcutName } from '../../core/actions.ts';
import type { ReasonCode } from '../../core/errors.ts';
import type { Form, Message } from '../../core/report/message.ts';
import type { Origin } from '../../core/run/run.ts';
import type { PostRef } from '../../core/run/run-state.ts';

export interface Destination {
  readonly channelId: string;
  readonly threadTs?: string;
}

/** The Slack message metadata of design section 3: finds a post again after a crash. */
export interface PostMeta {
  readonly run: string;
  readonly batch?: string;
  readonly kind: 'anchor' | 'result' | 'copy' | 'reminder';
  readonly seq: number;
}

/**
 * Speaks in Slack. Keeps Slack's rates by itself: calls wait their turn (`lane`: `final` overtakes `progress`; of
 * several waiting updates of one message only the newest is sent, and all of them resolve with it). Throws `KdebugError`:
 * `slack_unanswered` (it may or may not have happened: look with `find`), `slack_message_gone`, `slack_thread_closed`
 * (locked, or no place for replies), `slack_channel_closed` (archived, not a member, unknown, or nobody may post there),
 * `slack_token_rejected`, `slack_refused` (any other error string, fact `error`).
 */
export interface Thread {
  /**
   * Posts a message; the only call that must not be repeated blindly. It may wait its turn for a long time: `sure` is asked right
   * before it is sent, and what it throws comes through, with nothing posted.
   */
  post(destination: Destination, message: Message, meta: PostMeta, sure?: () => Promise<void>): Promise<PostRef>;
  update(ref: PostRef, message: Message, meta: PostMeta, lane: 'progress' | 'final'): Promise<void>;
  /** Looks for a post by its metadata: in the thread, or in the channel's newest messages since `sinceMs`. */
  find(destination: Destination, meta: Pick<PostMeta, 'run' | 'kind'>, sinceMs: number): Promise<PostRef | undefined>;
  /**
   * Posts a message with its files, at most ten, all at once: the files and the words are one message. Such a message carries no
   * metadata: it is found by the names of its files. `sure` as for a post. Resolves once it is known where the message stands. Where
   * Slack takes the files with simpler words only, they go with these. @throws as above; `slack_unanswered`: look with `findShared`
   */
  share(
    destination: Destination,
    message: Message,
    files: readonly FileToShare[],
    sure?: () => Promise<void>,
  ): Promise<Shared>;
  /** Looks for a message of ours with files of all these names, where `find` looks. */
  findShared(destination: Destination, filenames: readonly string[], sinceMs: number): Promise<Shared | undefined>;
  /** A private answer: in the thread where that has replies, else by `response_url` when there is one that works, else in the channel. */
  tell(person: PrivateDestination, message: Message): Promise<void>;
  /** A direct message: for results whose channel is closed, or must not see them. */
  openDirect(userId: string): Promise<Destination>;
  /** Where people can open a message of ours: chat.getPermalink. Undefined: Slack knows no such message. */
  permalink(ref: PostRef): Promise<string | undefined>;
}

export interface PrivateDestination {
  readonly channelId: string;
  readonly userId: string;
  readonly threadTs?: string;
  /** What they clicked or picked is a reply in the thread, so Slack shows private answers there; else it is asked first. */
  readonly isReply?: true;
  readonly responseUrl?: string;
}

export interface FileToShare {
  readonly filename: string;
  readonly title: string;
  readonly bytes: number;
  /** May be called again for another try. */
  open(): AsyncIterable<Uint8Array>;
}

/** A message with files; the ids in the order of the files. */
export interface Shared {
  readonly ref: PostRef;
  readonly fileIds: readonly string[];
}

/** What goes back to whoever typed or clicked, at once and to them alone. */
export type Answer =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'message'; readonly message: Message }
  /** A form to fill in (a modal); its submission comes back to `Inbox.submit`. */
  | { readonly kind: 'form'; readonly form: Form };

/**
 * What Slack brings in, already verified (signature, app, team) and authorised by the one table of handlers. Every method
 * resolves within 2.5 s, once what must not be lost is in the store: only then is it acknowledged.
 */
export interface Inbox {
  /** A command, from whichever source; a message rides on the acknowledgement. */
  command(origin: Origin, words: string): Promise<Answer>;
  /** A button. */
  action(click: Click): Promise<Answer>;
  /** A form that was filled in. */
  submit(submission: Submission): Promise<SubmitAnswer>;
  /** A shortcut on a message: "Debug a pod" opens a form with what the message says of a pod, "Apply as EphemeralJob" one with its YAML. */
  shortcut(shortcut: Shortcut): Promise<Answer>;
  /** Somebody was refused at the door, before their words were looked at: kept in the audit log. Never rejects. */
  refused(refused: RefusedAtDoor): Promise<void>;
}

/** A delivery that the one table of handlers did not let in. */
export interface RefusedAtDoor {
  readonly userId: string;
  /** Empty where the delivery names none. */
  readonly channelId: string;
  /** The person's team, where the delivery names one. */
  readonly teamId?: string;
  /** The handler's name in the table. */
  readonly handler: string;
  readonly code: ReasonCode;
}

/** Who did something, where. */
export interface Actor {
  readonly teamId: string;
  readonly userId: string;
  readonly channelId: string;
}

export interface Click extends Actor {
  readonly action: ActionName;
  /** A run or batch id; never more. */
  readonly value: string;
  readonly messageTs: string;
  /** Equal for every delivery of the same click. */
  readonly dedupeKey: string;
}

export interface Submission extends Actor {
  /** The form's own `name` and `value`, as it was opened. */
  readonly name: FormName;
  readonly value: string;
  /** By field id; a field that was left empty is absent. */
  readonly fields: Readonly<Record<string, string>>;
  readonly threadTs?: string;
  readonly dedupeKey: string;
  readonly receivedAtMs: number;
}

export type SubmitAnswer =
  /** Taken; the form closes. `message` is said privately. */
  | { readonly kind: 'taken'; readonly message?: Message }
  /** Stays open with a word beside each wrong field. */
  | { readonly kind: 'errors'; readonly errors: Readonly<Record<string, string>> };

export interface Shortcut extends Actor {
  readonly name: ShortcutName;
  /** The message's text, as plain as it can be had. */
  readonly text: string;
  /** The message's first code block as it was typed, else its text file; at most 65,537 characters (one more than a job may have). */
  readonly code?: string;
  readonly messageTs: string;
  readonly threadTs?: string;
  readonly dedupeKey: string;
  readonly receivedAtMs: number;
}

/** A person as Slack knows them now. Only `member` may ask or vote. `sibling`: of our Enterprise organisation, in other workspaces of it only. */
export interface Person {
  readonly userId: string;
  readonly teamId: string;
  readonly kind: 'member' | 'guest' | 'sibling' | 'outsider' | 'bot' | 'deactivated';
  /** Shown, never matched. */
  readonly name: string;
}

/**
 * Who is who. Throws `KdebugError slack_unreachable`, `slack_refused`; nobody is allowed anything on a failure. With `sinceMs`, only
 * what Slack was asked at that moment or later counts.
 */
export interface Directory {
  /** Cached for at most 60 s. @throws KdebugError person_unknown */
  person(userId: string, sinceMs?: number): Promise<Person>;
  /** The members of a user group at this moment; never older than 5 s. @throws KdebugError usergroup_unknown */
  members(usergroupId: string, sinceMs?: number): Promise<ReadonlySet<string>>;
  /**
   * What Slack says of a channel. Never older than 60 s, and never older than 2 s where the bot is no member: an invitation counts
   * at once. @throws KdebugError slack_channel_closed for a private channel that the bot is not in
   */
  channel(channelId: string): Promise<ChannelFacts>;
  /**
   * The people in a channel that the bot can see; never older than 5 s, at most 2,000 of them.
   * @throws KdebugError slack_channel_closed; slack_refused with the fact `error` `too_many_members`
   */
  channelMembers(channelId: string, sinceMs?: number): Promise<ReadonlySet<string>>;
}

/** A conversation as far as kdebug asks (Slack, "Conversation object"). */
export interface ChannelFacts {
  /** Shared with another company (Slack Connect), or an invitation to that is open. */
  readonly isShared: boolean;
  /** The bot is in it, so it can post there. Always true for a direct message with the bot. */
  readonly isMember: boolean;
  /** Only its members know that it exists. */
  readonly isPrivate: boolean;
}
