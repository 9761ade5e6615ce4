import { type LastChange, OWNER_MARKS, type WorkloadFact } from '../../../core/diagnosis/facts/facts.ts';
import { KdebugError } from '../../../core/errors.ts';
import type { WorkloadKind } from '../../../core/request/command.ts';
import type { NamedWorkload } from '../../../flow/ports/cluster.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import { type ApiResponse, toClusterError } from '../api/api-errors.ts';
import { asFlag, asNumber, asObject, asObjects, asText, asTexts, type JsonObject } from '../api/json-fields.ts';
import { workloadPath } from '../api/paths.ts';
import { viewCondition } from '../status-view.ts';
import { type FactClient, OptionalFacts } from './optional-facts.ts';

const MAX_WORKLOADS = 5_000;

/** Workloads of apps/v1 and batch/v1, each shared for 2 s. */
export class Workloads {
  readonly #known: OptionalFacts<WorkloadFact | 'not-found'>;

  constructor(client: FactClient, clock: Clock) {
    this.#known = new OptionalFacts(client, clock, { maxEntries: MAX_WORKLOADS });
  }

  /** @throws KdebugError invalid_name */
  async of(namespace: string, { kind, name }: NamedWorkload): Promise<WorkloadFact | 'not-found' | undefined> {
    return this.#known.get({ path: workloadPath(namespace, kind, name) }, (answer) => viewAnswer(kind, answer));
  }
}

function viewAnswer(kind: WorkloadKind, answer: ApiResponse): WorkloadFact | 'not-found' {
  if (answer.status === 404) return 'not-found';
  if (answer.status !== 200) throw toClusterError(answer);
  const workload = asObject(answer.body);
  // The page of a proxy would read as a workload without pods.
  if (asText(asObject(workload.metadata).uid) === '')
    throw new KdebugError('cluster_failed', { detail: `the answer is no ${kind}` });
  return viewWorkload(kind, workload);
}

function viewWorkload(kind: WorkloadKind, workload: JsonObject): WorkloadFact {
  const [metadata, status] = [asObject(workload.metadata), asObject(workload.status)];
  return {
    kind,
    name: asText(metadata.name),
    uid: asText(metadata.uid),
    ...COUNTS[kind](asObject(workload.spec), status),
    conditions: asObjects(status.conditions).map((condition) => ({
      ...viewCondition(condition),
      status: asText(condition.status),
    })),
    createdAtMs: Date.parse(asText(metadata.creationTimestamp)) || 0,
    marks: marksOf(metadata),
    ...defined({ lastChange: lastChangeOf(metadata) }),
  };
}

const MAX_MARK_LENGTH = 253;
const MAX_MANAGER_LENGTH = 128;

/** Annotations come before labels of the same name. */
function marksOf({ labels, annotations }: JsonObject): NonNullable<WorkloadFact['marks']> {
  const all = { ...asTexts(labels), ...asTexts(annotations) };
  return Object.fromEntries(
    OWNER_MARKS.flatMap((mark) => (all[mark] ? [[mark, all[mark].slice(0, MAX_MARK_LENGTH)]] : [])),
  );
}

/** A subresource is no change of what the workload should be: `scale` is of an autoscaler, `status` of its controller. */
function lastChangeOf({ managedFields }: JsonObject): LastChange | undefined {
  const changes = asObjects(managedFields).flatMap(({ manager, subresource, time, fieldsV1 }) => {
    const atMs = Date.parse(asText(time));
    const isOfSpec = asText(subresource) === '' && 'f:spec' in asObject(fieldsV1);
    return isOfSpec && atMs > 0 ? [{ atMs, manager: asText(manager).slice(0, MAX_MANAGER_LENGTH) }] : [];
  });
  return changes.toSorted((a, b) => b.atMs - a.atMs)[0];
}

type Counts = Omit<WorkloadFact, 'kind' | 'name' | 'uid' | 'conditions' | 'createdAtMs' | 'marks' | 'lastChange'>;

/** The API server leaves out counts of zero. */
const count = (value: unknown): number => asNumber(value) ?? 0;

const ofReplicas = (spec: JsonObject, status: JsonObject) => ({
  wanted: asNumber(spec.replicas) ?? 1,
  ready: count(status.readyReplicas),
});

/** Of a StatefulSet or DaemonSet. A partition of 0 holds nothing back. */
function heldBackBy({ updateStrategy }: JsonObject): string | undefined {
  const { type, rollingUpdate } = asObject(updateStrategy);
  const partition = asNumber(asObject(rollingUpdate).partition) ?? 0;
  if (type === 'OnDelete') return type;
  return partition > 0 ? `partition ${partition}` : undefined;
}

const COUNTS: Readonly<Record<WorkloadKind, (spec: JsonObject, status: JsonObject) => Counts>> = {
  deployment: (spec, status) => ({
    ...ofReplicas(spec, status),
    updated: count(status.updatedReplicas),
    ...defined({ suspended: asFlag(spec.paused) }),
  }),
  replicaset: ofReplicas,
  statefulset: (spec, status) => ({
    ...ofReplicas(spec, status),
    updated: count(status.updatedReplicas),
    ...defined({ heldBack: heldBackBy(spec) }),
  }),
  daemonset: (spec, status) => ({
    wanted: count(status.desiredNumberScheduled),
    ready: count(status.numberReady),
    updated: count(status.updatedNumberScheduled),
    ...defined({ heldBack: heldBackBy(spec) }),
  }),
  job: (spec, status) => ({
    ready: count(status.succeeded),
    failed: count(status.failed),
    active: count(status.active),
    ...defined({
      wanted: asNumber(spec.completions),
      suspended: asFlag(spec.suspend),
      backoffLimit: asNumber(spec.backoffLimit),
    }),
  }),
  cronjob: (spec, status) => ({
    ready: 0,
    active: asObjects(status.active).length,
    ...defined({
      suspended: asFlag(spec.suspend),
      schedule: asText(spec.schedule) || undefined,
      lastScheduledAtMs: Date.parse(asText(status.lastScheduleTime)) || undefined,
    }),
  }),
};
