import { at, type JsonObject, listAt } from '../../play/test/cluster/recorded/json.ts';

/** A state of a namespace to wait for. All fields that are given must hold at once. */
export interface Until {
  /** Matches `REASON: MESSAGE` of a warning. */
  readonly event?: string;
  /** Matches the reason why some container waits. */
  readonly waiting?: string;
  /** Some container was restarted at least so often. */
  readonly restarts?: number;
  /** In exactly so many pods a container runs that is no init container. */
  readonly running?: number;
  /** There are pods, and each is ready. */
  readonly ready?: boolean;
  /** Exactly so many pods, without those that are being deleted. */
  readonly pods?: number;
  /** `status.availableReplicas` of a Deployment. */
  readonly available?: number;
  /** Some pod is being deleted. */
  readonly deleting?: boolean;
  /** Of some pod. */
  readonly phase?: string;
  /** `TYPE` or `TYPE=STATUS`: a condition of a Deployment or a Job. */
  readonly condition?: string;
  /** Matches the log of some container. */
  readonly log?: string;
  /** All of it has held for so long. */
  readonly forSeconds?: number;
}

/** What the API shows of a namespace: its objects, and the logs of its containers where somebody asked for them. */
export interface Seen {
  readonly objects: readonly JsonObject[];
  readonly logs: readonly string[];
}

/** The first part of the state that does not hold, without its time. Undefined: all of it holds. */
export function missingOf(until: Until, { objects, logs }: Seen): string | undefined {
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
  const pods = ofKind('Pod');
  const present = pods.filter((pod) => at(pod, 'metadata', 'deletionTimestamp') === undefined);
  const statuses = pods.flatMap((pod) =>
    ['containerStatuses', 'initContainerStatuses'].flatMap((kind) => listAt(pod, 'status', kind)),
  );
  const [type = '', status] = (until.condition ?? '').split('=');
  const holds: Readonly<Record<Exclude<keyof Until, 'forSeconds'>, () => boolean>> = {
    pods: () => present.length === until.pods,
    ready: () => present.length > 0 && present.every((pod) => hasCondition(pod, 'Ready')) === until.ready,
    deleting: () => present.length < pods.length === until.deleting,
    phase: () => pods.some((pod) => at(pod, 'status', 'phase') === until.phase),
    running: () => pods.filter(runs).length === until.running,
    restarts: () => statuses.some((one) => Number(at(one, 'restartCount')) >= Number(until.restarts)),
    waiting: () => statuses.some((one) => matches(until.waiting, at(one, 'state', 'waiting', 'reason'))),
    event: () =>
      ofKind('Event').some((one) => one.type === 'Warning' && matches(until.event, `${one.reason}: ${one.message}`)),
    condition: () => [...ofKind('Deployment'), ...ofKind('Job')].some((owner) => hasCondition(owner, type, status)),
    available: () =>
      ofKind('Deployment').some((owner) => Number(at(owner, 'status', 'availableReplicas')) >= Number(until.available)),
    log: () => logs.some((text) => matches(until.log, text)),
  };
  for (const [what, isSo] of Object.entries(holds)) if (at(until, what) !== undefined && !isSo()) return what;
  return undefined;
}

const matches = (pattern: string | undefined, text: unknown): boolean =>
  pattern !== undefined && typeof text === 'string' && new RegExp(pattern).test(text);

const runs = (pod: JsonObject): boolean =>
  listAt(pod, 'status', 'containerStatuses').some((status) => at(status, 'state', 'running') !== undefined);

const hasCondition = (object: JsonObject, type: string, status = 'True'): boolean =>
  listAt(object, 'status', 'conditions').some((one) => at(one, 'type') === type && at(one, 'status') === status);
