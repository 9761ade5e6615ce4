import { defined, own } from '../../lib/object.ts';
import { quantityOf } from '../../lib/quantity.ts';
import { END_ROOM_MS } from '../container/carrier.ts';
import type { SecurityContext } from '../container/ephemeral-container.ts';
import { type Carrier, imageThatRan, type OnceMore, type Original, switchesFor } from '../container/once-more.ts';
import type { Plan } from '../container/plan.ts';
import {
  type ContainerStatus,
  controllerOf,
  type Pod,
  type PodContainer,
  type PodSecurityLevel,
  workloadOf,
} from '../container/pod.ts';
import type { Revisions } from '../container/revisions.ts';
import { endOfDebugger, statusOfTarget } from '../container/status.ts';
import { channelPolicy, type Denial, denied, type Policy } from '../policy/policy.ts';
import type { RunRequest } from '../request/command.ts';
import type { Origin } from '../request/origin.ts';
import { targetContainerOf } from '../request/target.ts';
import { MAX_WAIT_MS, WAITING_IMAGE } from '../request/tripwire.ts';
import { classOfLaunch } from './launch-class.ts';
import type { PlanResult } from './make-plan.ts';
import { ownImage } from './resolve.ts';
import { imageOfRevision } from './revision-image.ts';
import { targetLogOf } from './target-log.ts';

/** The default of `--timeout`: what starts is up by then. */
const TIMEOUT_MS = 60_000;

/** The rule decides on Jobs and StatefulSets. The programs of other kinds (a database's operator, a workflow) may count on being alone, too. */
const KNOWN_OWNERS: ReadonlySet<string> = new Set([
  'ReplicaSet',
  'DaemonSet',
  'ReplicationController',
  'Job',
  'StatefulSet',
]);

export interface OnceMoreInputs extends SecondRunInputs {
  readonly request: RunRequest;
  readonly origin: Pick<Origin, 'requesterId' | 'teamId' | 'channelId'>;
  readonly policy: Policy;
  readonly cluster: string;
  readonly level: PodSecurityLevel;
}

export interface SecondRunInputs {
  readonly request: Pick<RunRequest, 'targetContainer' | 'onceMore' | 'timeoutMs'>;
  readonly policy: Pick<Policy, 'images' | 'limits'>;
  /** Undefined: the pod has no such container. */
  readonly original: Original | undefined;
  /** Present if the request wants the image of another revision. */
  readonly revisions: Revisions | undefined;
}

/** The second run of a container, as the pod is now. */
export interface SecondRun extends Pick<Plan, 'image' | 'imagePullPolicy'> {
  readonly kind: 'second-run';
  readonly container: PodContainer;
  readonly onceMore: OnceMore;
}

/**
 * The second run that a request asks for, or why there is none: the container runs, never ran, or names no image by its
 * digest, and no other revision has the image that is asked for. Pure, so that the same question can be asked again right before the launch.
 */
export function secondRunOf(pod: Pod, { request, policy, original, revisions }: SecondRunInputs): SecondRun | Denial {
  const target = targetContainerOf(pod, request.targetContainer);
  if (target.kind === 'problem') return { kind: 'deny', ...target.problem };
  if (target.kind === 'none' || !original) return denied('target_container_not_found', pod.metadata.name);
  const { container } = target;
  const problem = problemOfOnceMore(pod, container.name);
  if (problem) return problem;
  const { withoutEnv = [], imageOf: wanted } = request.onceMore ?? {};
  const chosen =
    wanted === undefined
      ? imageOfItsOwn(container.name, statusOfTarget(pod, container.name))
      : imageOfRevision({ pod, container, wanted }, revisions);
  if (chosen.kind === 'deny') return chosen;
  const { image, imagePullPolicy, revision } = chosen;
  const unknown = withoutEnv.find((name) => !original.variables.includes(name));
  if (unknown !== undefined) return denied('once_more_no_variable', `${unknown} of ${container.name}`);
  const onceMore: OnceMore = {
    ...original,
    container: container.name,
    withoutEnv,
    switches: switchesFor(original, withoutEnv),
    serviceAccount: pod.spec.serviceAccountName ?? 'default',
    ...defined({
      revision,
      carrier: carrierFor(request, original, policy, container),
      user: container.securityContext.runAsUser ?? pod.spec.securityContext.runAsUser,
    }),
  };
  return { kind: 'second-run', image, ...defined({ imagePullPolicy }), container, onceMore };
}

/**
 * The carrier of the tracer that watches the second run and ends it, if the policy has the image, the pod's spec names a program to start, and
 * the pod has a volume to start it from. No other image than the one that comes with kdebug: nothing says which ones
 * understand `carry`.
 */
function carrierFor(
  request: SecondRunInputs['request'],
  { command, emptyDir }: Original,
  policy: SecondRunInputs['policy'],
  { memoryLimit = '' }: PodContainer,
): Carrier | undefined {
  const tracer = own(policy.images, WAITING_IMAGE);
  const isOurs = tracer?.diagnostic === true && tracer.traces === true;
  if (!isOurs || request.onceMore?.untraced || command.length === 0 || emptyDir === undefined) return undefined;
  const endsAfterMs = lengthOf(request, policy);
  if (endsAfterMs > MAX_WAIT_MS) return undefined;
  return defined({ image: tracer.reference, volume: emptyDir, endsAfterMs, memoryLimit: quantityOf(memoryLimit) });
}

