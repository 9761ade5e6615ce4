import { formatCount } from '../../lib/duration.ts';
import { shorten } from '../../lib/text.ts';
import { mayBeUsed } from '../policy/lint-notes.ts';
import type { ChannelPolicy, ImageAlias, ImageClass, Policy, Rule } from '../policy/policy.ts';
import { isBatchRun } from '../run/life-cycle.ts';
import type { Run } from '../run/run.ts';
import {
  channel,
  code,
  type Form,
  link,
  type Message,
  type Part,
  person,
  type Span,
  strong,
  text,
  time,
} from './message.ts';
import { describeOutcome, STATE_TEXT } from './outcome-text.ts';
import { batchWords } from './run-for-one.ts';
import { typedCommand } from './typed-text.ts';

/** What a launch of a class can do to a pod, for people who do not know our words. */
const MAY: Readonly<Record<ImageClass, string>> = {
  observe: 'look at pods',
  intrusive: 'slow or change pods',
  elevated: 'use more power than a pod has itself',
};

/** The images of a rule: those that it can allow for some pod. */
const imagesOf = (rules: readonly Rule[], policy: Policy): readonly ImageAlias[] =>
  Object.values(policy.images).filter((image) => rules.some((rule) => mayBeUsed(image, rule)));

const isUsable = ({ clusters, namespaces, classes, profiles }: Rule): boolean =>
  [clusters, namespaces, classes, profiles].every((list) => list.length > 0);

/** What a channel may do, one item for each rule that allows anything: what, where, and who must approve. */
export const ruleItems = ({ rules }: ChannelPolicy): readonly (readonly Span[])[] => rules.filter(isUsable).map(itemOf);

function itemOf({ classes, namespaces, batch, approval }: Rule): readonly Span[] {
  const what = classes.map((each) => MAY[each]).join(' and ');
  const where = namespaces.flatMap((each, index): Span[] => [...(index === 0 ? [] : [text(', ')]), code(each)]);
  const many = batch === undefined ? '' : `; up to ${formatCount(batch.maxPods, 'pod')} at once`;
  const approvers = approval?.from.join(', ') || 'nobody';
  const who =
    approval === undefined ? 'no approval needed' : `${formatCount(approval.count, 'approval')} from ${approvers}`;
  const why = approval?.reason === 'required' ? ', with a reason' : '';
  return [
    strong(`${what.charAt(0).toUpperCase()}${what.slice(1)}`),
    text(' in '),
    ...where,
    text(`: ${who}${why}${many}`),
  ];
}

/** An example that works: with the default image, else with the first that the rules allow. */
function exampleOf(rules: readonly Rule[], policy: Policy): string {
  const allowed = imagesOf(rules, policy);
  const isDefault = allowed.some(({ alias }) => alias === policy.defaultImage);
  const [first] = allowed;
  return isDefault || first === undefined ? '/kdebug POD' : `/kdebug POD --image=${first.alias}`;
}

/** Whom to ask for a change, in the words of the policy. */
export const ownerOf = (policy: Policy, place?: ChannelPolicy): string =>
  place?.owner ?? policy.owner ?? 'the owners of the kdebug policy';

/** For a channel of the policy that the bot was invited to: what people may do there, one example, and whom to ask for more. */
export function welcomeMessage(place: ChannelPolicy, policy: Policy): Message {
  const items = ruleItems(place);
  const example = exampleOf(place.rules, policy);
  const allowed: readonly Part[] = [
    paragraph([text('Type '), code(example), text(' with the name of a running pod. In this channel people may:')]),
    { kind: 'list', items },
  ];
  const nothing = paragraph([text('The policy names this channel, but allows nothing here yet.')]);
  return {
    summary: 'kdebug is ready: it debugs running pods and answers in this channel.',
    tone: 'success',
    parts: [
      paragraph([strong('kdebug is ready'), text(': it debugs running pods and answers in this channel.')]),
      ...(items.length === 0 ? [nothing] : allowed),
      {
        kind: 'note',
        spans: [code('/kdebug help'), text(` shows all commands · For other rights ask ${ownerOf(policy, place)}`)],
      },
    ],
  };
}

/** For a channel that the policy does not name: how it is added. */
export function notInPolicyMessage(channelId: string, policy: Policy): Message {
  const summary = 'kdebug can do nothing in this channel yet: its policy does not name the channel.';
  return {
    summary,
    tone: 'attention',
    parts: [
      paragraph([strong('kdebug can do nothing in this channel yet'), text(': its policy does not name the channel.')]),
      paragraph([text(`Ask ${ownerOf(policy)} to add `), code(channelId), text(' to the channels of the policy.')]),
    ],
    code: 'channel_unknown',
  };
}

