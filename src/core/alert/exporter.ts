/** Pods that report about others: where an alert's labels name one of them, it is who told, and not what is meant. */
const EXPORTER = /(?:^|-)(?:kube-state-metrics|exporter|cadvisor)(?:-|$)/;

export const isExporterPod = (name: string): boolean => EXPORTER.test(name);
