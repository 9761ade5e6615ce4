import { fingerprintOf } from '../../core/container/fingerprint.ts';
import type {
  ContainerSecurityContext,
  Pod,
  PodContainer,
  PodEphemeralContainer,
  PodSecurityContext,
} from '../../core/container/pod.ts';
import { defined, isObject } from '../../lib/object.ts';
import {
  asFlag,
  asNumber,
  asObject,
  asObjects,
  asText,
  asTexts,
  type JsonObject,
  textOrUndefined,
} from './api/json-fields.ts';
import { viewStatus } from './status-view.ts';

const ANNOTATIONS = ['kubernetes.io/config.mirror', 'kubectl.kubernetes.io/default-container'] as const;
/** Before the name of a container: how pods name an AppArmor profile before Kubernetes 1.30. */
const APP_ARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';
const RUN_VARIABLE = 'KDEBUG_RUN';
const STOPS_VARIABLE = 'KDEBUG_STOPS';
const REQUESTER_VARIABLE = 'KDEBUG_REQUESTER';
const REF_VARIABLE = 'KDEBUG_REF';
const NOT_AFTER_VARIABLE = 'KDEBUG_NOT_AFTER';
/**
 * Kinds of volume with only the pod's own data. A claim counts as its workload's own: the pod does not show who else
 * mounts it. Every other kind, even an unknown one, reaches the node or other pods.
 */
const OWN_VOLUMES: ReadonlySet<string> = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'gitRepo',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

/**
 * The part of a core/v1 Pod that kdebug reads; a watch caches nothing else. Missing fields, and fields of another type,
 * read as empty, so any server version works.
 */
export function viewPod(raw: unknown): Pod {
  const pod = asObject(raw);
  return {
    metadata: viewMetadata(asObject(pod.metadata)),
    spec: viewSpec(asObject(pod.spec), asTexts(asObject(pod.metadata).annotations)),
    status: viewStatus(asObject(pod.status)),
  };
}

