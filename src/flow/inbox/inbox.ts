import type { ActionName, FormName, ShortcutName } from '../../core/actions.ts';
import type { ParsedCommand } from '../../core/command/command.ts';
import { parseCommand } from '../../core/command/parse.ts';
import { toKdebugError } from '../../core/errors.ts';
import { asChannelId, asUserId } from '../../core/ids.ts';
import type { Form, Message, Option } from '../../core/report/message.ts';
import { commandErrorMessage, errorMessage, notesMessage } from '../../core/report/private-messages.ts';
import { commandOfForm, fieldOfError, podInText } from '../../core/report/request-form.ts';
import type { Origin } from '../../core/run/run.ts';
import { Approvals, type DecisionAction } from '../approval/votes.ts';
import type { FlowDeps } from '../deps.ts';
import { changeRequestForm, openRequestForm } from '../form/request-form.ts';
import { searchOptions } from '../form/search.ts';
import type { RunChanger } from '../held-run.ts';
import { homeFor } from '../home/home.ts';
import { debugAnywhere, submitChannel } from '../home/pick-channel.ts';
import { Welcomes } from '../home/welcome.ts';
import { type Look, look } from '../lookup/click.ts';
import type {
  Actor,
  Answer,
  Click,
  FormChange,
  GlobalShortcut,
  Inbox,
  RefusedAtDoor,
  SearchQuery,
  Shortcut,
  Submission,
  SubmitAnswer,
  Welcome,
} from '../ports/slack.ts';
import { type AcceptRequest, createAcceptRequest, LookLimiter, originOf, type Starter } from './accept.ts';
import { lookAgain, planBounded, submitAgain } from './again.ts';
import { JobInbox } from './apply-job.ts';
import { BatchCommands } from './batch-commands.ts';
import { answerCommand } from './commands.ts';
import { answerWith, BoundedRefusals, closeForm } from './refusals.ts';
import { askForIt, clickRerun, clickRunAnyway } from './rerun.ts';
import { Stops } from './stop.ts';
import { channelNeeded, Talks } from './talk.ts';

interface InboxParts {
  readonly deps: FlowDeps;
  readonly accept: AcceptRequest;
  readonly approvals: Approvals;
  readonly batches: BatchCommands;
  readonly jobs: JobInbox;
  readonly looks: LookLimiter;
  readonly stops: Stops;
  readonly previews: LookLimiter;
  readonly submitRequest: (submission: Submission) => Promise<SubmitAnswer>;
}

export type ClickHandlers = Readonly<Record<ActionName, (parts: InboxParts, click: Click) => Promise<Answer>>>;
export type SubmitHandlers = Readonly<
  Record<FormName, (parts: InboxParts, submission: Submission) => Promise<SubmitAnswer>>
>;
export type ShortcutHandlers = Readonly<
  Record<ShortcutName, (parts: InboxParts, shortcut: Shortcut) => Promise<Answer>>
>;

const decide =
  (action: DecisionAction) =>
  ({ approvals }: InboxParts, click: Click): Promise<Answer> =>
    approvals.click(click, action);

const lookBounded =
  (what: Look) =>
  async ({ deps, looks }: InboxParts, click: Click): Promise<Answer> => {
    const limited = looks.refusal(click.userId, what);
    return limited ? answerWith(limited) : look(click, what, deps);
  };

const ON_CLICK: ClickHandlers = {
  approve: decide('approve'),
  'approve-grant': decide('approve-grant'),
  reject: decide('reject'),
  'end-grant': decide('end-grant'),
  cancel: ({ batches }, click) => batches.clickCancel(click),
  'look-again': planBounded(({ deps, accept }: InboxParts, again) => lookAgain(again, deps, accept)),
  pause: ({ batches }, click) => batches.clickChange(click, 'pause'),
  resume: ({ batches }, click) => batches.clickChange(click, 'resume'),
  continue: ({ batches }, click) => batches.clickChange(click, 'continue'),
  resize: ({ batches }, click) => batches.clickResize(click),
  'rerun-failed': ({ batches }, click) => batches.rerunFailed({ ...click, runId: click.value }),
  rerun: planBounded((parts: InboxParts, again) => clickRerun(again, parts)),
  'run-anyway': planBounded((parts: InboxParts, again) => clickRunAnyway(again, parts)),
  'ask-for-it': planBounded((parts: InboxParts, again) => askForIt(again, parts)),
  logs: lookBounded('logs'),
  details: lookBounded('details'),
  'copy-command': lookBounded('copy-command'),
  'show-outliers': lookBounded('show-outliers'),
  stop: async ({ stops, looks }, click) => {
    const limited = looks.refusal(click.userId, 'stop');
    return limited ? answerWith(limited) : stops.click(click);
  },
};

