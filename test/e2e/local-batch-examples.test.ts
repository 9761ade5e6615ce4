import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { tellBatchDesk } from './batch-desk.ts';

let cluster: LocalCluster;

tellBatchDesk(
  async () => {
    cluster = await startLocalCluster();
    return { kubeconfig: cluster.kubeconfig, context: 'local', transport: 'http', longLogs: [] };
  },
  () => cluster.stop(),
  'examples',
);
