import type { ActionName, FormName, GlobalShortcutName, SearchName, ShortcutName } from '../../core/actions.ts';
import type { ReasonCode } from '../../core/errors.ts';
import type { Origin } from '../../core/request/origin.ts';
import type { ByFileName, Landed } from '../../core/run/delivery.ts';
import type { PostRef } from '../../core/run/run-state.ts';
import type { Form, Message, Option } from '../../core/say/message/message.ts';
import type { FileToShare, Shared } from './files.ts';

export interface Destination {
  readonly channelId: string;
  readonly threadTs?: string;
}

/** The place of a message of ours. With `threadGone` it is in the channel itself. */
export interface Sent extends PostRef, Landed {}

/** The Slack message metadata of design section 3: finds a post again after a crash. */
export interface PostMeta {
  readonly run: string;
  readonly batch?: string;
  readonly kind: 'anchor' | 'approval' | 'result' | 'copy' | 'reminder' | 'resolved';
  readonly seq: number;
  /** Not sent: nobody waits for this post or update, so it gives way to all others. */
  readonly isAside?: true;
}

/**
 * Posts to Slack within its rate limits: calls wait in a queue (`lane`: `final` overtakes `progress`; of several
 * waiting updates of one message only the newest is sent, and all of them resolve with it). Throws `KdebugError`:
 * `slack_unanswered` (perhaps done: look with `find`), `slack_message_gone`, `slack_thread_closed` (locked, or no place
 * for replies), `slack_channel_closed` (archived, not a member, unknown, or nobody may post there),
 * `slack_token_rejected`, `slack_refused` (any other error string, fact `error`).
 */
export interface Thread {
  /**
   * Posts a message; the only call that must not be repeated blindly. It may wait in the queue for a long time: `sure`
   * runs right before the request, and an error of it propagates with nothing posted. Slack may put a reply to a thread that is gone into
   * the channel instead (slack-go/slack#1571): it is posted then, and needs no other post.
   */
  post(destination: Destination, message: Message, meta: PostMeta, sure?: () => Promise<void>): Promise<Sent>;
  update(ref: PostRef, message: Message, meta: PostMeta, lane: 'progress' | 'final'): Promise<void>;
  /**
   * Looks for a post by its metadata: in the thread, or, without one or if it is gone, in the channel's newest messages since `sinceMs`. A
   * search in the `background` leaves half of Slack's calls to the others (default: `final`).
   */
  find(
    destination: Destination,
    meta: Pick<PostMeta, 'run' | 'kind'>,
    sinceMs: number,
    lane?: SearchLane,
  ): Promise<Sent | undefined>;
  /**
   * Posts a message with its files, at most ten, as one message. It carries no metadata: find it by the names of its
   * files. A phone notifies of it without a word, unless it is one paragraph. `sure` as for a post. Resolves once its address is known. Where Slack accepts the files with simpler words
   * only, it posts these. Leaves out single files that Slack refuses: `messageOf` gets their codes, by file name.
   * @throws as above; `slack_refused` if it refuses all; `slack_unanswered`: look with `findShared`
   */
  share(
    destination: Destination,
    messageOf: (refused: ByFileName) => Message,
    files: readonly FileToShare[],
    sure?: () => Promise<void>,
  ): Promise<Shared>;
  /** Looks for a message of the bot with a file of any of these names, in the same places as `find`. */
  findShared(
    destination: Destination,
    filenames: readonly string[],
    sinceMs: number,
    lane?: SearchLane,
  ): Promise<Shared | undefined>;
  /** A private answer: in the thread if that has replies, by `response_url`, in the channel, else (or if asked there) a direct message. */
  tell(person: PrivateDestination, message: Message): Promise<void>;
  /** A direct message: for results whose channel is closed, or must not see them. */
  openDirect(userId: string): Promise<Destination>;
  /** The link to a message of the bot: chat.getPermalink. Undefined: Slack knows no such message. */
  permalink(ref: PostRef): Promise<string | undefined>;
}

