/** The local cluster: a TLS Kubernetes API with a simulated node, in this process (design, section 8). */

export type { Exchange } from './api/request-log.ts';
export { BACKOFFICE_PODS, openBackoffice } from './backoffice.ts';
export { LocalCluster } from './local-cluster.ts';

export type { LocalClusterOptions } from './options.ts';
export { openShop, SHOP_PODS } from './shop.ts';
export { startLocalCluster } from './start.ts';
