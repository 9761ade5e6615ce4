import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { tellDiagnoses } from './diagnosis.ts';
import type { Kube } from './kube.ts';

let cluster: LocalCluster;

const resources = (memory: string) => ({ limits: { cpu: '500m', memory }, requests: { cpu: '50m', memory: '64Mi' } });
const local = (workload: 'web' | 'leak', memory: string) => (kube: Kube, namespace: string, name: string) => {
  const container = { name: 'app', image: 'registry.example.com/shop/web:2.7', workload, resources: resources(memory) };
  cluster.addPod({ name, namespace, containers: [container] });
  return kube.until(namespace, name, ({ status }) => status?.phase === 'Running');
};

tellDiagnoses(
  async () => {
    cluster = await startLocalCluster();
    return {
      kubeconfig: cluster.kubeconfig,
      context: 'local',
      transport: 'http',
      longLogs: [],
      healthy: local('web', '128Mi'),
      leaky: local('leak', '120Mi'),
    };
  },
  () => cluster.stop(),
);
