import { formatCount } from '../../../lib/duration.ts';
import type { ImageClass } from '../../container/image-class.ts';
import { mayBeUsed } from '../../planning/resolve.ts';
import type { ChannelPolicy, ImageAlias, Policy, Rule } from '../../policy/policy.ts';
import { COMMAND } from '../../shown-names.ts';
import { joined, line, list, message, note, paragraph } from '../message/line.ts';
import { code, type Message, type Span, strong } from '../message/message.ts';

/** The possible effects of a class of launch on a pod, for people who do not know our words. */
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

/** The rights of a channel, one item for each rule that allows anything: what, where, and who must approve. */
export const ruleItems = ({ rules }: ChannelPolicy): readonly (readonly Span[])[] => rules.filter(isUsable).map(itemOf);

function itemOf({ classes, namespaces, batch, approval }: Rule): readonly Span[] {
  const what = classes.map((each) => MAY[each]).join(' and ');

  const many = batch === undefined ? '' : `; up to ${formatCount(batch.maxPods, 'pod')} at once`;
  const approvers = approval?.from.join(', ') || 'nobody';
  const who =
    approval === undefined ? 'no approval needed' : `${formatCount(approval.count, 'approval')} from ${approvers}`;
  const why = approval?.reason === 'required' ? ', with a reason' : '';
  const may = strong(`${what.charAt(0).toUpperCase()}${what.slice(1)}`);
  return line`${may} in ${joined(namespaces.map(code))}: ${who}${why}${many}`;
}

/** An example that works: with the default image, else with the first that the rules allow. */
export function exampleOf(rules: readonly Rule[], policy: Policy): string {
  const allowed = imagesOf(rules, policy);
  const isDefault = allowed.some(({ alias }) => alias === policy.defaultImage);
  const [first] = allowed;
  return isDefault || first === undefined ? `${COMMAND} POD` : `${COMMAND} POD --image=${first.alias}`;
}

/** The people to ask for a change, in the words of the policy. */
export const ownerOf = (policy: Policy, channel?: ChannelPolicy): string =>
  channel?.owner ?? policy.owner ?? 'the owners of the kdebug policy';

/** For a channel of the policy that the bot was invited to: what people may do there, one example, and whom to ask for more. */
export function welcomeMessage(channel: ChannelPolicy, policy: Policy): Message {
  const items = ruleItems(channel);
  const example = code(exampleOf(channel.rules, policy));
  return message({ tone: 'success' }, [
    paragraph`${strong('kdebug is ready')}: it debugs running pods and answers in this channel.`,
    items.length === 0
      ? paragraph`The policy names this channel, but allows nothing here yet.`
      : paragraph`Type ${example} with the name of a running pod. In this channel people may:`,
    list(items),
    note`${code(`${COMMAND} help`)} shows all commands · For other rights ask ${ownerOf(policy, channel)}`,
  ]);
}

/** For a channel that the policy does not name: how it is added. */
export const notInPolicyMessage = (channelId: string, policy: Policy): Message =>
  message({ tone: 'attention', code: 'channel_unknown' }, [
    paragraph`${strong('kdebug can do nothing in this channel yet')}: its policy does not name the channel.`,
    paragraph`Ask ${ownerOf(policy)} to add ${code(channelId)} to the channels of the policy.`,
  ]);
