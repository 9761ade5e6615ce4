import { fingerprintOf } from '../../core/container/fingerprint.ts';
import type {
  ContainerStatus,
  ContainerTermination,
  Pod,
  PodContainer,
  PodSecurityContext,
} from '../../core/container/pod.ts';
import {
  asFlag,
  asNumber,
  asObject,
  asObjects,
  asText,
  asTexts,
  type JsonObject,
  textOrNothing,
} from './api/json-fields.ts';

const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed'] as const;
const ANNOTATIONS = ['kubernetes.io/config.mirror', 'kubectl.kubernetes.io/default-container'] as const;
const RUN_VARIABLE = 'KDEBUG_RUN';
const REF_VARIABLE = 'KDEBUG_REF';
const NOT_AFTER_VARIABLE = 'KDEBUG_NOT_AFTER';

/**
 * The projection of a core/v1 Pod that the rest of kdebug reads; a watch keeps nothing else. Fields that are missing or
 * of another type read as empty, so a server of any version can be read.
 */
export function viewPod(raw: unknown): Pod {
  const pod = asObject(raw);
  return {
    metadata: viewMetadata(asObject(pod.metadata)),
    spec: viewSpec(asObject(pod.spec)),
    status: viewStatus(asObject(pod.status)),
  };
}

function viewMetadata(metadata: JsonObject): Pod['metadata'] {
  const deletionTimestamp = textOrNothing(metadata.deletionTimestamp);
  const annotations = asTexts(metadata.annotations);
  return {
    name: asText(metadata.name),
    namespace: asText(metadata.namespace),
    uid: asText(metadata.uid),
    resourceVersion: asText(metadata.resourceVersion),
    creationTimestamp: asText(metadata.creationTimestamp),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    labels: asTexts(metadata.labels),
    annotations: Object.fromEntries(
      ANNOTATIONS.flatMap((name) => (annotations[name] === undefined ? [] : [[name, annotations[name]]])),
    ),
    ownerReferences: asObjects(metadata.ownerReferences).map((owner) => ({
      kind: asText(owner.kind),
      name: asText(owner.name),
      controller: owner.controller === true,
    })),
  };
}

function viewSpec(spec: JsonObject): Pod['spec'] {
  const nodeName = textOrNothing(spec.nodeName);
  const os = textOrNothing(asObject(spec.os).name);
  const nodeSelectorOs = textOrNothing(asObject(spec.nodeSelector)['kubernetes.io/os']);
  return {
    ...(nodeName !== undefined && { nodeName }),
    ...(os !== undefined && { os }),
    ...(nodeSelectorOs !== undefined && { nodeSelectorOs }),
    shareProcessNamespace: spec.shareProcessNamespace === true,
    hostPID: spec.hostPID === true,
    securityContext: viewSecurityContext(spec.securityContext),
    containers: asObjects(spec.containers).map(viewContainer),
    initContainers: asObjects(spec.initContainers).map(viewContainer),
    ephemeralContainers: asObjects(spec.ephemeralContainers).map((container) => {
      const env = asObjects(container.env);
      const variable = (called: string) => env.find(({ name }) => name === called)?.value;
      const runId = textOrNothing(variable(RUN_VARIABLE));
      const ref = textOrNothing(variable(REF_VARIABLE));
      const notAfterMs = Date.parse(asText(variable(NOT_AFTER_VARIABLE)));
      return {
        name: asText(container.name),
        image: asText(container.image),
        ...(runId !== undefined && { runId, fingerprint: fingerprintOf(container) }),
        ...(ref !== undefined && { ref }),
        ...(Number.isFinite(notAfterMs) && { notAfterMs }),
      };
    }),
  };
}

function viewContainer(container: JsonObject): PodContainer {
  const restartPolicy = textOrNothing(container.restartPolicy);
  const resources = asObject(container.resources);
  const [limits, requests] = [asObject(resources.limits), asObject(resources.requests)];
  const memoryLimit = textOrNothing(limits.memory);
  const cpuLimit = textOrNothing(limits.cpu);
  const hasRequests = requests.memory !== undefined && requests.cpu !== undefined;
  return {
    name: asText(container.name),
    image: asText(container.image),
    securityContext: viewSecurityContext(container.securityContext),
    ...(memoryLimit !== undefined && { memoryLimit }),
    ...(cpuLimit !== undefined && { cpuLimit }),
    ...(hasRequests && { hasRequests }),
    ...(restartPolicy !== undefined && { restartPolicy }),
  };
}

function viewSecurityContext(raw: unknown): PodSecurityContext {
  const context = asObject(raw);
  const runAsNonRoot = asFlag(context.runAsNonRoot);
  const runAsUser = asNumber(context.runAsUser);
  const runAsGroup = asNumber(context.runAsGroup);
  return {
    ...(runAsNonRoot !== undefined && { runAsNonRoot }),
    ...(runAsUser !== undefined && { runAsUser }),
    ...(runAsGroup !== undefined && { runAsGroup }),
  };
}

function viewStatus(status: JsonObject): Pod['status'] {
  const reason = textOrNothing(status.reason);
  return {
    phase: PHASES.find((phase) => phase === status.phase) ?? 'Unknown',
    ...(reason !== undefined && { reason }),
    containerStatuses: asObjects(status.containerStatuses).map(viewContainerStatus),
    initContainerStatuses: asObjects(status.initContainerStatuses).map(viewContainerStatus),
    ephemeralContainerStatuses: asObjects(status.ephemeralContainerStatuses).map(viewContainerStatus),
  };
}

function viewContainerStatus(status: JsonObject): ContainerStatus {
  const lastTermination = viewTermination(asObject(status.lastState).terminated);
  const linux = asObject(asObject(status.user).linux);
  const [uid, gid] = [asNumber(linux.uid), asNumber(linux.gid)];
  return {
    name: asText(status.name),
    image: asText(status.image),
    imageID: asText(status.imageID),
    restartCount: asNumber(status.restartCount) ?? 0,
    ...(status.ready === true && { ready: true }),
    ...viewState(asObject(status.state)),
    ...(lastTermination && { lastTermination }),
    ...(uid !== undefined && gid !== undefined && { user: { uid, gid } }),
  };
}

/** Exactly one of the three, or none before the kubelet has spoken. */
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
    ...(signal !== undefined && { signal }),
    reason: asText(terminated.reason),
    message: asText(terminated.message),
    startedAt: asText(terminated.startedAt),
    finishedAt: asText(terminated.finishedAt),
  };
}
