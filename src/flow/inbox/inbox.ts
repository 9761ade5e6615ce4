import type { Command } from '../../core/command/command.ts';
import { helpMessage } from '../../core/command/help.ts';
import { parseCommand } from '../../core/command/parse.ts';
import { type ReasonCode, toKdebugError } from '../../core/errors.ts';
import { asChannelId, type UserId } from '../../core/ids.ts';
import { shownCommandLine } from '../../core/report/log/redact-text.ts';
import type { Message } from '../../core/report/message.ts';
import {
  commandErrorMessage,
  errorMessage,
  imagesMessage,
  limitedMessage,
  listMessage,
  notesMessage,
  notYetMessage,
  reasonMessage,
} from '../../core/report/private-messages.ts';
import { commandOfForm, podInText, REQUEST_FORM, requestForm } from '../../core/report/request-form.ts';
import type { Origin, Run } from '../../core/run/run.ts';
import { own } from '../../lib/own-property.ts';
import { VOTE_REASON } from '../approval/approvers.ts';
import { Approvals, DECISIONS } from '../approval/votes.ts';
import { record } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import { HeldRun, type RunChanger } from '../held-run.ts';
import type { Answer, Click, Inbox, RefusedAtDoor, Shortcut, Submission, SubmitAnswer } from '../ports/slack.ts';
import { type AcceptRequest, LookLimiter, originOf, quotasOf } from './accept.ts';
import { type Again, againOf, LOOK_AGAIN, lookAgain, submitAgain } from './again.ts';
import { APPLY_JOB, JobInbox } from './apply-job.ts';
import { BatchCommands } from './batch-commands.ts';
import { canI, whoAmI } from './explain.ts';
import { BoundedRefusals } from './refusals.ts';
import { showOrLogs } from './show.ts';
import { channelNeeded, Talks } from './talk.ts';

const LISTED_RUNS = 10;

/** Takes over runs that were just written to the store. */
export interface Starter {
  /** Why no run of this person can be taken now; undefined: it can. */
  refusalFor(requesterId: UserId): ReasonCode | undefined;
  start(session: HeldRun): void;
}

const said = (message: Message): Answer => ({ kind: 'message', message });
const NOTHING: Answer = { kind: 'nothing' };

/**
 * The way in. A command is parsed, and a run written to the store, before it is acknowledged; everything slower happens
 * after that. Bad words get one private answer that rides on the acknowledgement.
 */
export class CommandInbox implements Inbox {
  readonly #deps: FlowDeps;
  readonly #starter: Starter;
  readonly #approvals: Approvals;
  readonly #refusals: BoundedRefusals;
  readonly #batches: BatchCommands;
  readonly #jobs: JobInbox;
  readonly #looks: LookLimiter;
  readonly #talks: Talks;

  constructor(deps: FlowDeps, starter: Starter, runs: RunChanger) {
    this.#deps = deps;
    this.#starter = starter;
    this.#refusals = new BoundedRefusals(deps);
    this.#approvals = new Approvals(deps, runs, this.#refusals);
    const take = this.#take;
    this.#batches = new BatchCommands({ deps, runs, approvals: this.#approvals, take });
    this.#jobs = new JobInbox({ deps, take });
    this.#looks = new LookLimiter(deps);
    this.#talks = new Talks(deps);
  }

