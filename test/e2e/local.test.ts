import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { inFullOr } from '../support/sample.ts';
import { tellStories } from './stories.ts';

let cluster: LocalCluster;

// Slower than the writer, as a real API server is, so that the reading lags and the log is rotated under it.
tellStories(
  async () => {
    cluster = await startLocalCluster({ logBytesPerSecond: 6_000_000 });
    return {
      kubeconfig: cluster.kubeconfig,
      context: 'local',
      transport: 'http',
      longLogs: [inFullOr(400_000, 40_000), inFullOr(1_000_000, 100_000)],
      linesPerSecond: 60_000,
    };
  },
  () => cluster.stop(),
);
