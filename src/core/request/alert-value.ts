import { defined } from '../../lib/object.ts';
import { WORKLOAD_KINDS } from './command.ts';

/** The target that an alert names. Foreign text: check every word as if a person had typed it. */
export interface AlertTarget {
  readonly cluster?: string;
  readonly namespace?: string;
  /** A pod's name, or `KIND/NAME` of a workload. */
  readonly pod?: string;
}

const KINDS: ReadonlySet<string> = new Set(['pod', ...WORKLOAD_KINDS]);
/** A namespace and a name of Kubernetes have at most 253 characters. */
const MAX_VALUE = 1_000;

/**
 * Reads the value of the button on an alert: `NAMESPACE/POD`, `CLUSTER/NAMESPACE/POD`, or `CLUSTER/NAMESPACE/KIND/NAME`.
 * Any part may be empty, because a template of Alertmanager leaves out the label that the alerts of a group do not share.
 * Undefined: it has none of these shapes.
 */
export function alertTarget(value: string): AlertTarget | undefined {
  const parts = value.split('/').map((part) => part.trim());
  if (value.length > MAX_VALUE || parts.length < 2 || parts.length > 4) return undefined;
  const [cluster, namespace, kind, name] = parts.length === 2 ? ['', ...parts] : parts;
  if (parts.length < 4) return filled({ cluster, namespace, pod: kind });
  if (kind !== undefined && kind !== '' && !KINDS.has(kind)) return undefined;
  return filled({ cluster, namespace, pod: kind && name && `${kind}/${name}` });
}

const filled = ({ cluster, namespace, pod }: Record<keyof AlertTarget, string | undefined>): AlertTarget =>
  defined({ cluster: cluster || undefined, namespace: namespace || undefined, pod: pod || undefined });