/**
 * The state of our token. While Slack rejects it, kdebug can tell nobody anything, so nothing may be launched. Runs
 * under way go on, and are reported once it is accepted again.
 */
export interface TokenState {
  /** False from the moment when Slack rejects it until Slack accepts a later call. */
  isAccepted(): boolean;
  /**
   * The same, asking Slack unless it accepted a call within the last 5 s. While it does not answer, its last word
   * counts, also when that was a rejection of one call alone. Resolves within 1.5 s; never rejects.
   */
  confirm(): Promise<boolean>;
  /** Calls `listener` whenever Slack accepts the token again; the returned function removes it. */
  onAccepted(listener: () => void): () => void;
}

/** `final`: a person waits for what follows the search. `background`: nobody does. */
export type SearchLane = 'final' | 'background';

export interface PrivateDestination {
  readonly channelId: string;
  readonly userId: string;
  readonly threadTs?: string;
  /** The clicked message is a reply in the thread, so Slack shows private answers there; otherwise check first. */
  readonly isReply?: true;
  readonly responseUrl?: string;
  /** The slash command's name in this answer. Absent: the configured one. */
  readonly command?: string;
}

/** The immediate, private answer to a command or click. */
export type Answer =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'message'; readonly message: Message }
  /**
   * A form to fill in (a modal); its submission goes to `Inbox.submit`. With `complete`, `form` only opens at once, as
   * Slack waits 3 s for that, and is replaced by what `complete` resolves with; it never rejects.
   */
  | { readonly kind: 'form'; readonly form: Form; readonly complete?: () => Promise<Form> }
  /**
   * A window to read (a modal without submit), for what is too long or too detailed for the thread. It shows no buttons: Slack names no
   * channel with a click there. Where no window can open, the message is told privately instead. The title has at most 24 characters.
   */
  | { readonly kind: 'page'; readonly title: string; readonly message: Message }
  | Later<Answer>;

/** What the person asked for waits, and counts: Slack gets its acknowledgement now, and they the answer afterwards. */
export interface Later<Awaited> {
  readonly kind: 'later';
  /** Never rejects. */
  readonly answer: Promise<Awaited>;
}

/**
 * The time for an answer that needs the store or the cluster: Slack waits three seconds, for a form as for a command.
 */
export const ANSWER_WITHIN_MS = 2_000;

/**
 * Receives everything from Slack, already verified (signature, app, team) and authorised by the one table of handlers.
 * Every method resolves within 2.5 s, after saving what must not be lost: only then does Slack get its acknowledgement. A change that waits
 * for the lease of a dead replica is not saved by then (`Later`).
 */
export interface Inbox {
  /** A command, from any source; the acknowledgement carries a message. */
  command(origin: Origin, words: string): Promise<Answer>;
  action(click: Click): Promise<Answer>;
  /** A click on the button of an alert: a request of the clicker, answered in the alert's thread. */
  alert(click: AlertClick): Promise<Answer>;
  submit(submission: Submission): Promise<SubmitAnswer>;
  /** A shortcut on a message: "Debug a pod" opens a form with what it says of a pod, "Apply as EphemeralJob" one with its YAML. */
  shortcut(shortcut: Shortcut): Promise<Answer>;
  /**
   * Returns the options of a search field for the typed text, the best first; perhaps more than Slack shows. Starts
   * nothing; never rejects.
   */
  search(query: SearchQuery): Promise<readonly Option[]>;
  /** Somebody changed a field that dispatches: the form as it should be now. Undefined: as it is. Never rejects. */
  change(change: FormChange): Promise<Form | undefined>;
  /** A shortcut of the whole workspace: nothing says for which channel. */
  globalShortcut(use: GlobalShortcut): Promise<ChannelForm | Extract<Answer, { kind: 'page' }>>;
  /** Somebody has invited the bot to a channel. */
  invited(invitation: Actor): Promise<Welcome>;
  /** A person looks at the Home tab; `channelId` is their direct message with the bot. Undefined: what it shows stays. */
  home(visitor: Actor): Promise<Message | undefined>;
  /** Records in the audit log that a person was refused before their words were read. Never rejects. */
  refused(refused: RefusedAtDoor): Promise<void>;
}

