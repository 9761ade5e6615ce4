export { startAlertServer } from './alerts/server.ts';
export { type OpsServer, startOpsServer } from './ops-server.ts';
