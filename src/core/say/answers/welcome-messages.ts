import { formatCount } from '../../../lib/duration.ts';
import type { ImageClass } from '../../container/image-class.ts';
import { mayBeUsed } from '../../planning/lint-notes.ts';
import type { ChannelPolicy, ImageAlias, Policy, Rule } from '../../policy/policy.ts';
import { COMMAND } from '../../shown-names.ts';
import { code, type Message, type Part, paragraph, type Span, strong, text } from '../message/message.ts';

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
export function exampleOf(rules: readonly Rule[], policy: Policy): string {
  const allowed = imagesOf(rules, policy);
  const isDefault = allowed.some(({ alias }) => alias === policy.defaultImage);
  const [first] = allowed;
  return isDefault || first === undefined ? `${COMMAND} POD` : `${COMMAND} POD --image=${first.alias}`;
}

/** Whom to ask for a change, in the words of the policy. */
export const ownerOf = (policy: Policy, channel?: ChannelPolicy): string =>
  channel?.owner ?? policy.owner ?? 'the owners of the kdebug policy';

/** For a channel of the policy that the bot was invited to: what people may do there, one example, and whom to ask for more. */
export function welcomeMessage(channel: ChannelPolicy, policy: Policy): Message {
  const items = ruleItems(channel);
  const example = exampleOf(channel.rules, policy);
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
        spans: [
          code(`${COMMAND} help`),
          text(` shows all commands · For other rights ask ${ownerOf(policy, channel)}`),
        ],
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
