import { repairYaml } from '../../core/command/repair.ts';
import { isCatalogueName, isDnsLabel } from '../../core/container/names.ts';
import type { ManifestProblem } from '../../core/job/ephemeral-job.ts';
import { type JobRequests, requestsOfJob } from '../../core/job/job-request.ts';
import { channelPolicy } from '../../core/policy/policy.ts';
import type { Command, RunRequest } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import { reasonMessage } from '../../core/say/answers/private-messages.ts';
import {
  type ApplyFormValues,
  applyForm,
  type FieldErrors,
  MAX_PASTED_LENGTH,
} from '../../core/say/batch/batch-forms.ts';
import { appliedMessage, fieldProblems, manifestProblemsMessage } from '../../core/say/batch/manifest-message.ts';
import type { Message } from '../../core/say/message/message.ts';
import { defined } from '../../lib/object.ts';
import { type AcceptRequest, originOf, type RequestExtras } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import { answerReason, answerWith, closeForm } from '../context/refusals.ts';
import type { Answer, Shortcut, Submission, SubmitAnswer } from '../ports/slack.ts';

interface ApplyParts {
  readonly deps: FlowDeps;
  readonly accept: AcceptRequest;
}

/** The entries for an EphemeralJob: the command, its form, and the shortcut on a message. Each starts an ordinary batch. */
export class JobInbox {
  readonly #parts: ApplyParts;

  constructor(parts: ApplyParts) {
    this.#parts = parts;
  }

  command(origin: Origin, { yaml, namespace, cluster }: Extract<Command, { kind: 'apply' }>): Promise<Answer> {
    const target = defined({ namespace, cluster });
    if (yaml !== undefined) return this.#apply(origin, yaml, target);
    return Promise.resolve(this.#form(origin.channelId, target));
  }

  /** Shows a job in the form if it fits; applies a longer one at once. */
  shortcut(shortcut: Shortcut): Promise<Answer> {
    const unknown = this.#unknownChannel(shortcut.channelId);
    if (unknown) return Promise.resolve(answerWith(unknown));
    if (shortcut.code === undefined) return Promise.resolve(answerReason('manifest_missing'));
    const yaml = repairYaml(shortcut.code);
    if (yaml.length <= MAX_PASTED_LENGTH) return Promise.resolve(this.#form(shortcut.channelId, { yaml }));
    return this.#apply(originOf(shortcut, 'shortcut'), yaml, {});
  }

  async submit(submission: Submission): Promise<SubmitAnswer> {
    const unknown = this.#unknownChannel(submission.channelId);
    if (unknown) return closeForm(answerWith(unknown));
    const { namespace } = submission.fields;
    const yaml = repairYaml(submission.fields.yaml ?? '');
    const typed = namespace?.trim() ?? '';
    if (typed !== '' && !isDnsLabel(typed)) return errors({ namespace: 'This cannot be the name of a namespace.' });
    const cluster = submission.value;
    const target = defined({
      namespace: typed === '' ? undefined : typed,
      cluster: isCatalogueName(cluster) ? cluster : undefined,
    });
    const read = readRequests(yaml, target, this.#parts.deps);
    if (read.kind === 'invalid') return errors({ yaml: fieldProblems(read.problems) });
    if (read.kind === 'contradiction')
      return errors({ [read.field === 'cluster' ? 'yaml' : 'namespace']: `Not the same: ${read.problem}.` });
    return closeForm(await this.#accept(originOf(submission, 'form'), read));
  }

  async #apply(origin: Origin, yaml: string, target: JobTarget): Promise<Answer> {
    const unknown = this.#unknownChannel(origin.channelId);
    if (unknown) return answerWith(unknown);
    const read = readRequests(yaml, target, this.#parts.deps);
    if (read.kind === 'invalid') return answerWith(manifestProblemsMessage(read.problems, yaml));
    if (read.kind === 'contradiction') return answerReason('flag_contradiction', read.problem);
    return this.#accept(origin, read);
  }

  async #accept(origin: Origin, { request, extras, job }: Extract<ReadRequests, { kind: 'ok' }>): Promise<Answer> {
    const answer = await this.#parts.accept(origin, request, extras);
    return answer.kind === 'nothing' ? answerWith(appliedMessage(job.jobName, job.notes)) : answer;
  }

  #form(channelId: string, given: ApplyFormValues): Answer {
    const unknown = this.#unknownChannel(channelId);
    return unknown ? answerWith(unknown) : { kind: 'form', form: applyForm(given) };
  }

  /** Checked before anything reads the channel's text. */
  #unknownChannel(channelId: string): Message | undefined {
    const isKnown = channelPolicy(this.#parts.deps.policies.current(), channelId);
    return isKnown ? undefined : reasonMessage('channel_unknown', channelId);
  }
}

const errors = (fields: FieldErrors): SubmitAnswer => ({ kind: 'errors', errors: fields });

export interface JobTarget {
  readonly namespace?: string;
  readonly cluster?: string;
}

export type ReadRequests =
  | { readonly kind: 'ok'; readonly request: RunRequest; readonly extras: RequestExtras; readonly job: JobRequests }
  | { readonly kind: 'invalid'; readonly problems: readonly ManifestProblem[] }
  | { readonly kind: 'contradiction'; readonly field: keyof JobTarget; readonly problem: string };

/** If both the job and the command name a namespace or cluster, they must agree. */
function readRequests(yaml: string, target: JobTarget, { manifests }: Pick<FlowDeps, 'manifests'>): ReadRequests {
  const read = manifests.read(yaml);
  if (read.kind === 'invalid') return read;
  const job = requestsOfJob(read.job);
  const [first] = job?.requests ?? [];
  // The reader has already refused jobs with an unusable selector or without containers.
  if (!job || !first) return { kind: 'invalid', problems: [{ line: 1, column: 1, message: 'selects nothing' }] };
  const contradiction = contradictionOf(first, target);
  if (contradiction) return contradiction;
  const requests = job.requests.map((request) => ({ ...request, ...target }));
  const { jobName: name, paused } = job;
  return {
    kind: 'ok',
    request: { ...first, ...target },
    extras: { commandLine: lineOf(name, { ...targetOf(first), ...target }), job: { name, requests, paused } },
    job,
  };
}

const FIELDS = ['namespace', 'cluster'] as const;

function contradictionOf(request: RunRequest, target: JobTarget): ReadRequests | undefined {
  for (const field of FIELDS) {
    const [job, command] = [request[field], target[field]];
    if (job !== undefined && command !== undefined && job !== command) {
      return { kind: 'contradiction', field, problem: `the job names the ${field} ${job}, the command ${command}` };
    }
  }
  return undefined;
}

const targetOf = ({ namespace, cluster }: JobTarget): JobTarget => defined({ namespace, cluster });

/** Shown as the command line, because the whole job would be too long. */
const lineOf = (name: string, { namespace, cluster }: JobTarget): string =>
  [
    `apply ${name}`,
    ...(namespace === undefined ? [] : [`-n ${namespace}`]),
    ...(cluster === undefined ? [] : [`--cluster=${cluster}`]),
  ].join(' ');
