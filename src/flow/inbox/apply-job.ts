import type { Command, RunRequest } from '../../core/command/command.ts';
import { repairYaml } from '../../core/command/repair.ts';
import { isCatalogueName, isDnsLabel } from '../../core/container/names.ts';
import type { ManifestProblem } from '../../core/job/ephemeral-job.ts';
import { type JobRequests, requestsOfJob } from '../../core/job/job-request.ts';
import {
  APPLY_FORM,
  type ApplyFormValues,
  applyForm,
  type FieldErrors,
  MAX_PASTED_LENGTH,
} from '../../core/report/batch/batch-forms.ts';
import { appliedMessage, fieldProblems, manifestProblemsMessage } from '../../core/report/batch/manifest-message.ts';
import type { Message } from '../../core/report/message.ts';
import { reasonMessage } from '../../core/report/private-messages.ts';
import type { Origin } from '../../core/run/run.ts';
import { defined } from '../../lib/defined.ts';
import { own } from '../../lib/own-property.ts';
import type { FlowDeps } from '../deps.ts';
import type { Answer, Shortcut, Submission, SubmitAnswer } from '../ports/slack.ts';
import { type AcceptRequest, originOf, type RequestExtras } from './accept.ts';

/** The callback id of the message shortcut "Apply as EphemeralJob". */
export const APPLY_JOB = 'apply-job';

const said = (message: Message): Answer => ({ kind: 'message', message });

export interface ApplyParts {
  readonly deps: FlowDeps;
  readonly take: AcceptRequest;
}

/** The ways in for an EphemeralJob: the command, its form, and the shortcut on a message. The result is a batch like any other. */
export class JobInbox {
  readonly #parts: ApplyParts;

  constructor(parts: ApplyParts) {
    this.#parts = parts;
  }

  command(origin: Origin, { yaml, namespace, cluster }: Extract<Command, { kind: 'apply' }>): Promise<Answer> {
    const place = defined({ namespace, cluster });
    if (yaml !== undefined) return this.#apply(origin, yaml, place);
    return Promise.resolve(this.#form(origin.channelId, place));
  }

  /** A job that fits into the form is shown there first; a longer one is applied as it stands. */
  shortcut(shortcut: Shortcut): Promise<Answer> {
    const unknown = this.#unknownChannel(shortcut.channelId);
    if (unknown) return Promise.resolve(said(unknown));
    if (shortcut.code === undefined) return Promise.resolve(said(reasonMessage('manifest_missing')));
    const yaml = repairYaml(shortcut.code);
    if (yaml.length <= MAX_PASTED_LENGTH) return Promise.resolve(this.#form(shortcut.channelId, { yaml }));
    return this.#apply(originOf(shortcut, 'shortcut'), yaml, {});
  }

  /** Undefined: another form. */
  async submit(submission: Submission): Promise<SubmitAnswer | undefined> {
    if (submission.name !== APPLY_FORM) return undefined;
    const unknown = this.#unknownChannel(submission.channelId);
    return unknown ? { kind: 'taken', message: unknown } : this.#submit(submission);
  }

  async #submit(submission: Submission): Promise<SubmitAnswer> {
    const { namespace } = submission.fields;
    const yaml = repairYaml(submission.fields.yaml ?? '');
    const typed = namespace?.trim() ?? '';
    if (typed !== '' && !isDnsLabel(typed)) return errors({ namespace: 'This cannot be the name of a namespace.' });
    const cluster = submission.value;
    const place = { ...(typed !== '' && { namespace: typed }), ...(isCatalogueName(cluster) && { cluster }) };
    const read = readRequests(yaml, place, this.#parts.deps);
    if (read.kind === 'invalid') return errors({ yaml: fieldProblems(read.problems) });
    if (read.kind === 'contradiction')
      return errors({ [read.field === 'cluster' ? 'yaml' : 'namespace']: `Not the same: ${read.words}.` });
    const answer = await this.#take(originOf(submission, 'form'), read);
    return { kind: 'taken', ...(answer.kind === 'message' && { message: answer.message }) };
  }

  async #apply(origin: Origin, yaml: string, place: JobNamespace): Promise<Answer> {
    const unknown = this.#unknownChannel(origin.channelId);
    if (unknown) return said(unknown);
    const read = readRequests(yaml, place, this.#parts.deps);
    if (read.kind === 'invalid') return said(manifestProblemsMessage(read.problems, yaml));
    if (read.kind === 'contradiction') return said(reasonMessage('flag_contradiction', read.words));
    return this.#take(origin, read);
  }

  async #take(origin: Origin, read: Extract<ReadRequests, { kind: 'ok' }>): Promise<Answer> {
    const answer = await this.#parts.take(origin, read.request, read.extra);
    return answer.kind === 'nothing' ? said(appliedMessage(read.job.jobName, read.job.notes)) : answer;
  }

  #form(channelId: string, given: ApplyFormValues): Answer {
    const unknown = this.#unknownChannel(channelId);
    return unknown ? said(unknown) : { kind: 'form', form: applyForm(given) };
  }

