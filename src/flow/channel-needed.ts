import type { ParsedCommand } from '../core/command/command.ts';
import { own } from '../core/policy/own.ts';
import type { Message } from '../core/report/message.ts';
import { reasonMessage } from '../core/report/private-messages.ts';
import type { Origin } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';

/** Ids of direct messages; those of group messages look like channels'. */
const DIRECT = /^D[A-Z0-9]/;

/**
 * The one answer in a direct or group message, to everything but a question for help. Undefined: it is a channel, or a group message
 * that the policy names.
 */
export function channelNeeded(
  { channelId, inGroupMessage }: Pick<Origin, 'channelId' | 'inGroupMessage'>,
  { policies }: Pick<FlowDeps, 'policies'>,
  parsed?: ParsedCommand,
): Message | undefined {
  if (parsed?.kind === 'ok' && parsed.command.kind === 'help') return undefined;
  if (!inGroupMessage && !DIRECT.test(channelId)) return undefined;
  return own(policies.current().channels, channelId) ? undefined : reasonMessage('channel_needed');
}
