import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { tellDescriptions } from './descriptions.ts';

let cluster: LocalCluster;

tellDescriptions(
  async () => {
    cluster = await startLocalCluster();
    return {
      kubeconfig: cluster.kubeconfig,
      context: 'local',
      transport: 'http',
      longLogs: [],
    };
  },
  () => cluster.stop(),
);
