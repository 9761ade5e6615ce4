import { pointAt } from '../core/command/caret.ts';
import type { Command, CommandError, RunRequest } from '../core/command/command.ts';
import { helpMessage } from '../core/command/help.ts';
import { parseCommand } from '../core/command/parse.ts';
import { printCommand } from '../core/command/print.ts';
import { toKdebugError } from '../core/errors.ts';
import { isRunId } from '../core/ids.ts';
import { own } from '../core/policy/own.ts';
import { type Message, text } from '../core/report/message.ts';
import {
  errorMessage,
  imagesMessage,
  listMessage,
  notYetMessage,
  reasonMessage,
  showMessage,
} from '../core/report/private-messages.ts';
import type { Origin, Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import type { Answer, Click, Inbox, Shortcut, Submission, SubmitAnswer } from './ports.ts';
import { RunSession } from './session.ts';

const LISTED_RUNS = 10;

/** Takes over runs that were just written to the store. */
export interface Starter {
  readonly accepting: 'yes' | 'draining' | 'full';
  start(session: RunSession): void;
}

/**
 * The way in. A command is parsed, and a run written to the store, before it is acknowledged; everything slower happens
 * after that. Bad words get one private answer that rides on the acknowledgement.
 */
export class CommandInbox implements Inbox {
  readonly #deps: FlowDeps;
  readonly #starter: Starter;

  constructor(deps: FlowDeps, starter: Starter) {
    this.#deps = deps;
    this.#starter = starter;
  }

  async command(origin: Origin, words: string): Promise<Answer> {
    const message = await this.#answerTo(origin, words);
    return message ? { kind: 'message', message } : { kind: 'nothing' };
  }

  async #answerTo(origin: Origin, words: string): Promise<Message | undefined> {
    const parsed = parseCommand(words);
    if (parsed.kind === 'error') {
      this.#count(parsed.error.code, origin);
      return commandErrorMessage(parsed.error);
    }
    try {
      const answer = await this.#answer(origin, parsed.command);
      this.#count(answer ? 'answered' : 'accepted', origin);
      return answer;
    } catch (thrown) {
      const error = toKdebugError(thrown);
      this.#count(error.code, origin);
      this.#deps.log.error('a command could not be taken', {
        channelId: origin.channelId,
        reason: error.code,
        error: thrown,
      });
      return errorMessage(error);
    }
  }

  action(click: Click): Promise<Answer> {
    return Promise.resolve({ kind: 'message', message: notYetMessage(`the button ${click.action}`) });
  }

  submit(submission: Submission): Promise<SubmitAnswer> {
    return Promise.resolve({ kind: 'taken', message: notYetMessage(`the form ${submission.name}`) });
  }

  shortcut(_shortcut: Shortcut): Promise<Answer> {
    return Promise.resolve({ kind: 'message', message: helpMessage() });
  }

  #count(result: string, origin: Origin): void {
    this.#deps.metrics.command(result, this.#deps.clock.now() - origin.receivedAtMs);
  }

  async #answer(origin: Origin, command: Command): Promise<Message | undefined> {
    switch (command.kind) {
      case 'run':
        return this.#take(origin, command.request);
      case 'help':
        return helpMessage(command.topic);
      case 'form':
        return helpMessage();
      case 'list':
        return listMessage(await this.#deps.store.recent(origin.channelId, LISTED_RUNS));
      case 'show':
      case 'logs':
        return this.#show(origin, command.id);
      case 'images':
        return this.#images(origin);
      default:
        return notYetMessage(command.kind);
    }
  }

  async #take(origin: Origin, request: RunRequest): Promise<Message | undefined> {
    const missing = notInThisVersion(request);
    if (missing) return notYetMessage(missing);
    if (this.#starter.accepting !== 'yes') {
      return reasonMessage(this.#starter.accepting === 'draining' ? 'shutting_down' : 'too_busy');
    }
    const run: Run = {
      schema: 1,
      id: this.#deps.ids.runId(),
      state: 'received',
      origin,
      request,
      commandLine: printCommand({ kind: 'run', request }),
      delivery: {},
    };
    const kept = await this.#deps.store.create(run, this.#deps.owner);
    if (kept.kind === 'created') this.#starter.start(new RunSession(run, kept.fence, this.#deps.store));
    return undefined;
  }

  async #show(origin: Origin, id: string): Promise<Message> {
    const run = isRunId(id) ? await this.#deps.store.read(id) : undefined;
    // A run of another channel is as good as none: its log may say what this channel must not see.
    return run && run.origin.channelId === origin.channelId ? showMessage(run) : reasonMessage('run_not_found', id);
  }

  #images(origin: Origin): Message {
    const policy = this.#deps.policies.current();
    return own(policy.channels, origin.channelId)
      ? imagesMessage(policy)
      : reasonMessage('channel_unknown', origin.channelId);
  }
}

function notInThisVersion(request: RunRequest): string | undefined {
  const { batch } = request;
  if (request.target.kind !== 'pod') return 'a request for several pods (deployment/…, -l, --all)';
  if (batch.replicas !== undefined || batch.parallelism !== undefined || batch.ttlMs !== undefined || batch.canary)
    return 'a batch';
  if (request.dryRun) return '--dry-run';
  if (request.holdMs !== undefined) return '--hold';
  return undefined;
}

function commandErrorMessage(error: CommandError): Message {
  return {
    summary: error.message,
    tone: 'failure',
    parts: [
      { kind: 'paragraph', spans: [text(error.message)] },
      { kind: 'preformatted', text: pointAt(error) },
      ...(error.hint === undefined ? [] : [{ kind: 'paragraph', spans: [text(error.hint)] } as const]),
      { kind: 'note', spans: [text('Nothing was started. /kdebug help shows what can be asked.')] },
    ],
  };
}
