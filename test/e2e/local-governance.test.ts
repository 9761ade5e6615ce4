import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { tellGovernance } from './governance.ts';

let cluster: LocalCluster;

tellGovernance(
  async () => {
    cluster = await startLocalCluster();
    return { kubeconfig: cluster.kubeconfig, context: 'local', transport: 'http', longLogs: [] };
  },
  () => cluster.stop(),
);
