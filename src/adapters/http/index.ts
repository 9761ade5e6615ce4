export { type AlertServerOptions, startAlertServer } from './alerts/server.ts';
export { type Check, type OpsServer, startOpsServer } from './ops-server.ts';
