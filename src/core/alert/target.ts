import { defined, own } from '../../lib/object.ts';
import { isDnsSubdomain } from '../container/names.ts';
import type { ReasonCode } from '../errors.ts';
import type { AlertSource } from '../policy/policy.ts';
import { WORKLOAD_KINDS } from '../request/command.ts';
import { isExporterPod } from './exporter.ts';
import type { Labels } from './notification.ts';

/** The target of an alert, by its labels alone. Nothing here was looked up. */
export interface AlertTarget {
  /** A name of the policy's `clusters`. Absent: the default one. */
  readonly cluster?: string;
  readonly namespace: string;
  /** A pod's name, or `KIND/NAME` of a workload. */
  readonly name: string;
}

export type Aimed =
  | { readonly kind: 'target'; readonly target: AlertTarget }
  /** Nothing may be looked at; `subject`: the word that is wrong, or what the labels name. */
  | { readonly kind: 'none'; readonly code: ReasonCode; readonly subject: string };

/** Finds what an alert is about. A label never chooses the cluster by itself: the policy maps its value. */
export function aimOfAlert(labels: Labels, source: Pick<AlertSource, 'clusters'>): Aimed {
  const cluster = clusterOf(labels, source);
  if (cluster.kind === 'unknown') return { kind: 'none', code: 'alert_cluster_unknown', subject: cluster.label };
  const namespace = labels.exported_namespace ?? labels.namespace;
  const name = nameOf(labels);
  if (name === undefined || namespace === undefined || !isDnsSubdomain(namespace))
    return { kind: 'none', code: 'alert_names_no_pod', subject: '' };
  if (isExporterPod(name)) return { kind: 'none', code: 'alert_of_exporter', subject: `${namespace}/${name}` };
  return { kind: 'target', target: { namespace, name, ...defined({ cluster: cluster.name }) } };
}

type Mapped = { readonly kind: 'known'; readonly name?: string } | { readonly kind: 'unknown'; readonly label: string };

function clusterOf({ cluster: label }: Labels, { clusters }: Pick<AlertSource, 'clusters'>): Mapped {
  if (clusters === undefined) return label === undefined ? { kind: 'known' } : { kind: 'unknown', label };
  const name = label === undefined ? undefined : own(clusters, label);
  return name === undefined ? { kind: 'unknown', label: label ?? 'no label cluster' } : { kind: 'known', name };
}

/**
 * The pod, or else the workload. `exported_pod` is the one that an exporter reports about, where Prometheus keeps the exporter's own name in
 * `pod` (`honor_labels: false`). An exporter's pod beside the name of a workload is only who told.
 */
function nameOf(labels: Labels): string | undefined {
  const pod = nameIn(labels, 'pod');
  const workload = WORKLOAD_KINDS.map((kind) => [kind, nameIn(labels, LABEL_OF[kind] ?? kind)] as const).find(
    ([, name]) => name !== undefined,
  );
  if (pod !== undefined && !(workload && isExporterPod(pod))) return pod;
  return workload?.join('/');
}

/** Prometheus' own `job` is what it scrapes. */
const LABEL_OF: Readonly<Partial<Record<(typeof WORKLOAD_KINDS)[number], string>>> = { job: 'job_name' };

/** A label's value; of one that names a place, only if the target is there. */
export function aimedLabel(label: string, labels: Labels, source: Pick<AlertSource, 'clusters'>): string | undefined {
  const plain = label.replace(/^exported_/, '');
  const kind = WORKLOAD_KINDS.find((one) => (LABEL_OF[one] ?? one) === plain);
  if (plain !== 'namespace' && plain !== 'pod' && !kind) return labels[label];
  const value = labels[`exported_${plain}`] ?? labels[plain];
  const aimed = aimOfAlert(labels, source);
  if (aimed.kind === 'none') return value;
  const { namespace, name } = aimed.target;
  if (plain === 'namespace') return namespace;
  return value !== undefined && isAbout(name, kind, value) ? value : undefined;
}

/** Without a kind, `value` is a pod's name. The workload of a pod is guessed by the pod's name. */
const isAbout = (name: string, kind: string | undefined, value: string): boolean =>
  name === (kind ? `${kind}/${value}` : value) ||
  (kind !== undefined && !name.includes('/') && ENDS.some((end) => name.replace(end, '') === value));

function nameIn(labels: Labels, label: string): string | undefined {
  const name = labels[`exported_${label}`] ?? labels[label];
  return name !== undefined && isDnsSubdomain(name) ? name : undefined;
}

/** The end of a Deployment's, a ReplicaSet's, a StatefulSet's and a DaemonSet's pod's name. */
const ENDS = [/-[a-z0-9]{6,10}-[a-z0-9]{5}$/, /-[a-z0-9]{5}$/, /-\d+$/];

/**
 * A key that the pods of one workload have in common, as far as names tell. It is for counting, so a wrong guess only makes
 * a limit wider or narrower.
 */
export function workloadKeyOf({ cluster = '', namespace, name }: AlertTarget): string {
  const end = name.includes('/') ? undefined : ENDS.find((one) => one.test(name));
  const workload = end === undefined ? name.slice(name.indexOf('/') + 1) : name.replace(end, '');
  return `${cluster}/${namespace}/${workload}`;
}
