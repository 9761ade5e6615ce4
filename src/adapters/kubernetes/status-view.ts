import type { ContainerStatus, ContainerTermination, Pod, PodCondition } from '../../core/container/pod.ts';
import { defined } from '../../lib/object.ts';
import { asNumber, asObject, asObjects, asText, type JsonObject, textOrUndefined } from './api/json-fields.ts';

const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed'] as const;
const CONDITIONS: ReadonlySet<string> = new Set([
  'PodScheduled',
  'PodReadyToStartContainers',
  'Initialized',
  'ContainersReady',
  'Ready',
]);
const MESSAGE_LENGTH = 1_000;

/** The part of a pod's status that kdebug reads. Missing fields, and fields of another type, read as empty. */
export function viewStatus(status: JsonObject): Pod['status'] {
  const reason = textOrUndefined(status.reason);
  const message = textOrUndefined(status.message);
  const phase = PHASES.find((each) => each === status.phase) ?? 'Unknown';
  // A pod that is over is never ready, which says nothing.
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const conditions = isOver ? [] : asObjects(status.conditions);
  const unmet = conditions.filter(isUnmet).map(viewCondition);
  const met = conditions.find((each) => each.type === 'Ready' && each.status === 'True');
  return {
    phase,
    ...defined({ reason, message, unmetConditions: unmet.length > 0 ? unmet : undefined }),
    ...defined({ readySince: textOrUndefined(met?.lastTransitionTime) }),
    containerStatuses: asObjects(status.containerStatuses).map(viewContainerStatus),
    initContainerStatuses: asObjects(status.initContainerStatuses).map(viewContainerStatus),
    ephemeralContainerStatuses: asObjects(status.ephemeralContainerStatuses).map(viewContainerStatus),
  };
}

/** Of the conditions that Kubernetes itself sets; others may be false in a healthy pod. */
const isUnmet = ({ type, status }: JsonObject): boolean =>
  type === 'DisruptionTarget' ? status === 'True' : CONDITIONS.has(asText(type)) && status !== 'True';

/** Messages are cut at 1,000 characters. */
export const viewCondition = ({ type, reason, message, lastTransitionTime }: JsonObject): PodCondition => ({
  type: asText(type),
  reason: asText(reason),
  message: asText(message).slice(0, MESSAGE_LENGTH),
  since: asText(lastTransitionTime),
});

function viewContainerStatus(status: JsonObject): ContainerStatus {
  const lastTermination = viewTermination(asObject(status.lastState).terminated);
  const linux = asObject(asObject(status.user).linux);
  const [uid, gid] = [asNumber(linux.uid), asNumber(linux.gid)];
  return {
    name: asText(status.name),
    image: asText(status.image),
    imageID: asText(status.imageID),
    restartCount: asNumber(status.restartCount) ?? 0,
    ...defined({ ready: status.ready === true || undefined }),
    ...viewState(asObject(status.state)),
    ...defined({ lastTermination, user: uid !== undefined && gid !== undefined ? { uid, gid } : undefined }),
  };
}

/** Exactly one of the three, or none before the kubelet has reported. */
function viewState(state: JsonObject): Pick<ContainerStatus, 'waiting' | 'running' | 'terminated'> {
  const terminated = viewTermination(state.terminated);
  if (terminated) return { terminated };
  if (state.running !== undefined && state.running !== null) {
    return { running: { startedAt: asText(asObject(state.running).startedAt) } };
  }
  if (state.waiting === undefined || state.waiting === null) return {};
  const waiting = asObject(state.waiting);
  return { waiting: { reason: asText(waiting.reason), message: asText(waiting.message) } };
}

function viewTermination(raw: unknown): ContainerTermination | undefined {
  if (raw === undefined || raw === null) return undefined;
  const terminated = asObject(raw);
  const signal = asNumber(terminated.signal);
  return {
    exitCode: asNumber(terminated.exitCode) ?? 0,
    ...defined({ signal }),
    reason: asText(terminated.reason),
    message: asText(terminated.message),
    startedAt: asText(terminated.startedAt),
    finishedAt: asText(terminated.finishedAt),
  };
}
