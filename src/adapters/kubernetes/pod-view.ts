import type { Pod } from '../../core/container/pod.ts';
import { defined, isObject } from '../../lib/object.ts';
import { asObject, asObjects, asText, asTexts, type JsonObject, textOrUndefined } from './api/json-fields.ts';
import { type OfPod, viewContainer, viewEphemeral, viewPodSecurity } from './container-view.ts';
import { viewStatus } from './status-view.ts';

const ANNOTATIONS = [
  'kubernetes.io/config.mirror',
  'kubectl.kubernetes.io/default-container',
  'kubectl.kubernetes.io/restartedAt',
] as const;
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
    spec: viewSpec(asObject(pod.spec), asObject(pod.metadata)),
    status: viewStatus(asObject(pod.status)),
  };
}

function viewMetadata(metadata: JsonObject): Pod['metadata'] {
  const deletionTimestamp = textOrUndefined(metadata.deletionTimestamp);
  const annotations = asTexts(metadata.annotations);
  const finalizers = Array.isArray(metadata.finalizers) ? metadata.finalizers.map(asText) : [];
  return {
    name: asText(metadata.name),
    namespace: asText(metadata.namespace),
    uid: asText(metadata.uid),
    resourceVersion: asText(metadata.resourceVersion),
    creationTimestamp: asText(metadata.creationTimestamp),
    ...defined({ deletionTimestamp, finalizers: finalizers.length > 0 ? finalizers : undefined }),
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

function viewSpec(spec: JsonObject, metadata: JsonObject): Pod['spec'] {
  const serviceAccountName = textOrUndefined(spec.serviceAccountName);
  const claims = claimsOf(spec, asText(metadata.name));
  const spreadKeys = asObjects(spec.topologySpreadConstraints).map(({ topologyKey }) => asText(topologyKey));
  const schedulingGates = asObjects(spec.schedulingGates).map(({ name }) => asText(name));
  const memoryVolumes = memoryVolumesOf(spec);
  const nodeName = textOrUndefined(spec.nodeName);
  const os = textOrUndefined(asObject(spec.os).name);
  const nodeSelectorOs = textOrUndefined(asObject(spec.nodeSelector)['kubernetes.io/os']);
  const ofPod = { shared: sharedVolumesOf(spec), annotations: asTexts(metadata.annotations) };
  return {
    ...defined({
      nodeName,
      os,
      nodeSelectorOs,
      nodeSelector: isObject(spec.nodeSelector) ? asTexts(spec.nodeSelector) : undefined,
      serviceAccountName,
      claims: claims.length > 0 ? claims : undefined,
      spreadKeys: spreadKeys.length > 0 ? spreadKeys : undefined,
      schedulingGates: schedulingGates.length > 0 ? schedulingGates : undefined,
      memoryVolumes: memoryVolumes.length > 0 ? memoryVolumes : undefined,
    }),
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

function sharedVolumesOf(spec: JsonObject): OfPod['shared'] {
  return new Map(
    asObjects(spec.volumes).flatMap(({ name, ...source }) =>
      Object.keys(source)
        .filter((kind) => !OWN_VOLUMES.has(kind))
        .map((kind) => [asText(name), kind] as const),
    ),
  );
}

const memoryVolumesOf = (spec: JsonObject): readonly string[] =>
  asObjects(spec.volumes).flatMap(({ name, emptyDir }) =>
    asObject(emptyDir).medium === 'Memory' ? [asText(name)] : [],
  );

/** Of a generic ephemeral volume the controller names the claim after pod and volume. */
const claimsOf = (spec: JsonObject, podName: string): readonly string[] =>
  asObjects(spec.volumes).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    const claim = asText(asObject(persistentVolumeClaim).claimName);
    if (claim !== '') return [claim];
    return isObject(ephemeral) ? [`${podName}-${asText(name)}`] : [];
  });
