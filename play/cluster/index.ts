/** The local cluster: a TLS Kubernetes API with a simulated node, in this process (design, section 8). */

export { LocalCluster } from './local-cluster.ts';

export { openShop } from './shop.ts';
export { startLocalCluster } from './start.ts';
