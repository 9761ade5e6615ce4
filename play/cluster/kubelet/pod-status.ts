import { NODE_ADDRESS } from '../objects/places.ts';
import type {
  Condition,
  Container,
  ContainerState,
  ContainerStatus,
  PodObject,
  PodStatus,
  Termination,
} from '../objects/pod.ts';
import type { Instance } from './instance.ts';

/** What a node knows of one container of a pod. */
export interface SlotView {
  readonly container: Container;
  readonly waiting: { readonly reason: string; readonly message?: string } | undefined;
  readonly instance: Instance | undefined;
  /** Of a container that the runtime made and could not start. */
  readonly imageId: string;
  readonly last: Termination | undefined;
  readonly restarts: number;
}

export interface PodView {
  readonly pod: PodObject;
  readonly mains: readonly SlotView[];
  readonly ephemerals: readonly SlotView[];
  readonly ip: string;
  readonly startedAt: string;
  readonly now: string;
}

/** The status that the kubelet would write now; with the users of containers where the runtime tells them. */
export function podStatus(view: PodView, reportsUsers: boolean): PodStatus {
  const phase = phaseOf(view);
  const containerStatuses = byName(view.mains.map((slot) => containerStatus(slot, { isMain: true, reportsUsers })));
  const isReady = containerStatuses.every((each) => each.ready);
  return {
    observedGeneration: view.pod.metadata.generation,
    phase,
    conditions: conditions(view, phase, isReady),
    hostIP: NODE_ADDRESS,
    hostIPs: [{ ip: NODE_ADDRESS }],
    podIP: view.ip,
    podIPs: [{ ip: view.ip }],
    startTime: view.startedAt,
    containerStatuses,
    ...ephemeralStatuses(view, reportsUsers),
    qosClass: view.pod.status.qosClass ?? 'BestEffort',
  };
}

/** Of the ephemeral containers alone; nothing where there are none. */
export function ephemeralStatuses(view: PodView, reportsUsers: boolean): Pick<PodStatus, 'ephemeralContainerStatuses'> {
  const statuses = view.ephemerals.map((slot) => containerStatus(slot, { isMain: false, reportsUsers }));
  return statuses.length === 0 ? {} : { ephemeralContainerStatuses: byName(statuses) };
}

/** The kubelet sorts them so, whatever their order in the spec. */
const byName = (statuses: ContainerStatus[]) => statuses.sort((a, b) => (a.name < b.name ? -1 : 1));

/** All main containers have ended and none will start again. */
export function phaseOf({ pod, mains }: Pick<PodView, 'pod' | 'mains'>): PodStatus['phase'] {
  const policy = pod.spec.restartPolicy ?? 'Always';
  const ends = mains.map(({ instance, waiting }) => (waiting ? undefined : instance?.termination));
  const isDeleting = pod.metadata.deletionTimestamp !== undefined;
  const isFinal = (end: Termination | undefined) =>
    end !== undefined && (isDeleting || policy === 'Never' || (policy === 'OnFailure' && end.exitCode === 0));
  if (ends.every(isFinal)) return ends.every((end) => end?.exitCode === 0) ? 'Succeeded' : 'Failed';
  return mains.some(({ instance, last }) => instance !== undefined || last !== undefined) ? 'Running' : 'Pending';
}

interface Telling {
  readonly isMain: boolean;
  readonly reportsUsers: boolean;
}

function containerStatus(slot: SlotView, { isMain, reportsUsers }: Telling): ContainerStatus {
  const { container, instance, last, restarts } = slot;
  const state = stateOf(slot);
  const isRunning = state.running !== undefined;
  const shown = state.waiting ? last?.containerID : instance?.id;
  const user =
    instance && isRunning && reportsUsers
      ? {
          linux: {
            uid: instance.credentials.uid,
            gid: instance.credentials.gid,
            supplementalGroups: [instance.credentials.gid],
          },
        }
      : undefined;
  return {
    name: container.name,
    state,
    lastState: last && last.containerID !== state.terminated?.containerID ? { terminated: last } : {},
    ready: isMain && isRunning,
    restartCount: restarts,
    image: container.image,
    imageID: instance?.imageId ?? slot.imageId,
    ...(shown === undefined ? {} : { containerID: shown }),
    ...(isMain ? { started: isRunning } : {}),
    ...(instance || last ? resourcesOf(container) : {}),
    ...(user === undefined ? {} : { user }),
  };
}

function resourcesOf({ resources = {} }: Container): Pick<ContainerStatus, 'resources' | 'allocatedResources'> {
  return { ...(resources.requests ? { allocatedResources: resources.requests } : {}), resources };
}

function stateOf({ waiting, instance }: SlotView): ContainerState {
  if (waiting) return { waiting };
  if (!instance) return { waiting: { reason: 'ContainerCreating' } };
  if (instance.termination) return { terminated: instance.termination };
  return { running: { startedAt: instance.startedAt } };
}

function conditions(view: PodView, phase: PodStatus['phase'], isReady: boolean): readonly Condition[] {
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const unready = view.mains
    .filter((slot) => stateOf(slot).running === undefined)
    .map(({ container }) => container.name);
  const why = isOver
    ? { reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed' }
    : { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
  const readiness = isReady && !isOver ? { status: 'True' } : { status: 'False', ...why };
  const wanted = [
    { type: 'PodReadyToStartContainers', status: isOver ? 'False' : 'True' },
    { type: 'Initialized', status: 'True', ...(phase === 'Succeeded' ? { reason: 'PodCompleted' } : {}) },
    { type: 'Ready', ...readiness },
    { type: 'ContainersReady', ...readiness },
    { type: 'PodScheduled', status: 'True' },
  ];
  return wanted.map((condition) => {
    const before = view.pod.status.conditions?.find(({ type }) => type === condition.type);
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : view.now;
    const { generation } = view.pod.metadata;
    return { ...condition, observedGeneration: generation, lastProbeTime: null, lastTransitionTime };
  });
}