const ON_SUBMIT: SubmitHandlers = {
  debug: ({ submitRequest }, submission) => submitRequest(submission),
  'vote-reason': ({ approvals }, submission) => approvals.submit(submission),
  'again-reason': (parts, submission) => {
    const { deps, accept, batches, looks } = parts;
    return submitAgain(submission, looks, {
      'look-again': (again) => lookAgain(again, deps, accept),
      'rerun-failed': (again) => batches.rerunFailed(again),
      rerun: (again) => clickRerun(again, parts),
      'run-anyway': (again) => clickRunAnyway(again, parts),
      'ask-for-it': (again) => askForIt(again, parts),
    });
  },
  apply: ({ jobs }, submission) => jobs.submit(submission),
  'resize-batch': ({ batches }, submission) => batches.submitResize(submission),
  'pick-channel': (parts, submission) => submitChannel(submission, parts),
};

const ON_SHORTCUT: ShortcutHandlers = {
  'debug-pod': async (parts, shortcut) => openRequestForm(shortcut, podInText(shortcut.text), parts),
  'apply-job': async ({ jobs, looks }, shortcut) => {
    const limited = looks.refusal(shortcut.userId, 'apply');
    return limited ? answerWith(limited) : jobs.shortcut(shortcut);
  },
};

/** How many changes of a form a person may make where they may start one run. */
const PREVIEWS_PER_RUN = 10;

/**
 * The entry for all requests. Parses a command and writes its run to the store before the acknowledgement; everything slower comes later. A
 * mistake in a command gets one private answer with the acknowledgement.
 */
export class CommandInbox implements Inbox {
  readonly #deps: FlowDeps;
  readonly #refusals: BoundedRefusals;
  readonly #talks: Talks;
  readonly #welcomes: Welcomes;
  readonly #visits: LookLimiter;
  readonly #parts: InboxParts;

  constructor(deps: FlowDeps, starter: Starter, runs: RunChanger) {
    this.#deps = deps;
    this.#refusals = new BoundedRefusals(deps);
    this.#talks = new Talks(deps);
    this.#welcomes = new Welcomes(deps);
    this.#visits = new LookLimiter(deps);
    const accept = createAcceptRequest(deps, starter);
    const approvals = new Approvals(deps, runs, this.#refusals);
    const batches = new BatchCommands({ deps, runs, approvals, accept });
    this.#parts = {
      deps,
      accept,
      approvals,
      batches,
      stops: new Stops({ deps, runs, approvals, batches }),
      jobs: new JobInbox({ deps, accept }),
      looks: new LookLimiter(deps),
      previews: new LookLimiter(deps, PREVIEWS_PER_RUN),
      submitRequest: (submission) => this.#submitRequest(submission),
    };
  }

  async command(origin: Origin, words: string): Promise<Answer> {
    const parsed = parseCommand(words);
    const noCommand = await this.#noCommand(origin, words, parsed);
    if (noCommand) {
      this.#count('answered', origin);
      return answerWith(noCommand);
    }
    if (parsed.kind === 'error') {
      this.#count(parsed.error.code, origin);
      return answerWith(commandErrorMessage(parsed.error));
    }
    const answer = await this.#counted(origin, () => answerCommand(origin, parsed.command, this.#parts));
    return answer.kind === 'nothing' && parsed.notes ? answerWith(notesMessage(parsed.notes)) : answer;
  }

