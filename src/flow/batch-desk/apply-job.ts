import type { ManifestProblem } from '../../core/batch/ephemeral-job.ts';
import { type JobRequests, requestsOfJob } from '../../core/batch/job-request.ts';
import type { RunRequest } from '../../core/command/command.ts';
import type { FlowDeps } from '../deps.ts';
import type { Extra } from './take.ts';

/** Where a job is to run, besides what it says itself. */
export interface JobPlace {
  readonly namespace?: string;
  readonly cluster?: string;
}

export type ReadRequests =
  | { readonly kind: 'ok'; readonly request: RunRequest; readonly extra: Extra; readonly job: JobRequests }
  | { readonly kind: 'invalid'; readonly problems: readonly ManifestProblem[] }
  /** The job names another namespace, or another cluster, than the command does. */
  | { readonly kind: 'contradiction'; readonly field: keyof JobPlace; readonly words: string };

/** An EphemeralJob as what `Take` takes. Where the job and the command both name a place, they must agree. */
export function readRequests(yaml: string, place: JobPlace, { manifests }: Pick<FlowDeps, 'manifests'>): ReadRequests {
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

function contradictionOf(asked: RunRequest, place: JobPlace): ReadRequests | undefined {
  for (const field of FIELDS) {
    const [job, command] = [asked[field], place[field]];
    if (job !== undefined && command !== undefined && job !== command) {
      return { kind: 'contradiction', field, words: `the job names the ${field} ${job}, the command ${command}` };
    }
  }
  return undefined;
}

const placeOf = ({ namespace, cluster }: JobPlace): JobPlace => ({
  ...(namespace !== undefined && { namespace }),
  ...(cluster !== undefined && { cluster }),
});

/** Shown in the place of a command: the whole job would be too long. */
const lineOf = (name: string, { namespace, cluster }: JobPlace): string =>
  [
    `apply ${name}`,
    ...(namespace === undefined ? [] : [`-n ${namespace}`]),
    ...(cluster === undefined ? [] : [`--cluster=${cluster}`]),
  ].join(' ');
