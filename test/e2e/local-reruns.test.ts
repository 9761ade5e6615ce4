import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { tellReruns } from './reruns.ts';

let cluster: LocalCluster;

tellReruns(
  async () => {
    cluster = await startLocalCluster();
    return { kubeconfig: cluster.kubeconfig, context: 'local', transport: 'http', longLogs: [] };
  },
  () => cluster.stop(),
);
