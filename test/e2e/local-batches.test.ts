import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { tellBatches } from './batches.ts';

let cluster: LocalCluster;

tellBatches(
  async () => {
    cluster = await startLocalCluster();
    return { kubeconfig: cluster.kubeconfig, context: 'local', transport: 'http', pods: 12, hasShell: false };
  },
  () => cluster.stop(),
);
