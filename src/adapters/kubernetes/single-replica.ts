import { KdebugError, toKdebugError } from '../../core/errors.ts';
import type { Log } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';
import { ApiClient } from './api/api-client.ts';
import { Connection } from './api/connection.ts';
import type { KubeconfigSource } from './api/credentials.ts';
import { asObject, asObjects, asText, type JsonObject } from './api/json-fields.ts';
import { podsPath } from './api/paths.ts';

export interface SingleReplicaOptions {
  readonly source: KubeconfigSource;
  /** The pod of this process, and its namespace. */
  readonly podName: string;
  readonly namespace: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Two that start together see each other only once the kubelet has told that both run. */
const AGAIN_MS = 30_000;
const TIMEOUT_MS = 3_000;
const NAME_LABEL = 'app.kubernetes.io/name';

/**
 * For a replica whose runs are in its memory: there may be no other one. Looks at the pods beside its own; of two that run, the one whose
 * container started first stays. Needs `list pods` in its own namespace. Where it cannot look it says so in the log and does not hinder:
 * then only the alert and the doctor find a second replica.
 */
export class SingleReplica {
  readonly #options: SingleReplicaOptions;
  readonly #connection: Connection;
  #other: string | undefined;
  #canList = true;

  constructor(options: SingleReplicaOptions) {
    this.#options = options;
    this.#connection = new Connection(options.source, options.clock);
  }

  /** @throws KdebugError store_not_shared: another one has been running for longer */
  async findOther(): Promise<void> {
    const { log, clock, version, namespace } = this.#options;
    let pods: readonly JsonObject[];
    try {
      const client = new ApiClient(this.#connection, version, clock);
      const body = await client.json({ path: podsPath(namespace), query: { limit: '500' }, timeoutMs: TIMEOUT_MS });
      pods = asObjects(asObject(body).items);
    } catch (thrown) {
      this.#canList = false;
      const { code, detail } = toKdebugError(thrown);
      log.warn('cannot see whether another replica runs, and the runs are in memory', {
        reason: code,
        detail,
        hint: 'Apply the Role kdebug-peers of manifests/base/rbac.yaml, and run one replica.',
      });
      return;
    }
    this.#other = olderThan(this.#options.podName, pods);
    this.check();
  }

  /** Reports the result of the last search. @throws KdebugError store_not_shared */
  check(): void {
    if (this.#other !== undefined) throw new KdebugError('store_not_shared', { detail: this.#other });
  }

  /** Searches once more, later, unless the first search failed. */
  findOtherLater(onOther: () => void): void {
    const { clock, log } = this.#options;
    if (!this.#canList) return;
    clock.after(AGAIN_MS, () => {
      this.findOther().catch((thrown: unknown) => {
        const { code, detail } = toKdebugError(thrown);
        log.error('another replica runs, and the runs are in memory: this one takes nothing more', {
          reason: code,
          detail,
        });
        onOther();
      });
    });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

/** The name of a pod of the same app that runs and started before ours. Our own start may not be known yet: then any that runs. */
function olderThan(podName: string, pods: readonly JsonObject[]): string | undefined {
  const own = pods.find((pod) => nameOf(pod) === podName);
  if (own === undefined) return undefined;
  const ownAtMs = startedAtMs(own) ?? Number.POSITIVE_INFINITY;
  const older = pods.find((pod) => {
    const atMs = startedAtMs(pod);
    if (atMs === undefined || nameOf(pod) === podName || appOf(pod) !== appOf(own)) return false;
    return atMs < ownAtMs || (atMs === ownAtMs && nameOf(pod) < podName);
  });
  return older && nameOf(older);
}

const nameOf = ({ metadata }: JsonObject): string => asText(asObject(metadata).name);
const appOf = ({ metadata }: JsonObject): string => asText(asObject(asObject(metadata).labels)[NAME_LABEL]);

/** Undefined: nothing runs there, or it is told to end; a node that is gone ends nothing. */
function startedAtMs({ metadata, status }: JsonObject): number | undefined {
  if (asObject(metadata).deletionTimestamp !== undefined) return undefined;
  const [container] = asObjects(asObject(status).containerStatuses);
  const startedAt = Date.parse(asText(asObject(asObject(container?.state).running).startedAt));
  return Number.isFinite(startedAt) ? startedAt : undefined;
}
