import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { tellAlerts } from './alerts.ts';

let cluster: LocalCluster;

tellAlerts(
  async () => {
    cluster = await startLocalCluster();
    return { kubeconfig: cluster.kubeconfig, context: 'local', transport: 'socket', longLogs: [] };
  },
  () => cluster.stop(),
);
