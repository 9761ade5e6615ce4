import type { EventObject } from './events.ts';
import type { NamespaceObject, NodeObject } from './places.ts';
import type { ContainerStatus, PodObject } from './pod.ts';

/** meta/v1 Table: the columns that `kubectl get` prints. */
export interface Columns<T> {
  readonly definitions: readonly object[];
  cells(object: T, now: number): readonly (string | number)[];
}

export const column = (name: string, priority = 0) => ({
  name,
  type: 'string',
  format: name === 'Name' ? 'name' : '',
  description: '',
  priority,
});

/** A whole Table. `rows` come from `rowOf`. */
export function tableOf(definitions: readonly object[], rows: readonly object[], metadata: object): object {
  return { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata, columnDefinitions: definitions, rows };
}

export function rowOf<T extends { readonly metadata: object }>(columns: Columns<T>, object: T, now: number): object {
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
  return { cells: columns.cells(object, now), object: partial };
}

export const POD_COLUMNS: Columns<PodObject> = {
  definitions: [
    column('Name'),
    column('Ready'),
    column('Status'),
    column('Restarts'),
    column('Age'),
    column('IP', 1),
    column('Node', 1),
    column('Nominated Node', 1),
    column('Readiness Gates', 1),
  ],
  cells: (pod, now) => {
    const statuses = pod.status.containerStatuses ?? [];
    const ready = statuses.filter((each) => each.ready).length;
    return [
      pod.metadata.name,
      `${ready}/${pod.spec.containers.length}`,
      podReason(pod),
      restarts(statuses, now),
      age(pod.metadata.creationTimestamp, now),
      pod.status.podIP ?? '<none>',
      pod.spec.nodeName ?? '<none>',
      '<none>',
      '<none>',
    ];
  },
};

/** The one word in the STATUS column (kubectl printers, printPod). */
function podReason(pod: PodObject): string {
  const isOver = pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';
  if (pod.metadata.deletionTimestamp !== undefined && !isOver) return 'Terminating';
  const said = (pod.status.containerStatuses ?? []).map(({ state }) => {
    if (state.waiting) return state.waiting.reason;
    if (state.terminated) return state.terminated.reason || `ExitCode:${state.terminated.exitCode}`;
    return '';
  });
  return said.find((each) => each !== '') ?? pod.status.reason ?? pod.status.phase;
}

function restarts(statuses: readonly ContainerStatus[], now: number): string {
  const count = statuses.reduce((sum, each) => sum + each.restartCount, 0);
  const last =
    statuses
      .map((each) => each.lastState.terminated?.finishedAt ?? '')
      .sort()
      .at(-1) ?? '';
  return count === 0 || last === '' ? String(count) : `${count} (${age(last, now)} ago)`;
}

export const NAMESPACE_COLUMNS: Columns<NamespaceObject> = {
  definitions: [column('Name'), column('Status'), column('Age')],
  cells: ({ metadata, status }, now) => [metadata.name, status.phase, age(metadata.creationTimestamp, now)],
};

export const NODE_COLUMNS: Columns<NodeObject> = {
  definitions: [column('Name'), column('Status'), column('Roles'), column('Age'), column('Version')],
  cells: ({ metadata, status }, now) => {
    const isReady = status.conditions.some((each) => each.type === 'Ready' && each.status === 'True');
    const version = status.nodeInfo.kubeletVersion ?? '';
    return [metadata.name, isReady ? 'Ready' : 'NotReady', '<none>', age(metadata.creationTimestamp, now), version];
  },
};

export const EVENT_COLUMNS: Columns<EventObject> = {
  definitions: [
    column('Last Seen'),
    column('Type'),
    column('Reason'),
    column('Object'),
    column('Message'),
    column('Count', 1),
    column('Name', 1),
  ],
  cells: (event, now) => {
    const { involvedObject: about } = event;
    return [
      age(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp, now),
      event.type,
      event.reason,
      `${about.kind.toLowerCase()}/${about.name}`,
      event.message,
      event.count,
      event.metadata.name,
    ];
  },
};

/** A duration as kubectl says it: `10s`, `4m5s`, `3h`, `2d` (apimachinery HumanDuration, without its finer steps). */
export function age(since: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
