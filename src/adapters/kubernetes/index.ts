import { KdebugError } from '../../core/errors.ts';
import type { Policy, PolicyCluster } from '../../core/policy/policy.ts';
import type { Cluster, Clusters } from '../../flow/ports/cluster.ts';
import type { Log, Metrics } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { OnCall } from './api/api-client.ts';
import { KubernetesCluster } from './cluster.ts';

export { createClusterProbe } from './probe.ts';
export { SingleReplica } from './single-replica.ts';

export interface ClustersOptions {
  /** The clusters of the current policy. */
  readonly clusters: () => Policy['clusters'];
  /** Absent: `KUBECONFIG`, `~/.kube/config`, or the pod's own service account. */
  readonly kubeconfigPath?: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics?: Pick<Metrics, 'apiCall' | 'watchRestarted' | 'observe'>;
  /** For the user agent `kdebug/<version>`. */
  readonly version: string;
}

interface Entry {
  readonly policy: PolicyCluster;
  readonly cluster: KubernetesCluster;
}

/**
 * The policy's clusters, each connected on first use. When a cluster's entry in the policy changes, later callers get a
 * new connection; running runs use the old one until `close`.
 */
export function createClusters(options: ClustersOptions): Clusters & { close(): Promise<void> } {
  return new KubernetesClusters(options);
}

class KubernetesClusters implements Clusters {
  readonly #options: ClustersOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #replaced: KubernetesCluster[] = [];

  constructor(options: ClustersOptions) {
    this.#options = options;
    options.metrics?.observe('queue_length', () => ({ kubernetes: this.#queued() }));
  }

  /** @throws KdebugError cluster_unknown, cluster_config_invalid */
  get(name: string): Cluster {
    const clusters = this.#options.clusters();
    const policy = Object.hasOwn(clusters, name) ? clusters[name] : undefined;
    if (!policy) throw new KdebugError('cluster_unknown', { detail: name });
    const entry = this.#entries.get(name);
    if (entry && entry.policy.context === policy.context && entry.policy.inCluster === policy.inCluster)
      return entry.cluster;
    const { kubeconfigPath, version, log, clock, metrics } = this.#options;
    const onCall: OnCall | undefined = metrics && ((...call) => metrics.apiCall('kubernetes', ...call));
    const onWatchRestart = metrics && ((reason: string) => metrics.watchRestarted(reason));
    const source = { cluster: policy, ...defined({ kubeconfigPath }) };
    const cluster = new KubernetesCluster({
      name,
      source,
      version,
      log,
      clock,
      ...defined({ onCall, onWatchRestart }),
    });
    if (entry) this.#replaced.push(entry.cluster);
    this.#entries.set(name, { policy, cluster });
    return cluster;
  }

  async close(): Promise<void> {
    await Promise.all(this.#all().map((cluster) => cluster.close()));
  }

  #all(): readonly KubernetesCluster[] {
    return [...this.#replaced, ...[...this.#entries.values()].map(({ cluster }) => cluster)];
  }

  #queued(): number {
    return this.#all().reduce((sum, { queued }) => sum + queued, 0);
  }
}
