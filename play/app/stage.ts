import { KubeConfig } from '@kubernetes/client-node';
import { type LocalCluster, openBackoffice, openShop, startLocalCluster } from '../cluster/index.ts';
import type { Example } from '../page/contract.ts';
import { type Bed, startBed } from './bed.ts';
import { EXAMPLES } from './examples.ts';
import { ALERT_SOURCE, playPolicy } from './policy.ts';
import { playTeam } from './team.ts';

export interface StageOptions {
  /** The text of a kubeconfig; absent: the local cluster with its shop. */
  readonly kubeconfig?: string;
  readonly transport: 'http' | 'socket';
  readonly logTo?: (line: string) => void;
}

/** Everything that play needs, up and running. */
export interface Stage {
  readonly bed: Bed;
  /** The local cluster, or the text of the kubeconfig of a real one. */
  readonly cluster: LocalCluster | { readonly kubeconfig: string };
  /** What a newcomer may try here; nothing on a real cluster, whose pods we do not know. */
  readonly examples: readonly Example[];
  readonly banner: string;
  /** The pods that there are, a line each. */
  pods(): string;
  /** Once every pod that a node took has begun, so that nobody asks about pods that are just starting; after 15 s at the latest. */
  begun(): Promise<void>;
  close(): Promise<void>;
}

export async function openStage(options: StageOptions): Promise<Stage> {
  if (options.kubeconfig !== undefined) return realStage(options, options.kubeconfig);
  const cluster = await startLocalCluster();
  openShop(cluster);
  openBackoffice(cluster);
  const bed = await startBed({
    ...options,
    kubeconfig: cluster.kubeconfig,
    policy: playPolicy(contextOf(cluster.kubeconfig)),
    slack: { team: playTeam },
    alerts: ALERT_SOURCE,
  });
  return {
    bed,
    cluster,
    examples: EXAMPLES,
    banner: 'A local Slack and a local Kubernetes, both in this process; the kdebug between them is the real one.',
    pods: () => podLines(cluster),
    begun: () => podsBegun(cluster),
    async close() {
      await bed.stop();
      await cluster.stop();
    },
  };
}

async function realStage(options: StageOptions, kubeconfig: string): Promise<Stage> {
  const context = contextOf(kubeconfig);
  const bed = await startBed({ ...options, kubeconfig, policy: playPolicy(context), slack: { team: playTeam } });
  return {
    bed,
    cluster: { kubeconfig },
    examples: [],
    banner: `A local Slack in this process, and the cluster of the context ${context}.`,
    pods: () => 'kubectl get pods shows them.',
    begun: () => Promise.resolve(),
    close: () => bed.stop(),
  };
}

function contextOf(kubeconfig: string): string {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  return config.getCurrentContext();
}

const BEGIN_MS = 15_000;

function podsBegun(cluster: LocalCluster): Promise<void> {
  const haveBegun = (): boolean =>
    cluster
      .pods()
      .filter(({ spec }) => spec.nodeName !== undefined)
      .every(({ status }) => (status.containerStatuses ?? []).some(({ state }) => state.waiting === undefined));
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(end, BEGIN_MS);
    const stop = cluster.watchPods(() => {
      if (haveBegun()) end();
    });
    if (haveBegun()) end();
  });
}

const podLines = (cluster: LocalCluster): string =>
  cluster
    .pods()
    .map(({ metadata, status }) => `${metadata.namespace.padEnd(10)} ${metadata.name.padEnd(27)} ${status.phase}`)
    .join('\n');
