import { channelPolicy } from '../../core/policy/policy.ts';
import type { Command } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import { helpMessage } from '../../core/say/answers/help.ts';
import { imagesMessage, reasonMessage } from '../../core/say/answers/private-messages.ts';
import type { Message } from '../../core/say/message/message.ts';
import { typeRerun } from '../again/rerun.ts';
import type { AcceptRequest, LookupLimiter } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import { answerWith } from '../context/refusals.ts';
import { openRequestForm } from '../form/request-form.ts';
import { describePod } from '../lookup/describe.ts';
import { canI, whoAmI } from '../lookup/explain.ts';
import { listRuns } from '../lookup/list.ts';
import { showOrLogs } from '../lookup/show.ts';
import type { Answer } from '../ports/slack.ts';
import type { JobInbox } from './apply-job.ts';
import type { BatchCommands } from './batch-commands.ts';
import type { Stops } from './stop-request.ts';

export interface CommandContext {
  readonly deps: FlowDeps;
  readonly accept: AcceptRequest;
  readonly batches: BatchCommands;
  readonly jobs: JobInbox;
  readonly lookups: LookupLimiter;
  readonly stops: Stops;
  readonly previews: LookupLimiter;
}

export async function answerCommand(origin: Origin, command: Command, context: CommandContext): Promise<Answer> {
  const isBroad = command.kind === 'list' && command.all === true;
  const limited = context.lookups.refusal(origin.requesterId, isBroad ? 'list-all' : command.kind);
  if (limited) return answerWith(limited);
  switch (command.kind) {
    case 'run':
      return context.accept(origin, command.request, { offersEqual: true });
    case 'rerun':
      return typeRerun(origin, command.id, context);
    case 'form':
      return openRequestForm({ ...origin, userId: origin.requesterId }, {}, context);
    case 'batch':
      return context.batches.command(origin, command);
    case 'export':
      return context.batches.export(origin, command.id);
    case 'stop':
      return context.stops.command(origin, command.id);
    case 'apply':
      return context.jobs.command(origin, command);
    default:
      return answerWith(await messageFor(origin, command, context.deps));
  }
}

type Lookup = Exclude<Command, { kind: 'run' | 'rerun' | 'form' | 'batch' | 'export' | 'apply' | 'stop' }>;

async function messageFor(origin: Origin, command: Lookup, deps: FlowDeps): Promise<Message> {
  switch (command.kind) {
    case 'help':
      return helpMessage(command.topic);
    case 'list':
      return listRuns(origin, command, deps);
    case 'show':
      return showOrLogs(origin, { kind: 'show', id: command.id }, deps);
    case 'logs':
      return showOrLogs(origin, command, deps);
    case 'images':
      return imagesOf(origin, deps);
    case 'can-i':
      return canI(origin, command.request, deps);
    case 'whoami':
      return whoAmI(origin, deps);
    case 'describe':
      return describePod(origin, command, deps);
  }
}

function imagesOf({ channelId }: Origin, { policies }: FlowDeps): Message {
  const policy = policies.current();
  const channel = channelPolicy(policy, channelId);
  return channel ? imagesMessage(policy, channel) : reasonMessage('channel_unknown', channelId);
}
