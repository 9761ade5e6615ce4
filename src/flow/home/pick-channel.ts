import type { ChannelId } from '../../core/ids.ts';
import { DIRECT, type Policy } from '../../core/policy/policy.ts';
import { channelForm, unseenChannels } from '../../core/say/answers/home-messages.ts';
import { reasonMessage } from '../../core/say/answers/private-messages.ts';
import { ownerOf } from '../../core/say/answers/welcome-messages.ts';
import { own } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { type FormContext, openRequestForm } from '../form/request-form.ts';
import {
  type Actor,
  ANSWER_WITHIN_MS,
  type Answer,
  type ChannelForm,
  type GlobalShortcut,
  type Submission,
  type SubmitAnswer,
} from '../ports/slack.ts';
import { theirChannels } from './their-channels.ts';

/** Slack accepts at most 100 options. */
const MAX_CHOICES = 100;

/** Slack's name of the channel where the policy has none; its id where Slack does not answer. */
async function named(id: ChannelId, { channels }: Policy, { directory }: Pick<FlowDeps, 'directory'>) {
  const name = own(channels, id)?.name;
  return {
    id,
    name:
      name ??
      (await directory.channel(id).then(
        ({ name: its }) => `#${its}`,
        () => id,
      )),
  };
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
  const { ids, tooLarge, unknown, failure } = await theirChannels(userId, policy, deps, ANSWER_WITHIN_MS);
  const [first] = ids;
  if (first === undefined) {
    if (failure !== undefined) throw failure;
    const whom = `ask ${ownerOf(policy)}`;
    const message = reasonMessage('channel_none', tooLarge > 0 ? `${unseenChannels(tooLarge)} Else ${whom}` : whom);
    return { kind: 'page', title: TITLE, message };
  }
  const unseen = tooLarge + unknown;
  if (ids.length === 1 && unseen === 0) return formOf({ teamId, userId, channelId: first }, context);
  const channels = await Promise.all(ids.slice(0, MAX_CHOICES).map((id) => named(id, policy, deps)));
  return { kind: 'form', form: channelForm(channels, unseen), channelId: first };
}

const TITLE = 'Debug a pod';

/** The chosen channel is checked again: the person and the bot must be in it, and the policy must name it. @throws as `Directory` */
export async function submitChannel(
  { teamId, userId, fields }: Submission,
  context: FormContext,
): Promise<SubmitAnswer> {
  const { deps } = context;
  const { channels } = deps.policies.current();
  const chosen = (Object.keys(channels) as ChannelId[]).find((id) => id !== DIRECT && id === fields.channel);
  if (!chosen || !(await deps.directory.areTogetherIn(chosen, userId)))
    return { kind: 'errors', errors: { channel: 'You are not in this channel, or kdebug may not be used there.' } };
  const answer = formOf({ teamId, userId, channelId: chosen }, context);
  return answer.kind === 'form' ? answer : { kind: 'taken', message: answer.message };
}

function formOf(actor: Actor, context: FormContext): ChannelForm | Extract<Answer, { kind: 'page' }> {
  const answer = openRequestForm(actor, {}, context);
  const { channelId } = actor;
  return answer.kind === 'form'
    ? { ...answer, channelId }
    : { kind: 'page', title: TITLE, message: reasonMessage('channel_unknown', channelId) };
}
