export { createMetrics } from './metrics.ts';
export { type Check, type OpsServer, startOpsServer } from './ops-server.ts';
