import { defined } from '../../lib/object.ts';
import { parseCommand } from '../command/parse.ts';
import { printCommand } from '../command/print.ts';
import { shownCommandLine } from '../command/shown-command.ts';
import { buildEphemeralContainer } from '../container/build.ts';
import { fingerprintOf } from '../container/fingerprint.ts';
import type { OnceMore } from '../container/once-more.ts';
import type { Plan } from '../container/plan.ts';
import type { Pod } from '../container/pod.ts';
import type { RunId } from '../ids.ts';
import type { PendingApproval } from '../planning/vote.ts';
import type { Origin } from '../request/origin.ts';
import type { Run } from './run.ts';

/** The parts of a plan that the pod or the command can restore, or that nobody needs after the launch. */
type NotifiedAgain =
  | 'namespace'
  | 'podName'
  | 'podUid'
  | 'nodeName'
  | 'image'
  | 'command'
  | 'env'
  | 'requesterId'
  | 'teamId'
  | 'channelId'
  | 'reason'
  | 'observed';

/**
 * Sealed into the container's env (`KDEBUG_REF`): enough to finish a run whose record is lost. Without bearer secrets
 * and voters' words, because it stays in the pod's object for the pod's life.
 */
interface Reference {
  readonly v: 1;
  readonly origin: Omit<Origin, 'responseUrl'>;
  readonly line: string;
  readonly hash: string;
  readonly notAfterMs: number;
  readonly plan: Omit<Plan, NotifiedAgain>;
  /** `fingerprintOf` the container: this text in another container is a copy. */
  readonly fingerprint: string;
  readonly approval?: PendingApproval;
}

/** The text to seal; about 1 KB. */
export function writeReference(run: Run, plan: Plan, notAfterMs: number): string {
  const { namespace, podName, podUid, nodeName, image, command, env, requesterId, teamId, channelId, ...rest } = plan;
  const { reason, observed, onceMore, ...terms } = rest;
  const reference: Reference = {
    v: 1,
    origin: withoutSecret(run.origin),
    // As typed: `commandLine` is only for display.
    line: printCommand({ kind: 'run', request: run.request }),
    hash: run.planHash ?? '',
    notAfterMs,
    plan: { ...terms, ...defined({ onceMore: onceMore && inFewWords(onceMore) }) },
    fingerprint: fingerprintOf(buildEphemeralContainer(plan, { runId: run.id, approverIds: [], notAfterMs, ref: '' })),
    ...defined({ approval: run.approval && withoutWords(run.approval) }),
  };
  return JSON.stringify(reference);
}

/** Without the parts that the pod's own spec has. */
const inFewWords = (onceMore: OnceMore): OnceMore => ({
  ...onceMore,
  command: [],
  args: [],
  variables: [],
  sources: [],
  mounts: [],
});

/** The container that a lost run left in the cluster. */
export interface FoundContainer {
  readonly runId: RunId;
  readonly containerName: string;
  readonly image: string;
  readonly fingerprint?: string;
  readonly ref: string;
  /** Its `KDEBUG_NOT_AFTER`. */
  readonly notAfterMs?: number;
  readonly pod: Pod;
}

/**
 * Rebuilds the run of a container from the text sealed at its launch and the current pod. The run continues right after
 * the launch, with nothing posted yet. Undefined: another's text, an unknown version, or another container than the
 * launched one. `redact`: the policy's patterns, for the displayed command line.
 */
export function rebuildRun(
  found: FoundContainer,
  text: string,
  redact: readonly string[] = [],
): (Run & { readonly plan: Plan }) | undefined {
  const reference = readSealed(text, isReference);
  if (!reference || reference.fingerprint !== found.fingerprint) return undefined;
  const parsed = parseCommand(reference.line);
  if (parsed.kind !== 'ok' || parsed.command.kind !== 'run') return undefined;
  const { origin, hash, notAfterMs, approval } = reference;
  const { request } = parsed.command;
  const { metadata, spec } = found.pod;
  const plan: Plan = {
    ...reference.plan,
    namespace: metadata.namespace,
    podName: metadata.name,
    podUid: metadata.uid,
    nodeName: spec.nodeName ?? '',
    image: found.image,
    command: request.command,
    env: request.env,
    requesterId: origin.requesterId,
    teamId: origin.teamId,
    channelId: origin.channelId,
  };
  return {
    schema: 1,
    id: found.runId,
    state: 'starting',
    origin,
    request,
    commandLine: shownCommandLine(request, redact),
    plan,
    planHash: hash,
    containerName: found.containerName,
    notAfterMs,
    ref: found.ref,
    launchedAtMs: notAfterMs - plan.startDeadlineMs,
    rebuilt: true,
    delivery: {},
    ...defined({ approval }),
  };
}

const isReference = (value: unknown): value is Reference =>
  typeof value === 'object' && value !== null && 'v' in value && value.v === 1 && !('partOf' in value);

/** The `about` of a container's sealed text: copied to another run or pod, it does not open. */
export const aboutContainer = (runId: RunId, podUid: string): string => `${runId}/${podUid}`;

/** The origin of a request without its bearer secret: safe to keep in a pod for the pod's life. */
export function withoutSecret({ responseUrl: _, ...origin }: Origin): Omit<Origin, 'responseUrl'> {
  return origin;
}

export const withoutWords = (approval: PendingApproval): PendingApproval => ({
  ...approval,
  votes: approval.votes.map(({ reason: _, ...vote }) => vote),
});

/** Parses a text sealed with our key; undefined: another kind of text, or an unknown version. */
export function readSealed<Value>(text: string, isOurs: (value: unknown) => value is Value): Value | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isOurs(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