/** The answer to an invitation. */
export type Welcome =
  | { readonly kind: 'nothing' }
  /** For everybody in the channel. */
  | { readonly kind: 'post'; readonly message: Message }
  /** For the person who invited the bot alone: other companies read along, or Slack cannot say. */
  | { readonly kind: 'message'; readonly message: Message };

/** A delivery that the one table of handlers refused. */
export interface RefusedAtDoor {
  readonly userId: string;
  /** Empty when the delivery names none. */
  readonly channelId: string;
  /** The person's team, if the delivery names one. */
  readonly teamId?: string;
  /** The handler's name in the table. */
  readonly handler: string;
  readonly code: ReasonCode;
}

export interface Actor {
  readonly teamId: string;
  readonly userId: string;
  readonly channelId: string;
}

export interface Click extends Actor {
  readonly action: ActionName;
  /** A run or batch id, nothing else. */
  readonly value: string;
  readonly messageTs: string;
  /** Equal for every delivery of the same click. */
  readonly dedupeKey: string;
}

/** A click on a message that another program wrote with kdebug's token. All of it but who, where and when may be forged. */
export interface AlertClick extends Actor {
  /** The target in the button: see `alertTarget`. */
  readonly value: string;
  /** The words of the whole message, for a form; at most 4,000 characters. */
  readonly text: string;
  /** The alert itself. */
  readonly messageTs: string;
  /** The thread that the alert is in, or has. */
  readonly threadTs?: string;
  readonly responseUrl?: string;
  readonly receivedAtMs: number;
}

export interface Submission extends Actor {
  /** The form's own `name` and `value`, as it was opened. */
  readonly name: FormName;
  readonly value: string;
  /** By field id, without empty fields. */
  readonly fields: Readonly<Record<string, string>>;
  readonly threadTs?: string;
  readonly dedupeKey: string;
  readonly receivedAtMs: number;
}

/** The form `debug` while it is filled in. `value` is the form's own; all of it may be forged. */
export interface FormChange extends Actor {
  readonly value: string;
  /** By field id, without empty fields. */
  readonly fields: Readonly<Record<string, string>>;
  readonly receivedAtMs: number;
}

/** The text typed into a search field. Slack does not send the other fields: `value` must. */
export interface SearchQuery extends Omit<FormChange, 'fields'> {
  readonly field: SearchName;
  readonly typed: string;
}

export type SubmitAnswer =
  /** Accepted; the form closes. `message` is shown privately. */
  | { readonly kind: 'taken'; readonly message?: Message }
  /** The form stays open with an error beside each wrong field. */
  | { readonly kind: 'errors'; readonly errors: Readonly<Record<string, string>> }
  /** Another form takes its place. */
  | ChannelForm
  /** The form closes. What keeps it open otherwise is told privately. */
  | Later<SubmitAnswer>;

/** A form for a channel that the request itself does not name. */
export interface ChannelForm {
  readonly kind: 'form';
  readonly form: Form;
  /** As in `Answer`. */
  readonly complete?: () => Promise<Form>;
  readonly channelId: string;
}

export interface GlobalShortcut extends Omit<Actor, 'channelId'> {
  readonly name: GlobalShortcutName;
}

export interface Shortcut extends Actor {
  readonly name: ShortcutName;
  /** The message's text, as plain as possible. */
  readonly text: string;
  /** Its first code block as typed, else its text file; at most 65,537 characters (one more than a job may have). */
  readonly code?: string;
  readonly messageTs: string;
  readonly threadTs?: string;
  readonly dedupeKey: string;
  readonly receivedAtMs: number;
}