  async command(origin: Origin, words: string): Promise<Answer> {
    const parsed = parseCommand(words);
    const noCommand = channelNeeded(origin, this.#deps, parsed) ?? (await this.#talks.answer(origin, words, parsed));
    if (noCommand) {
      this.#count('answered', origin);
      return said(noCommand);
    }
    if (parsed.kind === 'error') {
      this.#count(parsed.error.code, origin);
      return said(commandErrorMessage(parsed.error));
    }
    const answer = await this.#guarded(origin, () => this.#answer(origin, parsed.command));
    return answer.kind === 'nothing' && parsed.notes ? said(notesMessage(parsed.notes)) : answer;
  }

  action(click: Click): Promise<Answer> {
    return this.#guarded(undefined, async () => {
      if (click.action === LOOK_AGAIN) return this.#lookAgain({ ...click, runId: click.value });
      const ofBatch = await this.#batches.click(click);
      if (ofBatch) return ofBatch;
      const action = DECISIONS.find((candidate) => candidate === click.action);
      return action ? this.#approvals.click(click, action) : said(notYetMessage(`the button ${click.action}`));
    });
  }

  async submit(submission: Submission): Promise<SubmitAnswer> {
    try {
      const again = againOf(submission, LOOK_AGAIN);
      if (again) return await submitAgain(again, this.#lookAgain);
      if (submission.name === VOTE_REASON) return await this.#approvals.submit(submission);
      if (submission.name === REQUEST_FORM) return await this.#submitRequest(submission);
      const taken = (await this.#batches.submit(submission)) ?? (await this.#jobs.submit(submission));
      return taken ?? { kind: 'taken', message: notYetMessage(`the form ${submission.name}`) };
    } catch (thrown) {
      return { kind: 'taken', message: errorMessage(toKdebugError(thrown)) };
    }
  }

  shortcut(shortcut: Shortcut): Promise<Answer> {
    const noChannel = channelNeeded({ channelId: asChannelId(shortcut.channelId) }, this.#deps);
    if (noChannel) return Promise.resolve(said(noChannel));
    if (shortcut.name === APPLY_JOB) {
      const limited = this.#looks.refusal(shortcut.userId, 'apply');
      if (limited) return Promise.resolve(said(limited));
      return this.#guarded(undefined, () => this.#jobs.shortcut(shortcut));
    }
    return Promise.resolve(this.#form(shortcut.channelId, podInText(shortcut.text)));
  }

  async refused(refused: RefusedAtDoor): Promise<void> {
    const { userId } = refused;
    try {
      await this.#refusals.record(refused);
    } catch (thrown) {
      // They stay refused; only that it is not on record must not go unnoticed.
      this.#deps.log.error('a refusal could not be recorded', { userId, reason: toKdebugError(thrown).code });
    }
  }

  async #guarded(origin: Origin | undefined, act: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await act();
      if (origin) this.#count(answer.kind === 'nothing' ? 'accepted' : 'answered', origin);
      return answer;
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (origin) this.#count(error.code, origin);
      this.#deps.log.error('a delivery could not be taken', { reason: error.code, error: thrown });
      return said(errorMessage(error));
    }
  }

  #count(result: string, origin: Origin): void {
    this.#deps.metrics.command(result, this.#deps.clock.now() - origin.receivedAtMs);
  }

  async #answer(origin: Origin, command: Command): Promise<Answer> {
    const limited = this.#looks.refusal(origin.requesterId, command.kind);
    if (limited) return said(limited);
    switch (command.kind) {
      case 'run':
        return this.#take(origin, command.request);
      case 'form':
        return this.#form(origin.channelId, {});
      case 'can-i':
        return said(await canI(origin, command.request, this.#deps));
      case 'batch':
        return this.#batches.command(origin, command);
      case 'export':
        return this.#batches.export(origin, command.id);
      case 'apply':
        return this.#jobs.command(origin, command);
      default:
        return said(await this.#tell(origin, command));
    }
  }

  async #tell(origin: Origin, command: Command): Promise<Message> {
    switch (command.kind) {
      case 'help':
        return helpMessage(command.topic);
      case 'list':
        return listMessage(await this.#deps.store.recent(origin.channelId, LISTED_RUNS));
      case 'show':
      case 'logs':
        return showOrLogs(origin, { kind: command.kind, id: command.id }, this.#deps);
      case 'images':
        return this.#images(origin);
      case 'whoami':
        return whoAmI(origin, this.#deps);
      default:
        return notYetMessage(command.kind);
    }
  }

  readonly #take: AcceptRequest = async (origin, request, extra = {}) => {
    const refused = this.#starter.refusalFor(origin.requesterId);
    if (refused) return said(reasonMessage(refused));
    const run: Run = {
      schema: 1,
      id: this.#deps.ids.runId(),
      state: 'received',
      origin,
      request,
      commandLine: shownCommandLine(request, this.#deps.policies.current().output.redact),
      ...extra,
      delivery: {},
    };
    const quotas = quotasOf(run, this.#deps.policies.current());
    const kept = await this.#deps.store.create(run, this.#deps.owner, quotas);
    if (kept.kind === 'limited') {
      await record(this.#deps, run, 'decision', { kind: 'deny', code: kept.code, command: run.commandLine });
      const max = quotas.find(({ code }) => code === kept.code)?.max ?? kept.count;
      return said(limitedMessage(kept.code, { ...kept, max }));
    }
    if (kept.kind === 'duplicate') {
      return origin.source === 'button' ? said(reasonMessage('already_asked', `run ${kept.runId}`)) : NOTHING;
    }
    this.#starter.start(new HeldRun({ run, fence: kept.fence }, this.#deps));
    return NOTHING;
  };

  readonly #lookAgain = (again: Again): Promise<Answer> => lookAgain(again, this.#deps, this.#take);

  #images(origin: Origin): Message {
    const policy = this.#deps.policies.current();
    return own(policy.channels, origin.channelId)
      ? imagesMessage(policy)
      : reasonMessage('channel_unknown', origin.channelId);
  }

  #form(channelId: string, hint: ReturnType<typeof podInText>): Answer {
    const policy = this.#deps.policies.current();
    if (!own(policy.channels, channelId)) return said(reasonMessage('channel_unknown', channelId));
    return { kind: 'form', form: requestForm(policy, hint) };
  }

  async #submitRequest(submission: Submission): Promise<SubmitAnswer> {
    const words = commandOfForm(submission.fields);
    const parsed = parseCommand(words);
    if (parsed.kind === 'error') {
      const field = parsed.error.start > words.indexOf(' -- ') && words.includes(' -- ') ? 'command' : 'pod';
      return { kind: 'errors', errors: { [field]: parsed.error.message } };
    }
    const origin = originOf(submission, 'form');
    const answer = await this.#guarded(origin, () => this.#answer(origin, parsed.command));
    return { kind: 'taken', ...(answer.kind === 'message' && { message: answer.message }) };
  }
}
