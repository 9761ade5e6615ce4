import { describeMessage, type LocalSlack, type StoredMessage } from '../slack/index.ts';
import { tagOf } from './our-posts.ts';

export interface Asked {
  readonly user: string;
  readonly channel: string;
  /** Without `/kdebug`. */
  readonly words: string;
}

/** How a command was answered in the end. */
export type Answer =
  /** Privately, with nothing started. */
  | { readonly kind: 'private'; readonly text: string }
  /** In a thread: what the anchor and the result say, and the log's file when there is one. */
  | {
      readonly kind: 'thread';
      readonly run: string;
      readonly anchorTs: string;
      readonly anchor: string;
      readonly result: string;
      readonly fileId?: string;
    };

export type ThreadAnswer = Extract<Answer, { kind: 'thread' }>;

/**
 * Types a command as a person would and waits until it has been answered: a result in a thread, or a private word.
 * One command of a person at a time. @throws Error when Slack's three seconds were missed, or after `limitMs`
 */
export async function ask(slack: LocalSlack, asked: Asked, limitMs = 120_000): Promise<Answer> {
  const before = stampsIn(slack, asked);
  const privateBefore = slack.ephemerals(asked.user).length;
  const delivery = await slack.deliver.command({ user: asked.user, channel: asked.channel, text: asked.words });
  if (delivery.error !== undefined) throw new Error(`Slack saw ${delivery.error}: ${asked.words}`);
  return slack.until(() => privateAnswer(slack, asked, privateBefore) ?? threadAnswer(slack, asked, before), limitMs);
}

/**
 * The same, until there is a thread: where the result of an earlier run of the same command is offered instead, presses
 * *Run anyway*. @throws Error with any other private answer
 */
export async function askInThread(slack: LocalSlack, asked: Asked, limitMs = 120_000): Promise<ThreadAnswer> {
  const before = stampsIn(slack, asked);
  const answer = await ask(slack, asked, limitMs);
  if (answer.kind === 'thread') return answer;
  const { user, channel } = asked;
  const { ts, blocks } = slack.ephemerals(user).at(-1) ?? {};
  if (ts === undefined || !JSON.stringify(blocks).includes('run-anyway'))
    throw new Error(`answered privately: ${answer.text}`);
  await slack.deliver.action({ user, channel, ts, actionId: 'run-anyway' });
  return slack.until(() => threadAnswer(slack, asked, before), limitMs);
}

const postsIn = (slack: LocalSlack, channel: string): readonly StoredMessage[] => [
  ...slack.state.channelMessages(channel).values(),
];

const stampsIn = (slack: LocalSlack, { channel }: Asked): ReadonlySet<string> =>
  new Set(postsIn(slack, channel).map(({ ts }) => ts));

const textOf = (slack: LocalSlack, message: StoredMessage): string =>
  describeMessage(slack.state, message, { times: false }).join('\n').trim();

function privateAnswer(slack: LocalSlack, { user }: Asked, before: number): Answer | undefined {
  const message = slack.ephemerals(user)[before];
  return message && { kind: 'private', text: textOf(slack, message) };
}

function threadAnswer(slack: LocalSlack, { channel }: Asked, before: ReadonlySet<string>): ThreadAnswer | undefined {
  const posts = postsIn(slack, channel);
  const anchor = posts.find((post) => !before.has(post.ts) && tagOf(slack.state, post)?.kind === 'anchor');
  if (!anchor) return undefined;
  // A run that was asked for in a thread has its card in it.
  const threadTs = anchor.threadTs ?? anchor.ts;
  const replies = posts.filter((post) => post.threadTs === threadTs && post.ts > anchor.ts);
  const result = replies.find((message) => tagOf(slack.state, message)?.kind === 'result');
  const fileId = replies.flatMap(({ files }) => files)[0];
  if (!result || (textOf(slack, result).includes('in the attached file') && fileId === undefined)) return undefined;
  return {
    kind: 'thread',
    run: tagOf(slack.state, anchor)?.run ?? '',
    anchorTs: anchor.ts,
    anchor: textOf(slack, anchor),
    result: textOf(slack, result),
    ...(fileId !== undefined && { fileId }),
  };
}
