import type { ContainerLog } from '../log/container-log.ts';
import { fillRecorded } from '../log/recorded-log.ts';
import type { EventObject } from '../objects/events.ts';
import { isObject } from '../objects/json.ts';
import type { NodeObject } from '../objects/places.ts';
import type { ContainerStatus, JsonObject, Labels, PodObject } from '../objects/pod.ts';
import { STORED_KINDS } from '../stored/kinds.ts';
import type { World } from '../world.ts';
import type { Recording } from './recording.ts';

export interface Stage {
  readonly world: World;
  readonly node: { podRecorded(pod: PodObject, logs: ReadonlyMap<string, ContainerLog>): void };
  readonly makeLog: () => ContainerLog;
}

/**
 * Puts the objects of a recording into the cluster: pods, events, nodes, claims, classes, services, slices and workloads.
 * Objects of other kinds are left out: nothing here serves them. `namespace` replaces the recorded one.
 */
export function loadRecording(stage: Stage, { objects, logs }: Recording, namespace?: string): void {
  for (const raw of objects) load(stage, namespace === undefined ? raw : movedTo(raw, namespace), logs);
}

function load(stage: Stage, object: JsonObject, logs: Recording['logs']): void {
  const { world } = stage;
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const [name, namespace] = [String(metadata.name), String(metadata.namespace ?? '')];
  if (namespace !== '' && !world.places.namespaces.has(namespace)) world.places.addNamespace(namespace);
  // A real API server gave them, so their kind is their type.
  if (object.kind === 'Pod') loadPod(stage, object as unknown as PodObject, logs);
  else if (object.kind === 'Event') world.events.keep(object as unknown as EventObject);
  else if (object.kind === 'Node') world.places.nodes.set(name, object as unknown as NodeObject);
  else if (object.kind === 'Namespace') world.places.addNamespace(name, (metadata.labels ?? {}) as Labels);
  const resource = Object.keys(STORED_KINDS).find((each) => STORED_KINDS[each]?.kind === object.kind);
  if (resource !== undefined) world.objects.put(resource, object, namespace);
}

function loadPod({ world, node, makeLog }: Stage, pod: PodObject, logs: Recording['logs']): void {
  const { nodeName } = pod.spec;
  if (nodeName !== undefined && !world.places.nodes.has(nodeName)) world.places.setNode(nodeName, true);
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status;
  const kept = new Map<string, ContainerLog>();
  for (const status of [...containerStatuses, ...initContainerStatuses]) {
    const key = `${pod.metadata.name}_${status.name}`;
    for (const [id, lines] of logsOf(status, { now: logs.get(key), previous: logs.get(`${key}.previous`) })) {
      const log = fillRecorded(makeLog(), lines);
      if (!status.state.running || status.containerID !== id) log.end();
      kept.set(id, log);
    }
  }
  node.podRecorded(world.pods.put({ ...pod, kind: 'Pod', apiVersion: 'v1' }), kept);
}

interface Lines {
  readonly now: readonly string[] | undefined;
  readonly previous: readonly string[] | undefined;
}

/** By container id, as the kubelet chooses one: between two starts the last incarnation has the only log. */
function logsOf({ state, lastState, containerID }: ContainerStatus, { now, previous }: Lines) {
  const last = lastState.terminated?.containerID;
  const current = state.terminated?.containerID ?? (state.running ? containerID : last);
  const found = new Map<string, readonly string[]>();
  if (last !== undefined && previous) found.set(last, previous);
  if (current !== undefined && now && !found.has(current)) found.set(current, now);
  return found;
}

function movedTo(raw: JsonObject, namespace: string): JsonObject {
  const metadata = isObject(raw.metadata) ? raw.metadata : {};
  const about = raw.involvedObject;
  return {
    ...raw,
    metadata: metadata.namespace === undefined ? metadata : { ...metadata, namespace },
    ...(isObject(about) ? { involvedObject: { ...about, namespace } } : {}),
  };
}
