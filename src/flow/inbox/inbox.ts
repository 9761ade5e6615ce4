import { parseCommand } from '../../core/command/parse.ts';
import { toKdebugError } from '../../core/errors.ts';
import { asChannelId, asUserId } from '../../core/ids.ts';
import type { ParsedCommand } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import { commandErrorMessage, errorMessage, notesMessage } from '../../core/say/answers/private-messages.ts';
import type { Form, Message, Option } from '../../core/say/message/message.ts';
import { commandOfForm, fieldOfError } from '../../core/say/request-form.ts';
import { Approvals } from '../approval/votes.ts';
import { createAcceptRequest, LookupLimiter, originOf, type Starter } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { RunChanger } from '../context/held-run.ts';
import { answerWith, BoundedRefusals, closeForm, inTime } from '../context/refusals.ts';
import { changeRequestForm } from '../form/request-form.ts';
import { searchOptions } from '../form/search.ts';
import { homeFor } from '../home/home.ts';
import { debugAnywhere } from '../home/pick-channel.ts';
import { Welcomes } from '../home/welcome.ts';
import type {
  Actor,
  AlertClick,
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
import { clickAlert } from './alert.ts';
import { JobInbox } from './apply-job.ts';
import { BatchCommands } from './batch-commands.ts';
import { answerCommand } from './commands.ts';
import { type InboxParts, ON_CLICK, ON_SHORTCUT, ON_SUBMIT } from './handlers.ts';
import { Stops } from './stop-request.ts';
import { channelNeeded, Talks } from './talk.ts';

/** The changes of a form that a person may make for each run that they may start. */
const PREVIEWS_PER_RUN = 10;
/** The same of searches for a pod: one for each character that they type. */
const SEARCHES_PER_RUN = 20;

/**
 * The entry for all requests. Parses a command and writes its run to the store before the acknowledgement; everything slower comes later. A
 * mistake in a command gets one private answer with the acknowledgement.
 */
export class CommandInbox implements Inbox {
  readonly #deps: FlowDeps;
  readonly refusals: BoundedRefusals;
  readonly #talks: Talks;
  readonly #welcomes: Welcomes;
  readonly #visits: LookupLimiter;
  readonly #searches: LookupLimiter;
  readonly #parts: InboxParts;

  constructor(deps: FlowDeps, starter: Starter, runs: RunChanger) {
    this.#deps = deps;
    const refusals = new BoundedRefusals(deps);
    this.refusals = refusals;
    this.#talks = new Talks(deps);
    this.#welcomes = new Welcomes(deps);
    this.#visits = new LookupLimiter(deps);
    this.#searches = new LookupLimiter(deps, SEARCHES_PER_RUN);
    const accept = createAcceptRequest(deps, starter, refusals);
    const approvals = new Approvals(deps, runs, refusals);
    const batches = new BatchCommands({ deps, runs, refusals, approvals, accept });
    this.#parts = {
      deps,
      accept,
      approvals,
      batches,
      stops: new Stops({ deps, runs, refusals, approvals, batches }),
      jobs: new JobInbox({ deps, accept }),
      lookups: new LookupLimiter(deps),
      previews: new LookupLimiter(deps, PREVIEWS_PER_RUN),
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

  alert(click: AlertClick): Promise<Answer> {
    return this.#counted(originOf({ ...click, dedupeKey: '' }, 'alert'), () => clickAlert(click, this.#parts));
  }

  submit(submission: Submission): Promise<SubmitAnswer> {
    const answer = ON_SUBMIT[submission.name](this.#parts, submission);
    const refused = (thrown: unknown) => closeForm(answerWith(errorMessage(toKdebugError(thrown))));
    return inTime(answer.catch(refused), this.#deps);
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
      this.#deps.log.error('global shortcut failed', { reason: error.code, error: thrown });
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
    return searchOptions(query, { deps: this.#deps, searches: this.#searches });
  }

  change(change: FormChange): Promise<Form | undefined> {
    return changeRequestForm(change, this.#parts);
  }

  async refused(refused: RefusedAtDoor): Promise<void> {
    const { userId } = refused;
    try {
      await this.refusals.record(refused);
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

  #guarded(act: () => Promise<Answer>, onError?: (code: string) => void): Promise<Answer> {
    return inTime(this.#answered(act, onError), this.#deps);
  }

  async #answered(act: () => Promise<Answer>, onError: (code: string) => void = () => undefined): Promise<Answer> {
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
    // By the wall clock, as the origin is recorded.
    this.#deps.metrics.command(result, this.#deps.clock.now() - origin.receivedAtMs);
  }
}