const paragraph = (spans: readonly Span[]): Part => ({ kind: 'paragraph', spans });

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
  /** How many more channels there are. */
  readonly channelsLeftOut: number;
  readonly policy: Policy;
  /** What Slack did not tell in time. */
  readonly isIncomplete: boolean;
  readonly nowMs: number;
}

/** What one person sees on the Home tab: what waits for them, their runs, what their channels may do, and how to begin. */
export function homeMessage(facts: HomeFacts): Message {
  const { waiting = [], isIncomplete, nowMs, policy } = facts;
  const incomplete = paragraph([text('Slack did not tell everything in time. Open this page again for the rest.')]);
  return {
    summary: waiting.length === 0 ? 'kdebug' : `${formatCount(waiting.length, 'request')} waiting for your approval`,
    tone: waiting.length === 0 ? 'neutral' : 'attention',
    parts: [
      ...waitingParts(facts),
      ...runParts(facts),
      ...channelParts(facts),
      ...startParts(facts),
      ...(isIncomplete ? [incomplete] : []),
      { kind: 'note', spans: [text('As of '), time(nowMs), text(` · For other rights ask ${ownerOf(policy)}`)] },
    ],
  };
}

const heading = (words: string): Part => ({ kind: 'heading', text: words });

function waitingParts({ waiting }: HomeFacts): readonly Part[] {
  if (waiting === undefined) return [];
  if (waiting.length === 0) return [heading('Nothing waits for your approval')];
  return [heading('Waiting for your approval'), { kind: 'list', items: waiting.map(waitingItem) }];
}

function waitingItem(shown: RunOnHome): readonly Span[] {
  const { origin, approval } = shown.run;
  const until: readonly Span[] = approval ? [text(', until '), time(approval.expiresAtMs)] : [];
  return [
    person(origin.requesterId),
    text(' asks for '),
    ...nameOf(shown),
    text(' in '),
    placeOf(origin.channelId),
    ...until,
  ];
}

function runParts({ mine }: HomeFacts): readonly Part[] {
  if (mine.length === 0) return [];
  return [heading('Your latest runs'), { kind: 'list', items: mine.map(runItem) }];
}

function runItem(shown: RunOnHome): readonly Span[] {
  const { run } = shown;
  return [strong(stateOf(run)), text(': '), ...nameOf(shown), text(' · '), time(run.origin.receivedAtMs)];
}

function stateOf(run: Run): string {
  if (isBatchRun(run)) return batchWords(run);
  if (run.state !== 'finished' || !run.outcome) return STATE_TEXT[run.state].headline;
  return run.verdict?.line ?? describeOutcome(run.outcome).title;
}

const MAX_COMMAND_LENGTH = 80;

/** The command, and a link to its card. */
function nameOf({ run, url }: RunOnHome): readonly Span[] {
  const command = code(shorten(typedCommand(run), MAX_COMMAND_LENGTH));
  return url === undefined ? [command] : [command, text(' '), link(url, 'Open')];
}

/** Slack shows the id of a direct message as such. */
export const placeOf = (channelId: string): Span =>
  channelId.startsWith('D') ? text('a direct message') : channel(channelId);

function channelParts({ channels, channelsLeftOut, policy }: HomeFacts): readonly Part[] {
  const none = paragraph([
    text(`You are in no channel where kdebug may be used. Ask ${ownerOf(policy)} which one is yours.`),
  ]);
  const more = paragraph([text(`${formatCount(channelsLeftOut, 'more channel')} of yours may use kdebug.`)]);
  return [
    heading('What your channels may do'),
    ...(channels.length === 0 ? [none] : []),
    ...channels.flatMap(([id, rules]) => rulesOf(id, rules)),
    ...(channelsLeftOut > 0 ? [more] : []),
  ];
}

function rulesOf(channelId: string, policy: ChannelPolicy): readonly Part[] {
  const items = ruleItems(policy);
  if (items.length === 0) return [paragraph([placeOf(channelId), text(': nothing yet')])];
  return [paragraph([placeOf(channelId)]), { kind: 'list', items }];
}

function startParts({ channels, policy }: HomeFacts): readonly Part[] {
  const [first] = channels;
  const example = first === undefined ? '/kdebug POD' : exampleOf(first[1].rules, policy);
  const where = first === undefined ? [text('a channel of the policy')] : [placeOf(first[0])];
  return [
    heading('Start here'),
    {
      kind: 'list',
      items: [
        [
          text('Type '),
          code(example),
          text(' in '),
          ...where,
          text(' with the name of a running pod: a first look, in seconds.'),
        ],
        [text('Use the shortcut '), strong('Debug a pod'), text(' on an alert: it finds the pod in the message.')],
        [text('Type '), code('/kdebug help'), text(' for all commands.')],
      ],
    },
  ];
}

/** Asks for which channel a request is: its rules decide, and it reads the result. At most 100. */
export const channelForm = (channels: readonly { readonly id: string; readonly name: string }[]): Form => ({
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
