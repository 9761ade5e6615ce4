import { fileURLToPath } from 'node:url';
import type { LocalCluster } from './local-cluster.ts';
import type { PodToAdd } from './pod-spec.ts';

/** Recorded on a real 1.34 cluster: a Job that failed, a pod that no node takes, a Deployment that a quota keeps from making pods. */
const RECORDED = fileURLToPath(new URL('./troubles/backoffice', import.meta.url));

const NAMESPACE = 'backoffice';
const resources = { limits: { cpu: '100m', memory: '64Mi' }, requests: { cpu: '100m', memory: '64Mi' } };

const podOf = (app: string, hash: string, suffix: string): Omit<PodToAdd, 'containers'> => ({
  name: `${app}-${hash}-${suffix}`,
  namespace: NAMESPACE,
  labels: { app, 'pod-template-hash': hash },
  ownerReferences: [{ kind: 'ReplicaSet', name: `${app}-${hash}`, controller: true }],
});

/** What a recording cannot show: a container that starts again and again, and one that goes on to write errors. */
export const BACKOFFICE_PODS: readonly PodToAdd[] = [
  {
    ...podOf('mailer', '65685fbd7', 'q28br'),
    containers: [
      {
        name: 'mailer',
        image: 'registry.example.com/backoffice/busybox:7',
        command: [
          'sh',
          '-c',
          `echo "mailer 4.0.2 starting"; echo "config: /etc/mailer/config.yaml"; sleep 1
echo "panic: open /etc/mailer/config.yaml: no such file or directory"
echo ""
echo "goroutine 1 [running]:"
echo "main.mustLoad(0xc0000a2000, 0x18)"
echo "	/src/cmd/mailer/main.go:41 +0x1a5"
exit 2`,
        ],
        resources,
      },
    ],
  },
  {
    ...podOf('stock-sync', '75b4d66989', 'ql2ng'),
    containers: [{ name: 'sync', image: 'registry.example.com/backoffice/stock-sync:12', workload: 'web', resources }],
  },
];

/** The namespace `backoffice`: five workloads in trouble, most of them without a container that one could look into. */
export function openBackoffice(cluster: LocalCluster): void {
  cluster.loadRecorded(RECORDED);
  for (const pod of BACKOFFICE_PODS) cluster.addPod(pod);
}
