import type { SlackState } from '../state/state.ts';
import type { SlackChannel } from '../state/team.ts';
import { SlackError } from './slack-error.ts';

/**
 * Whether the channel takes a post now, a reply when `threadTs` is given.
 * @throws SlackError messages_tab_disabled, restricted_action, restricted_action_non_threadable_channel, restricted_action_thread_locked
 */
export function checkPosting(slack: SlackState, channel: SlackChannel, threadTs: string | undefined): void {
  if (channel.kind === 'im' && slack.team.messagesTabDisabled) throw new SlackError('messages_tab_disabled');
  if (channel.posting === 'nobody') throw new SlackError('restricted_action');
  if (threadTs === undefined) return;
  if (channel.posting === 'no-threads') throw new SlackError('restricted_action_non_threadable_channel');
  if (slack.message(channel.id, threadTs)?.locked) throw new SlackError('restricted_action_thread_locked');
}
