import { parseDuration, printDuration } from '../../lib/duration.ts';
import { defined } from '../../lib/object.ts';
import { PROFILES, type Profile, type ProfileName, securityContextOf } from '../container/profiles.ts';
import { canonicalJson } from '../hash.ts';
import type { RunRequest } from '../request/command.ts';
import type { BatchRun } from '../run/life-cycle.ts';
import { type EphemeralJob, FLAG_ANNOTATION, type JobContainer, type JobSecurityContext } from './ephemeral-job.ts';
import { selectorOfTarget, targetOfSelector } from './job-selector.ts';

/** Flags that EphemeralJob cannot express, kept as annotations. */
export const FLAG_NAMES = ['canary', 'cluster', 'no-target', 'profile', 'reason', 'timeout'] as const;
export type FlagName = (typeof FLAG_NAMES)[number];

/** An EphemeralJob as requests: one for each container of its template. */
export interface JobRequests {
  readonly jobName: string;
  /** `metadata.namespace`; must equal `-n` if both are given. */
  readonly namespace?: string;
  readonly requests: readonly RunRequest[];
  readonly paused: boolean;
  /** Accepted fields that mean something else here; one sentence each. */
  readonly notes: readonly string[];
}

/**
 * The requests of a job. A person wrote its images: `resolveImage` finds them in the catalogue or refuses them.
 * Undefined if kdebug cannot express the selector (the reader has already refused such a job).
 */
export function requestsOfJob(job: EphemeralJob): JobRequests | undefined {
  const { metadata, spec } = job;
  const target = targetOfSelector(spec.selector);
  if (!target) return undefined;
  const flags = flagsOf(job);
  const batch = {
    ...defined({
      replicas: spec.replicas,
      parallelism: spec.parallelism,
      ttlMs: spec.ttlSecondsAfterCreated !== undefined ? spec.ttlSecondsAfterCreated * 1_000 : undefined,
    }),
    canary: flags.canary === 'true',
  };
  const timeoutMs = flags.timeout === undefined ? undefined : parseDuration(flags.timeout);
  const common = {
    target,
    ...defined({ cluster: flags.cluster, namespace: metadata.namespace, timeoutMs, reason: flags.reason }),
    dryRun: false,
    batch,
  };
  const containers = spec.template.ephemeralContainers;
  return {
    jobName: metadata.name,
    ...defined({ namespace: metadata.namespace }),
    requests: containers.map((container) => ({ ...common, ...partsOf(container, flags) })),
    paused: spec.paused === true,
    notes: notesOn(containers),
  };
}

type Flags = Partial<Readonly<Record<FlagName, string>>>;

const flagsOf = ({ metadata: { annotations = {} } }: EphemeralJob): Flags =>
  Object.fromEntries(
    Object.entries(annotations)
      .filter(([key]) => key.startsWith(FLAG_ANNOTATION))
      .map(([key, value]) => [key.slice(FLAG_ANNOTATION.length), value]),
  );

/**
 * `command` and `args` form one argument vector (core/v1 Container); `args` alone go to the image's own entry point.
 */
function partsOf(container: JobContainer, flags: Flags) {
  const { name, image, imagePullPolicy, targetContainerName, command = [], args = [], env = [] } = container;
  const profile = (flags.profile ?? 'auto') as ProfileName;
  return {
    image,
    label: name,
    ...defined({ imagePullPolicy }),
    ...targetOf(targetContainerName, flags),
    command: [...command, ...args],
    argumentsOnly: command.length === 0 && args.length > 0,
    env,
    profile: (container.securityContext && profileOfContext(container.securityContext)) ?? profile,
  };
}

function targetOf(name: string | undefined, flags: Flags): Pick<RunRequest, 'targetContainer'> {
  if (name !== undefined) return { targetContainer: { kind: 'named', name } };
  return flags['no-target'] === 'true' ? { targetContainer: { kind: 'none' } } : {};
}

/** The profile that sets exactly this context, ignoring user and group. */
export function profileOfContext(context: JobSecurityContext): Profile | undefined {
  const { add, drop } = context.capabilities ?? {};
  const capabilities = defined({ add: add?.toSorted(), drop: drop?.toSorted() });
  const wanted = canonicalJson({
    ...context,
    ...defined({ capabilities: context.capabilities ? capabilities : undefined }),
  });
  return PROFILES.find((profile) => {
    const sets = securityContextOf(profile);
    return sets !== undefined && canonicalJson(sets) === wanted;
  });
}

