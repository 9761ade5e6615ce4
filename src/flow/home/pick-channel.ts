import type { Policy } from '../../core/policy/policy.ts';
import { channelForm } from '../../core/report/answers/home-messages.ts';
import { reasonMessage } from '../../core/report/answers/private-messages.ts';
import { ownerOf } from '../../core/report/answers/welcome-messages.ts';
import { own } from '../../lib/object.ts';
import type { FlowDeps } from '../deps.ts';
import { type FormContext, openRequestForm } from '../form/request-form.ts';
import type { Actor, Answer, ChannelForm, GlobalShortcut, Submission, SubmitAnswer } from '../ports/slack.ts';

/** Slack accepts at most 100 options. */
const MAX_CHOICES = 100;

/** The channels of the policy that a person is in, with their names. @throws as `Directory` */
async function channelsOf(userId: string, { channels }: Policy, { directory }: Pick<FlowDeps, 'directory'>) {
  const names = await directory.channelsOf(userId);
  return Object.keys(channels)
    .filter((id) => names.has(id))
    .map((id) => ({ id, name: own(channels, id)?.name ?? `#${names.get(id)}` }));
}

/**
 * The shortcut "Debug a pod" of the whole workspace: the request's form at once for people in one channel of the policy; else first the
 * choice of the channel, or whom to ask. @throws as `Directory`
 */
export async function debugAnywhere(
  { teamId, userId }: GlobalShortcut,
  context: FormContext,
): Promise<ChannelForm | Extract<Answer, { kind: 'page' }>> {
  const { deps } = context;
  const policy = deps.policies.current();
  const channels = await channelsOf(userId, policy, deps);
  const [first, ...others] = channels;
  if (first === undefined) {
    const message = reasonMessage('channel_none', `ask ${ownerOf(policy)}`);
    return { kind: 'page', title: TITLE, message };
  }
  if (others.length > 0) {
    const form = channelForm(channels.slice(0, MAX_CHOICES));
    return { kind: 'form', form, channelId: first.id };
  }
  return formOf({ teamId, userId, channelId: first.id }, context);
}

const TITLE = 'Debug a pod';

/** The chosen channel is checked afresh: the person must be in it now, and the policy must name it. @throws as `Directory` */
export async function submitChannel(
  { teamId, userId, fields }: Submission,
  context: FormContext,
): Promise<SubmitAnswer> {
  const { deps } = context;
  const channels = await channelsOf(userId, deps.policies.current(), deps);
  const chosen = channels.find(({ id }) => id === fields.channel);
  if (!chosen)
    return { kind: 'errors', errors: { channel: 'You are not in this channel, or kdebug may not be used there.' } };
  const answer = formOf({ teamId, userId, channelId: chosen.id }, context);
  return answer.kind === 'form' ? answer : { kind: 'taken', message: answer.message };
}

function formOf(actor: Actor, context: FormContext): ChannelForm | Extract<Answer, { kind: 'page' }> {
  const answer = openRequestForm(actor, {}, context);
  const { channelId } = actor;
  return answer.kind === 'form'
    ? { ...answer, channelId }
    : { kind: 'page', title: TITLE, message: reasonMessage('channel_unknown', channelId) };
}
