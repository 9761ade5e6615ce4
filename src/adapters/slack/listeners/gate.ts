import type { ModalView } from '@slack/types';
import { KdebugError, type ReasonCode, toKdebugError } from '../../../core/errors.ts';
import { type Message, text } from '../../../core/report/message.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import type { Directory, Inbox, Person, PrivateDestination, Thread } from '../../../flow/ports/slack.ts';
import type { Clock } from '../../../lib/clock.ts';
import { withDeadline } from '../../../lib/deadline.ts';
import { defined } from '../../../lib/defined.ts';
import type { Handler } from '../handlers.ts';
import type { Identity } from '../identity.ts';
import { ACK_GUARD_MS } from '../limits.ts';
import type { Interaction } from '../payloads.ts';
import type { SharedFile } from './message-content.ts';

/** What every listener needs. */
export interface ListenerContext {
  readonly inbox: Inbox;
  readonly thread: Thread;
  readonly directory: Directory;
  readonly identity: Identity;
  readonly clock: Clock;
  readonly log: Log;
  /** Opens a modal with the trigger of an interaction. @throws KdebugError slack_unreachable, slack_refused, slack_token_rejected */
  readonly openView: (triggerId: string, view: ModalView) => Promise<void>;
  /** Reads a file that a person shared. @throws KdebugError slack_file_unreadable */
  readonly readFile: (file: SharedFile) => Promise<string>;
  /** Whether the app is being stopped: then nothing new is taken. */
  readonly isStopping: () => boolean;
  /** Work that outlives the acknowledgement and that a stop waits for; never rejects. */
  readonly inBackground: (work: Promise<void>) => void;
}

/** Something that Slack delivered, for the row of the table that listens to it. */
export interface Delivered {
  readonly context: ListenerContext;
  readonly handler: Handler;
  readonly body: unknown;
}

export interface Question<T> {
  readonly sender: Sender;
  /** Asks the inbox. Called once at most, and only for who may. */
  readonly ask: () => Promise<T>;
}

export type Outcome<T> =
  | { readonly kind: 'answered'; readonly answer: T }
  | { readonly kind: 'refused'; readonly error: KdebugError };

/**
 * The only way to the inbox: authorises by the handler's row, asks, and always has an outcome in time. Never throws. The
 * inbox promises to be done within 2.5 s; whatever is not done when Slack's 3 s are nearly over is refused honestly.
 */
export async function answerOf<T>(
  { context, handler }: Omit<Delivered, 'body'>,
  { sender, ask }: Question<T>,
): Promise<Outcome<T>> {
  const { clock, log } = context;
  const begunMs = clock.now();
  const authorisedAnswer = async (): Promise<T> => {
    if (context.isStopping()) throw new KdebugError('shutting_down');
    await letIn({ context, handler }, sender);
    // Whoever was told that it was too late is not served after all.
    if (clock.now() - begunMs >= ACK_GUARD_MS) throw new KdebugError('slack_not_taken');
    return ask();
  };
  try {
    return { kind: 'answered', answer: await inTime(clock, authorisedAnswer()) };
  } catch (thrown) {
    const error = toKdebugError(thrown);
    const { code, detail } = error;
    log.warn('a request from Slack was not taken', { handler: handler.name, userId: sender.userId, code, detail });
    return { kind: 'refused', error };
  }
}

/** Authorises; a refusal goes on record, without holding up the answer. */
async function letIn({ context, handler }: Omit<Delivered, 'body'>, sender: Sender): Promise<void> {
  try {
    await authorise(context, handler, sender);
  } catch (thrown) {
    const { userId, channelId = '' } = sender;
    const { code } = toKdebugError(thrown);
    const teamIds = sender.teamIds.filter((id) => id !== undefined);
    // Their own, where a shared channel names ours as well.
    const teamId = teamIds.find((id) => id !== context.identity.teamId) ?? teamIds[0];
    const who = { userId, channelId, ...defined({ teamId }) };
    context.inBackground(context.inbox.refused({ ...who, handler: handler.name, code }));
    throw thrown;
  }
}

const inTime = <T>(clock: Clock, work: Promise<T>): Promise<T> =>
  withDeadline(clock, ACK_GUARD_MS, work, () => {
    throw new KdebugError('slack_not_taken');
  });

/** What went wrong and what to do; the detail only where it is meant for people. */
export const refusal = (error: KdebugError): Message => ({
  summary: `kdebug: ${error.title}`,
  tone: 'failure',
  parts: [
    { kind: 'paragraph', spans: [{ kind: 'strong', text: `kdebug: ${error.title}` }] },
    { kind: 'paragraph', spans: [text(error.hint)] },
    { kind: 'note', spans: [text(`Error code: ${error.code}`)] },
  ],
});

/** Who sent a request, as far as its payload says. */
export interface Sender {
  readonly userId: string;
  /** Where they stood, if the request says. */
  readonly channelId: string | undefined;
  /** Every team that the request names: where it stands, and the person's own. All of them must be ours. */
  readonly teamIds: readonly (string | undefined)[];
  readonly enterpriseId: string | undefined;
  /** As the payload has it, whatever its shape; undefined where it names none. */
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
 * The one check before the inbox hears of anything: our app, our team, and a person of the kind that the handler's row asks
 * for, by what Slack itself says of them now. Resolves when they may.
 * @throws KdebugError slack_not_our_team, person_is_guest, person_in_other_workspace, person_is_outsider, person_is_bot,
 * person_is_deactivated, and the `Directory`'s: who cannot be looked up is refused
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
 * A shared channel (Slack Connect) holds people of other teams who see our buttons and commands; another app may sign with
 * a secret that was copied. What names no team is not ours, nor what names another app, nor what should name one and does not. An
 * enterprise vouches only where we are installed in one.
 */
function isOurs(sender: Sender, { namesApp }: Handler, identity: Identity): boolean {
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

/** The person's own team; what is not said was checked to be ours. */
export const teamIdOf = ({ team, user }: Interaction, identity: Identity): string =>
  user.team_id ?? team?.id ?? identity.teamId;

interface Standing extends Interaction {
  readonly channel: { readonly id: string };
  readonly response_url?: string | undefined;
}

/** The message that was clicked or picked. */
interface Source {
  readonly ts: string;
  /** The root's own `ts` in a root that has replies. */
  readonly thread_ts?: string | undefined;
}

/** Where the person looks: in the thread if the message is a reply, else in the channel, also when replies stand under the message. */
export const destinationOfSender = (
  { channel, user, response_url }: Standing,
  { ts, thread_ts }: Source,
): PrivateDestination => ({
  channelId: channel.id,
  userId: user.id,
  ...(thread_ts === undefined || thread_ts === ts ? {} : { threadTs: thread_ts, isReply: true as const }),
  ...(response_url === undefined ? {} : { responseUrl: response_url }),
});
