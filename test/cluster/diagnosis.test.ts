import { readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { tellDiagnoses } from '../e2e/diagnosis.ts';
import type { Kube } from '../e2e/kube.ts';

const path = process.env.KUBECONFIG;
if (path === undefined) throw new Error('KUBECONFIG names no cluster: set it to the kubeconfig of a test cluster');
const kubeconfig = readFileSync(path, 'utf8');
const config = new KubeConfig();
config.loadFromString(kubeconfig);

const podOf = (command: string, memory: string) => (kube: Kube, namespace: string, name: string) =>
  kube.pod(namespace, name, {
    terminationGracePeriodSeconds: 1,
    volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }],
    containers: [
      {
        name: 'app',
        image: 'localhost/busybox:1',
        imagePullPolicy: 'IfNotPresent',
        command: ['sh', '-c', command],
        resources: { limits: { cpu: '500m', memory }, requests: { cpu: '50m', memory: '16Mi' } },
        volumeMounts: [{ name: 'memory', mountPath: '/memory' }],
        readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1 },
      },
    ],
  });

// Files in memory count as its use, and cannot be given back. What is left must be enough for our container to start in.
tellDiagnoses(
  () =>
    Promise.resolve({
      kubeconfig,
      context: config.getCurrentContext(),
      transport: 'socket',
      longLogs: [],
      healthy: podOf('sleep 3600', '64Mi'),
      leaky: podOf('dd if=/dev/zero of=/memory/kept bs=1M count=475; sleep 3600', '512Mi'),
    }),
  () => Promise.resolve(),
);
