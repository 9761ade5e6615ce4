/** The local cluster: a TLS Kubernetes API with a simulated node, in this process (design, section 8). */
export type { AllowRule } from './api/authorizer.ts';
export type { Fault, FaultKind, FaultMatch } from './api/faults.ts';
export type { RequestFilter, RequestRecord } from './api/request-log.ts';
export type { Clock } from './clock.ts';
export { LocalCluster } from './local-cluster.ts';
export type { PodObject } from './objects/pod.ts';
export type { LocalClusterOptions } from './options.ts';
export type { ContainerToAdd, PodToAdd } from './pod-spec.ts';
export type { AdmissionRequest, Webhook } from './resources/webhooks.ts';
export { openShop } from './shop.ts';
export { startLocalCluster } from './start.ts';
