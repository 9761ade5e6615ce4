import { formatCount } from '../../../lib/duration.ts';
import { shorten } from '../../../lib/text.ts';
import type { ChannelPolicy, Policy } from '../../policy/policy.ts';
import { isBatchRun } from '../../run/life-cycle.ts';
import type { Run } from '../../run/run.ts';
import { COMMAND } from '../../shown-names.ts';
import { heading, line, list, message, note, paragraph, type Shown } from '../message/line.ts';
import {
  channel,
  code,
  type Form,
  link,
  type Message,
  person,
  type Span,
  strong,
  text,
  time,
} from '../message/message.ts';
import { typedCommand } from '../message/typed-text.ts';
import { endHeadlineOf } from '../parts/headline.ts';
import { armedUntil, describeOutcome, stateWords } from '../parts/outcome-text.ts';
import { batchWords } from './run-for-one.ts';
import { exampleOf, ownerOf, ruleItems } from './welcome-messages.ts';

/** A run as the Home tab lists it. */
export interface RunOnHome {
  readonly run: Run;
  /** Its card, where this person can read it. */
  readonly url?: string;
}

export interface HomeFacts {
  /** Requests that this person may decide now, oldest first; undefined: they approve for no channel. */
  readonly waiting: readonly RunOnHome[] | undefined;
  /** Their own, newest first. */
  readonly mine: readonly RunOnHome[];
  /** The channels of the policy that they are in. */
  readonly channels: readonly (readonly [string, ChannelPolicy])[];
  /** The number of further channels. */
  readonly channelsLeftOut: number;
  /** The number of channels in the policy that have too many people to look for this one among them. */
  readonly channelsTooLarge: number;
  readonly policy: Policy;
  /** Slack did not answer everything in time. */
  readonly isIncomplete: boolean;
  readonly nowMs: number;
}

/**
 * The Home tab of one person: the requests that wait for them, their runs, the rights of their channels, and how to
 * begin.
 */
export function homeMessage(facts: HomeFacts): Message {
  const { waiting = [], isIncomplete, nowMs, policy } = facts;
  const summary =
    waiting.length === 0 ? 'kdebug' : `${formatCount(waiting.length, 'request')} waiting for your approval`;
  return message({ summary, tone: waiting.length === 0 ? 'neutral' : 'attention' }, [
    waitingParts(facts),
    runParts(facts),
    channelParts(facts),
    startParts(facts),
    isIncomplete && paragraph`Slack was too slow to load everything. Open this page again for the rest.`,
    note`As of ${time(nowMs)} · For other rights ask ${ownerOf(policy)}`,
  ]);
}

function waitingParts({ waiting }: HomeFacts): Shown {
  if (waiting === undefined) return [];
  if (waiting.length === 0) return heading('Nothing waits for your approval');
  return [heading('Waiting for your approval'), list(waiting.map(waitingItem))];
}

function waitingItem(shown: RunOnHome): readonly Span[] {
  const { origin, approval } = shown.run;
  const until = approval ? line`, until ${time(approval.expiresAtMs)}` : [];
  return line`${person(origin.requesterId)} asks for ${nameOf(shown)} in ${channelSpan(origin.channelId)}${until}`;
}

const runParts = ({ mine }: HomeFacts): Shown =>
  mine.length > 0 && [heading('Your latest runs'), list(mine.map(runItem))];

const runItem = (shown: RunOnHome): readonly Span[] =>
  line`${strong(stateOf(shown.run))}${armedUntil(shown.run)}: ${nameOf(shown)} · ${time(shown.run.origin.receivedAtMs)}`;

function stateOf(run: Run): string {
  if (isBatchRun(run)) return batchWords(run);
  if (run.state !== 'finished' || !run.outcome) return stateWords(run);
  return endHeadlineOf(run) ?? describeOutcome(run.outcome).title;
}

const MAX_COMMAND_LENGTH = 80;

/** The command, and a link to its card. */
function nameOf({ run, url }: RunOnHome): readonly Span[] {
  const command = code(shorten(typedCommand(run), MAX_COMMAND_LENGTH));
  return url === undefined ? [command] : line`${command} ${link(url, 'Open')}`;
}

/** Slack shows the id of a direct message as such. */
const channelSpan = (channelId: string): Span =>
  channelId.startsWith('D') ? text('a direct message') : channel(channelId);

const channelParts = ({ channels, channelsLeftOut, channelsTooLarge, policy }: HomeFacts): Shown => [
  heading('What your channels may do'),
  channels.length === 0 &&
    channelsTooLarge === 0 &&
    paragraph`None of your channels may use kdebug. Ask ${ownerOf(policy)} which one is yours.`,
  channels.map(([id, rules]) => rulesOf(id, rules)),
  channelsLeftOut > 0 && paragraph`${formatCount(channelsLeftOut, 'more channel')} of yours may use kdebug.`,
  channelsTooLarge > 0 && paragraph`${unseenChannels(channelsTooLarge)}`,
];

function rulesOf(channelId: string, policy: ChannelPolicy): Shown {
  const items = ruleItems(policy);
  return [paragraph`${channelSpan(channelId)}${items.length === 0 && ': nothing yet'}`, list(items)];
}

function startParts({ channels, policy }: HomeFacts): Shown {
  const [first] = channels;
  const example = first === undefined ? `${COMMAND} POD` : exampleOf(first[1].rules, policy);
  const where = first === undefined ? 'a channel of the policy' : channelSpan(first[0]);
  return [
    heading('Start here'),
    list([
      line`Type ${code(example)} in ${where} with the name of a running pod: a first look, in seconds.`,
      line`Use the shortcut ${strong('Debug a pod')} on an alert: it finds the pod in the message.`,
      line`Type ${code(`${COMMAND} help`)} for all commands.`,
    ]),
  ];
}

/** Names none of them: they may be private, and this person not in them. */
export const unseenChannels = (count: number): string =>
  `kdebug could not see whether you are in ${formatCount(count, 'other channel')} of its policy. If you are, type ${COMMAND} there.`;

/**
 * Asks for which channel a request is: its rules decide, and it reads the result. At most 100. `unseen`: how many channels may be theirs,
 * too.
 */
export const channelForm = (
  channels: readonly { readonly id: string; readonly name: string }[],
  unseen: number,
): Form => ({
  ...(unseen > 0 ? { intro: unseenChannels(unseen) } : {}),
  name: 'pick-channel',
  value: '',
  title: 'Debug a pod',
  submit: 'Next',
  fields: [
    {
      id: 'channel',
      label: 'Channel',
      kind: 'choice',
      optional: false,
      hint: 'Its rules say what may be run, and the result goes there.',
      options: channels.map(({ id, name }) => ({ value: id, label: name })),
    },
  ],
});
