import type { HomeView, ModalView } from '@slack/types';
import type { ShortcutName } from '../../../core/actions.ts';
import { KdebugError, type ReasonCode, toKdebugError } from '../../../core/errors.ts';
import { message, note, paragraph } from '../../../core/say/message/line.ts';
import { type Message, strong } from '../../../core/say/message/message.ts';
import { type ShownNames, withNames } from '../../../core/shown-names.ts';
import type { Directory, Person } from '../../../flow/ports/directory.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import type { Inbox, Later, PrivateDestination, Thread } from '../../../flow/ports/slack.ts';
import { type Clock, withDeadline } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import type { Identity } from '../identity.ts';
import { ACK_GUARD_MS } from '../limits.ts';
import type { Interaction } from '../payloads.ts';
import type { SharedFile } from './message-content.ts';

/** The right to use one command, event, button, form or shortcut: a row of the table in `handlers.ts`. */
export interface Handler<Name extends string = string> {
  /** The slash command, the event's type, the button's `action_id`, or the `callback_id` of the form or shortcut. */
  readonly name: Name;
  /** Refuses everybody else before the inbox sees the request. */
  readonly needs: Extract<Person['kind'], 'member'>;
  /** Slack puts `api_app_id` into this payload. Without it, only the signature or the app token proves the app. */
  readonly namesApp: boolean;
}

export interface ShortcutHandler extends Handler<ShortcutName> {
  /** Reads the message's text file if it has no code block. */
  readonly readsFile?: true;
}

/** `hash`: Slack's mark of the view's present state. */
export interface OpenedView {
  readonly id: string;
  readonly hash: string;
}

export interface ListenerContext {
  readonly inbox: Inbox;
  readonly thread: Thread;
  readonly directory: Directory;
  readonly identity: Identity;
  /** For what a listener says itself; the inbox and the thread say them already. */
  readonly names: ShownNames;
  readonly clock: Clock;
  readonly log: Log;
  /** @throws KdebugError slack_unreachable, slack_refused, slack_token_rejected */
  readonly openView: (triggerId: string, view: ModalView) => Promise<OpenedView>;
  /**
   * Replaces an open view. With `hash`, only the state that has it.
   * @throws as `openView`; slack_refused with the fact `error`: `hash_conflict`, or `not_found` for a closed view
   */
  readonly updateView: (opened: { readonly id: string; readonly hash?: string }, view: ModalView) => Promise<void>;
  /** Posts a message that belongs to no run. @throws as `Thread` */
  readonly announce: (channelId: string, message: Message) => Promise<void>;
  /** Replaces what a person's Home tab shows. @throws as `openView` */
  readonly publishHome: (userId: string, view: HomeView) => Promise<void>;
  /** @throws KdebugError slack_file_unreadable */
  readonly readFile: (file: SharedFile) => Promise<string>;
  readonly isStopping: () => boolean;
  /** Work that outlives the acknowledgement and that a stop waits for. Must not reject. */
  readonly inBackground: (work: Promise<void>) => void;
}

export interface Delivered<Row extends Handler = Handler> {
  readonly context: ListenerContext;
  readonly handler: Row;
  readonly body: unknown;
}

export interface GatedCall<T> {
  readonly sender: Sender;
  /** Calls the inbox. Runs at most once, and only after authorisation. */
  readonly call: () => Promise<T>;
  /** The answer when `call` takes too long: what it does counts. Without it, it is refused then, though it may have begun. */
  readonly whenLate?: (answer: Promise<T>) => T;
}

export type Admission<T> =
  | { readonly kind: 'answered'; readonly answer: T }
  | { readonly kind: 'refused'; readonly error: KdebugError };

/**
 * The only way to the inbox: authorises by the handler's row, then calls. Never throws. The inbox promises an answer within 2.5 s of the
 * call; shortly before Slack's 3 s end, which began before the look-up of the person, answers with `whenLate` if the call has begun, else refuses.
 */
export async function admit<T>(
  { context, handler }: Omit<Delivered, 'body'>,
  { sender, call, whenLate }: GatedCall<T>,
): Promise<Admission<T>> {
  const { clock, log } = context;
  const begunMs = clock.elapsed();
  let begun: Promise<T> | undefined;
  const authorisedCall = async (): Promise<T> => {
    if (context.isStopping()) throw new KdebugError('shutting_down');
    await authoriseOrRecord({ context, handler }, sender);
    // The person has already read that it timed out: do not process it now.
    if (clock.elapsed() - begunMs >= ACK_GUARD_MS) throw new KdebugError('slack_not_taken');
    begun = call();
    return begun;
  };
  const onLate = (): T => {
    if (begun === undefined || whenLate === undefined) throw new KdebugError('slack_not_taken');
    return whenLate(begun);
  };
  try {
    return { kind: 'answered', answer: await withDeadline(clock, ACK_GUARD_MS, authorisedCall(), onLate) };
  } catch (thrown) {
    const error = toKdebugError(thrown);
    const { code, detail } = error;
    log.warn('Slack request refused', { handler: handler.name, userId: sender.userId, code, detail });
    return { kind: 'refused', error };
  }
}