  action(click: Click): Promise<Answer> {
    return this.#guarded(() => ON_CLICK[click.action](this.#parts, click));
  }

  async submit(submission: Submission): Promise<SubmitAnswer> {
    try {
      return await ON_SUBMIT[submission.name](this.#parts, submission);
    } catch (thrown) {
      return closeForm(answerWith(errorMessage(toKdebugError(thrown))));
    }
  }

  async shortcut(shortcut: Shortcut): Promise<Answer> {
    return this.#guarded(async () => {
      const { channelId, userId } = shortcut;
      const origin = { channelId: asChannelId(channelId), requesterId: asUserId(userId) };
      const noChannel = await channelNeeded(origin, this.#deps);
      return noChannel ? answerWith(noChannel) : ON_SHORTCUT[shortcut.name](this.#parts, shortcut);
    });
  }

  async globalShortcut(use: GlobalShortcut): ReturnType<Inbox['globalShortcut']> {
    try {
      return await debugAnywhere(use, this.#parts);
    } catch (thrown) {
      const error = toKdebugError(thrown);
      this.#deps.log.error('Slack request failed', { reason: error.code, error: thrown });
      return { kind: 'page', title: 'kdebug', message: errorMessage(error) };
    }
  }

  invited(invitation: Actor): Promise<Welcome> {
    return this.#welcomes.answer(invitation);
  }

  async home(visitor: Actor): Promise<Message | undefined> {
    if (this.#visits.refusal(visitor.userId, 'home')) return undefined;
    try {
      return await homeFor(visitor, this.#deps);
    } catch (thrown) {
      const error = toKdebugError(thrown);
      this.#deps.log.error('Home tab failed', { reason: error.code, error: thrown });
      return errorMessage(error);
    }
  }

  search(query: SearchQuery): Promise<readonly Option[]> {
    return searchOptions(query, this.#deps);
  }

  change(change: FormChange): Promise<Form | undefined> {
    return changeRequestForm(change, this.#parts);
  }

  async refused(refused: RefusedAtDoor): Promise<void> {
    const { userId } = refused;
    try {
      await this.#refusals.record(refused);
    } catch (thrown) {
      // The person stays refused; only the record is missing.
      this.#deps.log.error('refusal not recorded', { userId, reason: toKdebugError(thrown).code });
    }
  }

  /** The answer to what is no command, or no command here; undefined: a command. */
  async #noCommand(origin: Origin, words: string, parsed: ParsedCommand): Promise<Message | undefined> {
    try {
      return (await channelNeeded(origin, this.#deps, parsed)) ?? (await this.#talks.answer(origin, words, parsed));
    } catch (thrown) {
      return errorMessage(toKdebugError(thrown));
    }
  }

  async #submitRequest(submission: Submission): Promise<SubmitAnswer> {
    const words = commandOfForm(submission.fields);
    const parsed = parseCommand(words);
    if (parsed.kind === 'error') {
      const { message, hint } = parsed.error;
      return { kind: 'errors', errors: { [fieldOfError(parsed.error)]: [message, hint].filter(Boolean).join(' ') } };
    }
    const origin = originOf(submission, 'form');
    return closeForm(await this.#counted(origin, () => answerCommand(origin, parsed.command, this.#parts)));
  }

  #counted(origin: Origin, act: () => Promise<Answer>): Promise<Answer> {
    return this.#guarded(
      async () => {
        const answer = await act();
        this.#count(answer.kind === 'nothing' ? 'accepted' : 'answered', origin);
        return answer;
      },
      (code) => this.#count(code, origin),
    );
  }

  async #guarded(act: () => Promise<Answer>, onError: (code: string) => void = () => undefined): Promise<Answer> {
    try {
      return await act();
    } catch (thrown) {
      const error = toKdebugError(thrown);
      onError(error.code);
      this.#deps.log.error('Slack request failed', { reason: error.code, error: thrown });
      return answerWith(errorMessage(error));
    }
  }

  #count(result: string, origin: Origin): void {
    this.#deps.metrics.command(result, this.#deps.clock.now() - origin.receivedAtMs);
  }
}