function notesOn(containers: readonly JobContainer[]): readonly string[] {
  const isAny = (test: (container: JobContainer) => boolean): boolean => containers.some(test);
  const words = containers.flatMap(({ command = [], args = [], env = [] }) => [
    ...command,
    ...args,
    ...env.map(({ value }) => value),
  ]);
  return [
    isAny(({ tty, stdin }) => tty === true || stdin === true) &&
      'tty and stdin are left out: kdebug runs without a terminal and posts the output.',
    'The container’s name is kept as a label: kdebug derives the real one, so that a second job on the same pods runs too.',
    isAny(({ terminationMessagePolicy }) => terminationMessagePolicy === 'File') &&
      'If the termination file is empty and the exit code is not 0, kdebug uses the end of the log (FallbackToLogsOnError).',
    words.some((word) => word.includes('$(')) && '$(NAME) is not expanded: the words reach the container as written.',
  ].filter((note) => typeof note === 'string');
}

/**
 * A batch as an EphemeralJob; `requestsOfJob` restores its requests. Undefined if EphemeralJob cannot express its
 * selector (`selectorOfTarget`), if it targets the pods of an earlier batch (`rerunOf`), or if flags differ between its
 * containers.
 */
export function jobOfRun({ id, batch, plan, job, request, rerunOf }: BatchRun): EphemeralJob | undefined {
  const requests = job?.requests ?? [request];
  const selector = request.target.kind !== 'pod' ? selectorOfTarget(request.target) : undefined;
  const annotations = annotationsOf(requests);
  if (!selector || !annotations || rerunOf !== undefined) return undefined;
  return {
    metadata: {
      name: job?.name ?? `kdebug-${id}`,
      namespace: plan.namespace,
      ...defined({ annotations: Object.keys(annotations).length > 0 ? annotations : undefined }),
    },
    spec: {
      selector,
      ...defined({ replicas: batch.replicas }),
      parallelism: batch.parallelism,
      ...defined({
        paused: batch.paused && !batch.closed ? true : undefined,
        ttlSecondsAfterCreated: batch.ttlMs !== undefined ? Math.ceil(batch.ttlMs / 1_000) : undefined,
      }),
      template: {
        ephemeralContainers: requests.map((request, index) =>
          containerOfRequest(request, batch.variants[0]?.[index]?.image ?? request.image ?? '', index),
        ),
      },
    },
  };
}

/**
 * Undefined if two containers differ in a flag that only an annotation can hold: an annotation applies to all of them.
 */
function annotationsOf(requests: readonly RunRequest[]): Readonly<Record<string, string>> | undefined {
  const isAny = (test: (request: RunRequest) => boolean): boolean => requests.some(test);
  const hasNoTarget = isAny(({ targetContainer }) => targetContainer?.kind === 'none');
  const isBaseline = isAny(({ profile }) => profile === 'baseline');
  if (hasNoTarget && isAny(({ targetContainer }) => targetContainer === undefined)) return undefined;
  if (isBaseline && isAny(({ profile }) => profile === 'auto')) return undefined;
  const [common] = requests;
  const flags: readonly (readonly [FlagName, string | undefined])[] = [
    ['canary', common?.batch.canary ? 'true' : undefined],
    ['cluster', common?.cluster],
    ['no-target', hasNoTarget ? 'true' : undefined],
    ['profile', isBaseline ? 'baseline' : undefined],
    ['reason', common?.reason],
    ['timeout', common?.timeoutMs === undefined ? undefined : printDuration(common.timeoutMs)],
  ];
  const given = flags.flatMap(([flag, value]) => (value === undefined ? [] : [[`${FLAG_ANNOTATION}${flag}`, value]]));
  return Object.fromEntries(given);
}

function containerOfRequest(request: RunRequest, image: string, index: number): JobContainer {
  const { targetContainer, command, argumentsOnly, env, profile } = request;
  const context = profile === 'auto' ? undefined : securityContextOf(profile);
  const words = command.length > 0 ? command : undefined;
  return {
    name: request.label ?? `kdebug-${index + 1}`,
    image: request.image ?? image,
    imagePullPolicy: request.imagePullPolicy ?? 'IfNotPresent',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    ...defined({
      targetContainerName: targetContainer?.kind === 'named' ? targetContainer.name : undefined,
      args: argumentsOnly ? words : undefined,
      command: argumentsOnly ? undefined : words,
      env: env.length > 0 ? env : undefined,
      securityContext: context,
    }),
  };
}
