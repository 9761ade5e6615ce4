import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { tellStops } from './stop.ts';

let cluster: LocalCluster;

tellStops(
  async () => {
    cluster = await startLocalCluster();
    return { kubeconfig: cluster.kubeconfig, context: 'local', transport: 'http', longLogs: [] };
  },
  () => cluster.stop(),
);
