import { setTimeout as pause } from 'node:timers/promises';
import { AppsV1Api, KubeConfig, type V1PodSpec, type V1ReplicaSet } from '@kubernetes/client-node';
import type { Kube } from './kube.ts';

interface RollOut {
  readonly namespace: string;
  readonly name: string;
  /** One after the other. */
  readonly specs: readonly V1PodSpec[];
  readonly kubeconfig: string;
  readonly kube: Kube;
  /** Else nothing in the cluster makes ReplicaSets and pods of a Deployment, and this does. */
  readonly hasControllers: boolean;
}

const REVISION = 'deployment.kubernetes.io/revision';
const HASH = 'pod-template-hash';

/** Rolls out a Deployment of one pod; resolves with the name of the pod of its last revision. */
export async function rollOut(rolled: RollOut): Promise<string> {
  const { namespace, name, specs } = rolled;
  const config = new KubeConfig();
  config.loadFromString(rolled.kubeconfig);
  const apps = config.makeApiClient(AppsV1Api);
  const labels = { app: name };
  const deploymentOf = (spec: V1PodSpec) => ({
    metadata: { name },
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
    },
  });
  const [first, ...later] = specs.map(deploymentOf);
  const made = await apps.createNamespacedDeployment({ namespace, body: first! });
  if (!rolled.hasControllers) return revisionsByHand(apps, rolled, made.metadata?.uid ?? '');
  let set = await setOfRevision(apps, namespace, 1);
  for (const [index, body] of later.entries()) {
    await apps.replaceNamespacedDeployment({ namespace, name, body });
    set = await setOfRevision(apps, namespace, index + 2);
  }
  return rolled.kube.podWith(namespace, `${HASH}=${set.metadata?.labels?.[HASH]}`);
}

/** In a namespace with one Deployment. */
async function setOfRevision(apps: AppsV1Api, namespace: string, revision: number): Promise<V1ReplicaSet> {
  for (let left = 1_500; ; left -= 1) {
    const { items } = await apps.listNamespacedReplicaSet({ namespace });
    const found = items.find(({ metadata }) => metadata?.annotations?.[REVISION] === String(revision));
    if (found) return found;
    if (left === 0) throw new Error(`${namespace} has no revision ${revision}`);
    await pause(100);
  }
}

/** What the controllers of Deployments and ReplicaSets leave in a cluster. */
async function revisionsByHand(
  apps: AppsV1Api,
  { namespace, name, specs, kube }: RollOut,
  deploymentUid: string,
): Promise<string> {
  const owner = (kind: string, ownerName: string, uid: string) => ({
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name: ownerName, uid, controller: true }],
  });
  let pod = '';
  for (const [index, spec] of specs.entries()) {
    const set = `${name}-${index + 1}`;
    const labels = { app: name, [HASH]: String(index + 1) };
    const annotations = { [REVISION]: String(index + 1) };
    const made = await apps.createNamespacedReplicaSet({
      namespace,
      body: {
        metadata: { name: set, labels, annotations, ...owner('Deployment', name, deploymentUid) },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
      },
    });
    if (index + 1 < specs.length) continue;
    pod = `${set}-abcde`;
    const named = { name: pod, labels, ...owner('ReplicaSet', set, made.metadata?.uid ?? '') };
    await kube.pod(namespace, named, spec, () => true);
  }
  return pod;
}