const lengthOf = ({ timeoutMs }: Pick<RunRequest, 'timeoutMs'>, { limits }: Pick<Policy, 'limits'>): number =>
  timeoutMs ?? Math.min(TIMEOUT_MS, limits.maxTimeoutMs);

type ChosenImage = Pick<SecondRun, 'image' | 'imagePullPolicy'> &
  Pick<OnceMore, 'revision'> & { readonly kind: 'image' };

function imageOfItsOwn(name: string, status: ContainerStatus | undefined): ChosenImage | Denial {
  const ran = imageThatRan(status?.imageID ?? '');
  return ran ? { kind: 'image', ...ran } : denied('once_more_no_digest', name);
}

/**
 * Why the program of this container does not run once more: its pod's owner, or because it runs, never ran, or runs a second
 * time already. Undefined: it may, if its status names its image. Pure.
 */
export const problemOfOnceMore = (pod: Pod, containerName: string): Denial | undefined =>
  problemOfOwner(pod) ??
  problemOfState(containerName, statusOfTarget(pod, containerName)) ??
  problemOfCopy(pod, containerName);

function problemOfOwner(pod: Pod): Denial | undefined {
  const owner = controllerOf(pod);
  if (!owner || KNOWN_OWNERS.has(owner.kind)) return undefined;
  return denied('once_more_workload_not_allowed', `${owner.kind}/${owner.name}`);
}

/** The kubelet tries again later: its program ended, or the runtime could not start it. */
const DOWN: ReadonlySet<string> = new Set(['CrashLoopBackOff', 'RunContainerError']);

function problemOfState(name: string, status: ContainerStatus | undefined): Denial | undefined {
  if (status?.running) return denied('once_more_running', name);
  if (status?.terminated || DOWN.has(status?.waiting?.reason ?? '')) return undefined;
  return denied('once_more_not_ended', `${name} (${status?.waiting?.reason ?? 'no status yet'})`);
}

/** Two at once would do everything a third time, and neither can be stopped. */
function problemOfCopy(pod: Pod, name: string): Denial | undefined {
  const copy = pod.spec.ephemeralContainers.find(
    (each) => each.copyOf === name && endOfDebugger(pod, each.name) === undefined,
  );
  return copy && denied('once_more_goes_on', copy.runId === undefined ? copy.name : `run ${copy.runId}`);
}

/** The plan of a second run. Its target is down, so it joins no processes; its power is that of its original. Pure. */
export function planOnceMore(pod: Pod, inputs: OnceMoreInputs): PlanResult {
  const { request, origin, policy, cluster, level } = inputs;
  const second = secondRunOf(pod, inputs);
  if (second.kind === 'deny') return second;
  const { image, imagePullPolicy, container, onceMore } = second;
  const alias = ownImage(image);
  const { limits } = policy;
  // A channel that may be shared with another company counts as shared.
  const isShared = channelPolicy(policy, origin.channelId)?.slackConnect === 'allowed';
  const right = targetLogOf(policy, origin, { cluster, namespace: pod.metadata.namespace }, { isShared });
  const judged = classOfLaunch({
    pod,
    targetName: undefined,
    learnt: undefined,
    securityContext: powerOf(container),
    imageClass: alias.class,
    ownWords: false,
    traces: false,
    copyOf: container,
  });
  const plan: Plan = {
    cluster,
    namespace: pod.metadata.namespace,
    podName: pod.metadata.name,
    podUid: pod.metadata.uid,
    nodeName: pod.spec.nodeName ?? '',
    ...defined({ workload: workloadOf(pod) }),
    imageAlias: alias.alias,
    image,
    ...defined({ imagePullPolicy }),
    command: [],
    argumentsOnly: false,
    env: [],
    profileAsked: request.profile,
    profile: 'baseline',
    class: judged.class,
    classReasons: [{ fact: 'second-run', container: container.name }, ...judged.reasons],
    timeoutMs: lengthOf(request, policy) + (onceMore.carrier ? END_ROOM_MS : 0),
    startDeadlineMs: limits.startDeadlineMs,
    maxLogBytes: limits.maxLogBytes,
    requesterId: origin.requesterId,
    teamId: origin.teamId,
    channelId: origin.channelId,
    ...defined({ reason: request.reason }),
    blindSpots: [],
    onceMore,
    observed: {
      earlierContainers: pod.spec.ephemeralContainers.length,
      podSecurity: level,
      ...defined({ withholdsLog: right === 'none' || undefined }),
    },
  };
  return { kind: 'plan', plan };
}

/** The powers of the original, for the class. */
function powerOf({
  securityContext: { privileged, capabilities, runAsUser, runAsNonRoot },
}: PodContainer): SecurityContext {
  return defined({ privileged, runAsUser, runAsNonRoot, capabilities: capabilities && { add: capabilities } });
}
