import type { WorkloadFact, WorkloadKind } from '../../../core/diagnosis/facts.ts';
import type { NamedWorkload } from '../../../flow/ports/cluster.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import { type ApiResponse, toClusterError } from '../api/api-errors.ts';
import { asFlag, asNumber, asObject, asObjects, asText, type JsonObject } from '../api/json-fields.ts';
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
  return viewWorkload(kind, asObject(answer.body));
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
  };
}

type Counts = Pick<WorkloadFact, 'wanted' | 'ready' | 'updated' | 'failed' | 'active' | 'suspended' | 'backoffLimit'>;

/** The API server leaves out counts of zero. */
const count = (value: unknown): number => asNumber(value) ?? 0;

const ofReplicas = (spec: JsonObject, status: JsonObject) => ({
  wanted: asNumber(spec.replicas) ?? 1,
  ready: count(status.readyReplicas),
});

const COUNTS: Readonly<Record<WorkloadKind, (spec: JsonObject, status: JsonObject) => Counts>> = {
  deployment: (spec, status) => ({
    ...ofReplicas(spec, status),
    updated: count(status.updatedReplicas),
    ...defined({ suspended: asFlag(spec.paused) }),
  }),
  replicaset: ofReplicas,
  statefulset: (spec, status) => ({ ...ofReplicas(spec, status), updated: count(status.updatedReplicas) }),
  daemonset: (_spec, status) => ({
    wanted: count(status.desiredNumberScheduled),
    ready: count(status.numberReady),
    updated: count(status.updatedNumberScheduled),
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
    ...defined({ suspended: asFlag(spec.suspend) }),
  }),
};