  /** The refusal of a channel that no policy names: before its text costs anything. */
  #unknownChannel(channelId: string): Message | undefined {
    const isKnown = own(this.#parts.deps.policies.current().channels, channelId);
    return isKnown ? undefined : reasonMessage('channel_unknown', channelId);
  }
}

const errors = (fields: FieldErrors): SubmitAnswer => ({ kind: 'errors', errors: fields });

/** Where a job is to run, besides what it says itself. */
export interface JobNamespace {
  readonly namespace?: string;
  readonly cluster?: string;
}

export type ReadRequests =
  | { readonly kind: 'ok'; readonly request: RunRequest; readonly extra: RequestExtras; readonly job: JobRequests }
  | { readonly kind: 'invalid'; readonly problems: readonly ManifestProblem[] }
  /** The job names another namespace, or another cluster, than the command does. */
  | { readonly kind: 'contradiction'; readonly field: keyof JobNamespace; readonly words: string };

/** An EphemeralJob as what `Take` takes. Where the job and the command both name a place, they must agree. */
function readRequests(yaml: string, place: JobNamespace, { manifests }: Pick<FlowDeps, 'manifests'>): ReadRequests {
  const read = manifests.read(yaml);
  if (read.kind === 'invalid') return read;
  const job = requestsOfJob(read.job);
  const [first] = job?.requests ?? [];
  // The reader refuses a job whose selector cannot be asked for, and one without containers.
  if (!job || !first) return { kind: 'invalid', problems: [{ line: 1, column: 1, message: 'selects nothing' }] };
  const contradiction = contradictionOf(first, place);
  if (contradiction) return contradiction;
  const requests = job.requests.map((request) => ({ ...request, ...place }));
  const { jobName: name, paused } = job;
  return {
    kind: 'ok',
    request: { ...first, ...place },
    extra: { commandLine: lineOf(name, { ...placeOf(first), ...place }), job: { name, requests, paused } },
    job,
  };
}

const FIELDS = ['namespace', 'cluster'] as const;

function contradictionOf(asked: RunRequest, place: JobNamespace): ReadRequests | undefined {
  for (const field of FIELDS) {
    const [job, command] = [asked[field], place[field]];
    if (job !== undefined && command !== undefined && job !== command) {
      return { kind: 'contradiction', field, words: `the job names the ${field} ${job}, the command ${command}` };
    }
  }
  return undefined;
}

const placeOf = ({ namespace, cluster }: JobNamespace): JobNamespace => ({
  ...defined({ namespace, cluster }),
});

/** Shown in the place of a command: the whole job would be too long. */
const lineOf = (name: string, { namespace, cluster }: JobNamespace): string =>
  [
    `apply ${name}`,
    ...(namespace === undefined ? [] : [`-n ${namespace}`]),
    ...(cluster === undefined ? [] : [`--cluster=${cluster}`]),
  ].join(' ');
