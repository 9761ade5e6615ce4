import { defined } from '../../lib/object.ts';
import { base32Hash } from '../hash.ts';
import type { RunId } from '../ids.ts';
import type { EnvVar, EphemeralContainer, SecurityContext } from './ephemeral-container.ts';
import { ONCE_MORE_VARIABLE, type OnceMore } from './once-more.ts';
import type { Plan } from './plan.ts';

/**
 * The container name of a run in one pod: `kdebug-` and twelve characters derived from both, so every replica and every
 * retry arrives at the same name. That makes a second launch impossible (KEP-277: entries are immutable).
 */
export const containerName = (runId: RunId, podUid: string): string => `kdebug-${base32Hash(`${runId}/${podUid}`, 12)}`;

/** The facts about its run that the container gets (design, section 3). */
export interface RunMark {
  readonly runId: RunId;
  readonly batchId?: string;
  readonly approverIds: readonly string[];
  /** A container that starts later must do nothing. */
  readonly notAfterMs: number;
  /** Sealed: lets a bot that lost its store find the thread again. */
  readonly ref: string;
  /** Of a pod that is compared with others. */
  readonly compareKey?: string;
}

/**
 * The ephemeral container of a plan. Pure: the same plan and mark always yield the same container, so repeating its
 * PATCH is harmless. Every field comes from the plan's profile and alias. A person's words only reach `command`, `args`
 * and plain `env` values, with every `$` doubled: the API server expands `$(NAME)` (core/v1 Container, `command`).
 */
export function buildEphemeralContainer(plan: Plan, mark: RunMark): EphemeralContainer {
  if (plan.onceMore) return secondRunContainer(plan, plan.onceMore, mark);
  const words = plan.command.length > 0 ? plan.command.map(literal) : undefined;
  return {
    name: containerName(mark.runId, plan.podUid),
    image: plan.image,
    ...defined({
      imagePullPolicy: plan.imagePullPolicy,
      targetContainerName: plan.targetContainerName,
      args: plan.argumentsOnly ? words : undefined,
      command: plan.argumentsOnly ? undefined : words,
    }),
    env: [...plan.env.map(({ name, value }) => ({ name, value: literal(value) })), ...markEnv(plan, mark)],
    ...defined({ securityContext: plan.securityContext }),
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

/** Without what its original has in the pod's spec: the launch adds that, so that no value of it is ever in a plan. */
const secondRunContainer = (
  plan: Plan,
  { container, switches, carrier }: OnceMore,
  mark: RunMark,
): EphemeralContainer => ({
  name: containerName(mark.runId, plan.podUid),
  image: plan.image,
  ...defined({ imagePullPolicy: plan.imagePullPolicy }),
  env: [
    ...switches,
    ...markEnv(plan, mark),
    ...literalVariables([
      [ONCE_MORE_VARIABLE, container],
      ['KDEBUG_MEMORY_LIMIT', carrier?.memoryLimit?.toString()],
    ]),
  ],
  // The tracer writes the message when no process of the program is left; the log is the program's own.
  terminationMessagePolicy: carrier ? 'File' : 'FallbackToLogsOnError',
});

function markEnv(plan: Plan, mark: RunMark): readonly EnvVar[] {
  const values: readonly (readonly [string, string | undefined])[] = [
    ['KDEBUG_RUN', mark.runId],
    ['KDEBUG_BATCH', mark.batchId],
    ['KDEBUG_REQUESTER', plan.requesterId],
    ['KDEBUG_APPROVERS', mark.approverIds.length > 0 ? mark.approverIds.join(',') : undefined],
    ['KDEBUG_TARGET', plan.targetContainerName],
    ['KDEBUG_NOT_AFTER', new Date(mark.notAfterMs).toISOString()],
    ['KDEBUG_REF', mark.ref],
    ['KDEBUG_COMPARE', mark.compareKey],
  ];
  return literalVariables(values);
}

/** The facts that the container gets that stops a run. */
export interface StopMark {
  readonly runId: RunId;
  readonly containerName: string;
  readonly image: string;
  readonly byUserId: string;
  readonly notAfterMs: number;
  readonly securityContext?: SecurityContext;
}

/** The container name of an attempt to stop a run, derived like the run's own. */
export const stopContainerName = (runId: RunId, podUid: string, attempt: number): string =>
  `kdebug-${base32Hash(`${runId}/${podUid}/stop/${attempt}`, 12)}`;

/**
 * The ephemeral container that ends the processes of a run: a diagnostic image with the words `stop RUN-ID`, beside the
 * same target. It has no `KDEBUG_RUN`, so it is never mistaken for a run, nor for a process of one. Pure.
 */
export function buildStopContainer({ targetContainerName }: Plan, mark: StopMark): EphemeralContainer {
  const values: readonly (readonly [string, string | undefined])[] = [
    ['KDEBUG_STOPS', mark.runId],
    ['KDEBUG_REQUESTER', mark.byUserId],
    ['KDEBUG_TARGET', targetContainerName],
    ['KDEBUG_NOT_AFTER', new Date(mark.notAfterMs).toISOString()],
  ];
  return {
    name: mark.containerName,
    image: mark.image,
    ...defined({ targetContainerName }),
    args: ['stop', mark.runId],
    env: literalVariables(values),
    ...defined({ securityContext: mark.securityContext }),
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

/** No value is expanded; an undefined one is left out. */
export const literalVariables = (values: readonly (readonly [string, string | undefined])[]): readonly EnvVar[] =>
  values.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value: literal(value) }]));

const literal = (word: string): string => word.replaceAll('$', '$$$$');
