import type { Command } from '../../core/command/command.ts';
import { helpMessage } from '../../core/command/help.ts';
import { channelPolicy } from '../../core/policy/policy.ts';
import type { Message } from '../../core/report/message.ts';
import { imagesMessage, listMessage, notYetMessage, reasonMessage } from '../../core/report/private-messages.ts';
import { type podInText, requestForm } from '../../core/report/request-form.ts';
import type { Origin } from '../../core/run/run.ts';
import type { FlowDeps } from '../deps.ts';
import { canI, whoAmI } from '../lookup/explain.ts';
import { showOrLogs } from '../lookup/show.ts';
import type { Answer } from '../ports/slack.ts';
import type { AcceptRequest, LookLimiter } from './accept.ts';
import type { JobInbox } from './apply-job.ts';
import type { BatchCommands } from './batch-commands.ts';
import { answerReason, answerWith } from './refusals.ts';

const LISTED_RUNS = 10;

export interface CommandContext {
  readonly deps: FlowDeps;
  readonly accept: AcceptRequest;
  readonly batches: BatchCommands;
  readonly jobs: JobInbox;
  readonly looks: LookLimiter;
}

export async function answerCommand(origin: Origin, command: Command, context: CommandContext): Promise<Answer> {
  const limited = context.looks.refusal(origin.requesterId, command.kind);
  if (limited) return answerWith(limited);
  switch (command.kind) {
    case 'run':
      return context.accept(origin, command.request);
    case 'form':
      return openRequestForm(origin.channelId, {}, context.deps);
    case 'batch':
      return context.batches.command(origin, command);
    case 'export':
      return context.batches.export(origin, command.id);
    case 'apply':
      return context.jobs.command(origin, command);
    default:
      return answerWith(await messageFor(origin, command, context.deps));
  }
}

type Lookup = Exclude<Command, { kind: 'run' | 'form' | 'batch' | 'export' | 'apply' }>;

async function messageFor(origin: Origin, command: Lookup, deps: FlowDeps): Promise<Message> {
  switch (command.kind) {
    case 'help':
      return helpMessage(command.topic);
    case 'list':
      return listMessage(await deps.store.recent(origin.channelId, LISTED_RUNS));
    case 'show':
    case 'logs':
      return showOrLogs(origin, { kind: command.kind, id: command.id }, deps);
    case 'images':
      return imagesOf(origin, deps);
    case 'can-i':
      return canI(origin, command.request, deps);
    case 'whoami':
      return whoAmI(origin, deps);
    case 'stop':
    case 'rerun':
    case 'describe':
      return notYetMessage(command.kind);
  }
}

function imagesOf({ channelId }: Origin, { policies }: FlowDeps): Message {
  const policy = policies.current();
  return channelPolicy(policy, channelId) ? imagesMessage(policy) : reasonMessage('channel_unknown', channelId);
}

/** For a bare `/kdebug` and the shortcut "Debug a pod". */
export function openRequestForm(
  channelId: string,
  hint: ReturnType<typeof podInText>,
  { policies }: Pick<FlowDeps, 'policies'>,
): Answer {
  const policy = policies.current();
  if (!channelPolicy(policy, channelId)) return answerReason('channel_unknown', channelId);
  return { kind: 'form', form: requestForm(policy, hint) };
}
