import type { PageContainer, PageEvent, PagePod } from '../contract.ts';

/** What is read of core/v1 Pod, from the local cluster or from a real one. */
interface Pod {
  readonly metadata?: Named & { readonly uid?: string; readonly deletionTimestamp?: unknown };
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers: readonly Container[];
    readonly ephemeralContainers?: readonly Container[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly containerStatuses?: readonly Status[];
    readonly ephemeralContainerStatuses?: readonly Status[];
  };
}

interface Named {
  readonly namespace?: string;
  readonly name?: string;
}

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly targetContainerName?: string;
}

interface Status {
  readonly name: string;
  readonly restartCount: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string };
    readonly running?: Started;
    readonly terminated?: Started & { readonly reason?: string; readonly exitCode: number };
  };
}

interface Started {
  readonly startedAt?: string | Date | null;
}

/** What is read of core/v1 Event. */
interface Event {
  readonly metadata: { readonly uid?: string };
  readonly involvedObject: Named;
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly lastTimestamp?: string | Date | null;
  readonly eventTime?: string | Date | null;
}

export function shownPod({ metadata = {}, spec, status = {} }: Pod): PagePod {
  const { containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    node: spec?.nodeName ?? '',
    phase: status.phase ?? 'Pending',
    deleting: metadata.deletionTimestamp !== undefined,
    containers: [
      ...(spec?.containers ?? []).map((each) => shownContainer('container', each, containerStatuses)),
      ...(spec?.ephemeralContainers ?? []).map((each) => shownContainer('debug', each, ephemeralContainerStatuses)),
    ],
  };
}

function shownContainer(
  kind: PageContainer['kind'],
  { name, image = '', env = [], targetContainerName }: Container,
  statuses: readonly Status[],
): PageContainer {
  const status = statuses.find((each) => each.name === name);
  const run = env.find((each) => each.name === 'KDEBUG_RUN')?.value;
  return {
    name,
    image,
    kind,
    ...stateOf(status),
    restarts: status?.restartCount ?? 0,
    ...(run === undefined ? {} : { run }),
    ...(targetContainerName === undefined ? {} : { target: targetContainerName }),
  };
}

function stateOf(status: Status | undefined): Pick<PageContainer, 'state' | 'reason' | 'exitCode' | 'startedAtMs'> {
  const { terminated, running, waiting } = status?.state ?? {};
  if (terminated) {
    const { reason, exitCode } = terminated;
    return { state: 'terminated', exitCode, ...startOf(terminated), ...(reason === undefined ? {} : { reason }) };
  }
  if (running) return { state: 'running', ...startOf(running) };
  return { state: 'waiting', ...(waiting?.reason === undefined ? {} : { reason: waiting.reason }) };
}

const startOf = ({ startedAt }: Started): { startedAtMs?: number } =>
  startedAt ? { startedAtMs: new Date(startedAt).getTime() } : {};

export function shownEvent(event: Event): PageEvent {
  const { metadata, involvedObject } = event;
  const at = event.lastTimestamp ?? event.eventTime;
  return {
    uid: metadata.uid ?? '',
    atMs: at ? new Date(at).getTime() : 0,
    type: event.type ?? '',
    reason: event.reason ?? '',
    message: event.message ?? '',
    namespace: involvedObject.namespace ?? '',
    pod: involvedObject.name ?? '',
    count: event.count ?? 1,
  };
}

/** The newest 200, newest last. */
export const newestEvents = (events: readonly PageEvent[]): readonly PageEvent[] =>
  events.toSorted((a, b) => a.atMs - b.atMs).slice(-200);