function viewMetadata(metadata: JsonObject): Pod['metadata'] {
  const deletionTimestamp = textOrUndefined(metadata.deletionTimestamp);
  const annotations = asTexts(metadata.annotations);
  return {
    name: asText(metadata.name),
    namespace: asText(metadata.namespace),
    uid: asText(metadata.uid),
    resourceVersion: asText(metadata.resourceVersion),
    creationTimestamp: asText(metadata.creationTimestamp),
    ...defined({ deletionTimestamp }),
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

function viewSpec(spec: JsonObject, annotations: OfPod['annotations']): Pod['spec'] {
  const nodeName = textOrUndefined(spec.nodeName);
  const os = textOrUndefined(asObject(spec.os).name);
  const nodeSelectorOs = textOrUndefined(asObject(spec.nodeSelector)['kubernetes.io/os']);
  const ofPod = { shared: sharedVolumesOf(spec), annotations };
  return {
    ...defined({ nodeName, os, nodeSelectorOs }),
    shareProcessNamespace: spec.shareProcessNamespace === true,
    hostPID: spec.hostPID === true,
    hostIPC: spec.hostIPC === true,
    hostNetwork: spec.hostNetwork === true,
    securityContext: viewPodSecurity(asObject(spec.securityContext)),
    containers: asObjects(spec.containers).map((container) => viewContainer(container, ofPod)),
    initContainers: asObjects(spec.initContainers).map((container) => viewContainer(container, ofPod)),
    ephemeralContainers: asObjects(spec.ephemeralContainers).map((container) => viewEphemeral(container, ofPod)),
  };
}

/** What the pod says of its containers. */
interface OfPod {
  /** Volumes that reach beyond the pod: name and kind. */
  readonly shared: ReadonlyMap<string, string>;
  readonly annotations: Readonly<Record<string, string>>;
}

function sharedVolumesOf(spec: JsonObject): OfPod['shared'] {
  return new Map(
    asObjects(spec.volumes).flatMap(({ name, ...source }) =>
      Object.keys(source)
        .filter((kind) => !OWN_VOLUMES.has(kind))
        .map((kind) => [asText(name), kind] as const),
    ),
  );
}

function viewAnyContainer(container: JsonObject, { shared, annotations }: OfPod) {
  const name = asText(container.name);
  const sharedVolumes =
    shared.size === 0
      ? []
      : [...asObjects(container.volumeMounts), ...asObjects(container.volumeDevices)].flatMap((mount) => {
          const volume = asText(mount.name);
          const kind = shared.get(volume);
          return kind === undefined ? [] : [{ name: volume, kind }];
        });
  return {
    name,
    image: asText(container.image),
    securityContext: {
      ...defined({ appArmor: annotatedAppArmor(annotations[`${APP_ARMOR_ANNOTATION}${name}`]) }),
      // The kubelet, too, prefers the field.
      ...viewSecurityContext(asObject(container.securityContext)),
    },
    ...defined({ sharedVolumes: sharedVolumes.length > 0 ? sharedVolumes : undefined }),
  };
}

function viewEphemeral(container: JsonObject, ofPod: OfPod): PodEphemeralContainer {
  const env = asObjects(container.env);
  const variable = (wanted: string) => env.find(({ name }) => name === wanted)?.value;
  const targetContainerName = textOrUndefined(container.targetContainerName);
  const runId = textOrUndefined(variable(RUN_VARIABLE));
  const requesterId = textOrUndefined(variable(REQUESTER_VARIABLE));
  const isKdebugs = runId !== undefined || variable(STOPS_VARIABLE) !== undefined;
  const ref = textOrUndefined(variable(REF_VARIABLE));
  const notAfterMs = Date.parse(asText(variable(NOT_AFTER_VARIABLE)));
  const { securityContext, ...any } = viewAnyContainer(container, ofPod);
  return {
    ...any,
    ...defined({
      securityContext: Object.keys(securityContext).length > 0 ? securityContext : undefined,
      targetContainerName,
      runId,
      fingerprint: isKdebugs ? fingerprintOf(container) : undefined,
      requesterId,
      ref,
      notAfterMs: Number.isFinite(notAfterMs) ? notAfterMs : undefined,
    }),
  };
}

function viewContainer(container: JsonObject, ofPod: OfPod): PodContainer {
  const restartPolicy = textOrUndefined(container.restartPolicy);
  const resources = asObject(container.resources);
  const [limits, requests] = [asObject(resources.limits), asObject(resources.requests)];
  const memoryLimit = textOrUndefined(limits.memory);
  const cpuLimit = textOrUndefined(limits.cpu);
  const memoryRequest = textOrUndefined(requests.memory);
  const cpuRequest = textOrUndefined(requests.cpu);
  const hasRequests = requests.memory !== undefined && requests.cpu !== undefined;
  return {
    ...viewAnyContainer(container, ofPod),
    ...defined({
      hasOwnCommand: hasWords(container.command, container.args) || undefined,
      hasReadOnlyTmp: hasReadOnlyTmp(container) || undefined,
      disablesAttach: disablesAttach(container) || undefined,
      memoryLimit,
      cpuLimit,
      memoryRequest,
      cpuRequest,
      hasRequests: hasRequests || undefined,
      restartPolicy,
    }),
  };
}

const hasReadOnlyTmp = (container: JsonObject): boolean =>
  asObject(container.securityContext).readOnlyRootFilesystem === true &&
  !asObjects(container.volumeMounts).some(
    ({ mountPath, readOnly }) => /^\/tmp\/*$/.test(asText(mountPath)) && readOnly !== true,
  );

/** The JVM's own flag, also when a shell passes it on. Values from a ConfigMap or a Secret are not in the spec. */
const disablesAttach = ({ command, args, env }: JsonObject): boolean =>
  [command, args, asObjects(env).map(({ value }) => value)]
    .flatMap((words: unknown) => (Array.isArray(words) ? words : []))
    .some((word) => typeof word === 'string' && word.includes('-XX:+DisableAttachMechanism'));

const hasWords = (...lists: readonly unknown[]): boolean =>
  lists.some((list) => Array.isArray(list) && list.length > 0);

function viewSecurityContext(context: JsonObject): ContainerSecurityContext {
  const added = asObject(context.capabilities).add;
  const capabilities = Array.isArray(added) ? added.map(asText) : [];
  return {
    ...viewPodSecurity(context),
    ...defined({
      privileged: context.privileged === true || undefined,
      capabilities: capabilities.length > 0 ? capabilities : undefined,
      unmaskedProc: context.procMount === 'Unmasked' || undefined,
    }),
  };
}

function viewPodSecurity(context: JsonObject): PodSecurityContext {
  const runAsNonRoot = asFlag(context.runAsNonRoot);
  const runAsUser = asNumber(context.runAsUser);
  const runAsGroup = asNumber(context.runAsGroup);
  const { type, user, role } = asObject(context.seLinuxOptions);
  const seLinux = defined({ type: textOrUndefined(type), user: textOrUndefined(user), role: textOrUndefined(role) });
  return defined({
    runAsNonRoot,
    runAsUser,
    runAsGroup,
    seLinux: isObject(context.seLinuxOptions) ? seLinux : undefined,
    appArmor: textOrUndefined(asObject(context.appArmorProfile).type),
    seccomp: textOrUndefined(asObject(context.seccompProfile).type),
  });
}

/** The value of the annotation as the type of the field; unknown values as the one that confines least. */
function annotatedAppArmor(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (value.startsWith('localhost/')) return 'Localhost';
  return value === 'runtime/default' ? 'RuntimeDefault' : 'Unconfined';
}