/** Records a refusal in the background, because the answer need not wait for it. */
async function authoriseOrRecord({ context, handler }: Omit<Delivered, 'body'>, sender: Sender): Promise<void> {
  try {
    await authorise(context, handler, sender);
  } catch (thrown) {
    const { userId, channelId = '' } = sender;
    const { code } = toKdebugError(thrown);
    const teamIds = sender.teamIds.filter((id) => id !== undefined);
    // In a shared channel the payload may name our team too: record the foreign one.
    const teamId = teamIds.find((id) => id !== context.identity.teamId) ?? teamIds[0];
    const who = { userId, channelId, ...defined({ teamId }) };
    context.inBackground(context.inbox.refused({ ...who, handler: handler.name, code }));
    throw thrown;
  }
}

/** For a call whose answer may follow its acknowledgement. */
export const answerLater = <T>(answer: Promise<T>): Later<T> => ({ kind: 'later', answer });

/** Omits the error's detail, which is for operators. */
export const refusal = (error: KdebugError, names: ShownNames): Message =>
  message({ tone: 'failure' }, [
    paragraph`${strong(`kdebug: ${error.title}`)}`,
    paragraph`${withNames(error.hint, names)}`,
    note`Error code: ${error.code}`,
  ]);

export interface Sender {
  readonly userId: string;
  readonly channelId: string | undefined;
  /** Every team in the payload, the channel's and the person's own. All must be ours. */
  readonly teamIds: readonly (string | undefined)[];
  readonly enterpriseId: string | undefined;
  /** The payload's value in any shape; undefined if it names no app. */
  readonly appId: string | undefined;
}

const REFUSED: Readonly<Record<Exclude<Person['kind'], Handler['needs']>, ReasonCode>> = {
  guest: 'person_is_guest',
  sibling: 'person_in_other_workspace',
  outsider: 'person_is_outsider',
  bot: 'person_is_bot',
  deactivated: 'person_is_deactivated',
};

/**
 * The one check before the inbox: our app, our team, and by Slack's current directory a person of the kind that the row needs.
 * @throws KdebugError slack_not_our_team, person_is_guest, person_in_other_workspace, person_is_outsider, person_is_bot,
 * person_is_deactivated, and the `Directory`'s errors: refuses a person who cannot be looked up
 */
async function authorise(
  { identity, directory }: Pick<ListenerContext, 'identity' | 'directory'>,
  handler: Handler,
  sender: Sender,
): Promise<void> {
  if (!isOurs(sender, handler, identity)) throw new KdebugError('slack_not_our_team');
  if (sender.userId === identity.botUserId) throw new KdebugError('person_is_bot');
  const { kind } = await directory.person(sender.userId);
  if (kind !== handler.needs) throw new KdebugError(REFUSED[kind]);
}

/**
 * A shared channel (Slack Connect) shows our buttons and commands to other teams, and another app may sign with a copied secret. So this
 * rejects payloads without a team, of another app, or without the expected app id. An enterprise counts only if we are installed in one.
 */
export function isOurs(
  sender: Pick<Sender, 'teamIds' | 'enterpriseId' | 'appId'>,
  { namesApp }: Pick<Handler, 'namesApp'>,
  identity: Identity,
): boolean {
  if (sender.appId === undefined ? namesApp : sender.appId !== identity.appId) return false;
  const teamIds = sender.teamIds.filter((teamId) => teamId !== undefined);
  if (teamIds.length > 0 && teamIds.every((teamId) => teamId === identity.teamId)) return true;
  return identity.enterpriseId !== undefined && sender.enterpriseId === identity.enterpriseId;
}

export const senderOf = (
  { team, enterprise, user, api_app_id }: Interaction,
  channelId: string | undefined,
): Sender => ({
  userId: user.id,
  channelId,
  teamIds: [team?.id, user.team_id],
  enterpriseId: enterprise?.id ?? team?.enterprise_id,
  appId: api_app_id,
});

/**
 * The person's own team. If the payload omits it, or names an organisation in its place (`E…`, for people of an Enterprise), it is ours:
 * `isOurs` has checked.
 */
export const teamIdOf = ({ team, user }: Interaction, identity: Identity): string =>
  [user.team_id, team?.id].find((id) => id?.startsWith('T')) ?? identity.teamId;

interface InteractionInChannel extends Interaction {
  readonly channel: { readonly id: string };
  readonly response_url?: string | undefined;
}

interface Source {
  readonly ts: string;
  /** In a root with replies, Slack sets this to the root's own `ts`. */
  readonly thread_ts?: string | undefined;
}

/** The place where the person reads: a reply's thread, else the channel, even if the message has replies. */
export const destinationOfSender = (
  { channel, user, response_url: responseUrl }: InteractionInChannel,
  { ts, thread_ts: threadTs }: Source,
): PrivateDestination => ({
  channelId: channel.id,
  userId: user.id,
  ...defined({
    threadTs: threadTs !== undefined && threadTs !== ts ? threadTs : undefined,
    isReply: threadTs !== undefined && threadTs !== ts ? (true as const) : undefined,
    responseUrl,
  }),
});
