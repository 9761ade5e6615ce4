import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { tellOnceMore } from './once-more.ts';

let cluster: LocalCluster;

tellOnceMore(
  async () => {
    cluster = await startLocalCluster();
    return { kubeconfig: cluster.kubeconfig, context: 'local', transport: 'http', longLogs: [] };
  },
  () => cluster.stop(),
  { hasControllers: false },
);
