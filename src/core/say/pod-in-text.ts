import { defined } from '../../lib/object.ts';
import { isExporterPod } from '../alert/exporter.ts';
import { isDnsSubdomain } from '../container/names.ts';
import { WORKLOAD_KINDS } from '../request/command.ts';
import { APPROVAL_NEEDED } from './parts/outcome-text.ts';

/** The pod that a message names. */
export interface PodHint {
  /** A pod's name; `KIND/NAME` where the message is about a workload and names no pod. */
  readonly pod?: string;
  readonly namespace?: string;
}

const NAME = '[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?';

/**
 * kdebug's own card of a run: its note names the run, and its summary, which comes last, names the pod and the person. A card that
 * waits for approval adds the reason, and lines with what people decide on.
 */
const WAITING_CARD = new RegExp(
  `· run [a-z0-9]{10}\\b[^]*\\n(?:\\S{1,40} )?${APPROVAL_NEEDED}: (?:[^\\n/:]{1,80}, )?\\S+(?: \\([a-z]{1,20}\\))? on (${NAME})/(${NAME})(?:: [^\\n]*)?(?:\\n[^]*)?$`,
);
const OWN_CARD = new RegExp(`· run [a-z0-9]{10}\\b[^]*: \\S+ on (${NAME})/(${NAME})(?:, for [^\\n/]{1,80})?$`);

const MAX_WORDS = 4_000;

/**
 * Finds the pod and its namespace in a message, for example an alert: by labels, then by words, then by the shape of a
 * pod's name; without a pod, the workload. Of several alerts it is the first one: the form shows the name before anything
 * runs. Reads 4,000 characters, and no addresses, whose queries hold other names.
 */
export function podInText(words: string): PodHint {
  const bounded = words.slice(0, MAX_WORDS);
  const own = WAITING_CARD.exec(bounded) ?? OWN_CARD.exec(bounded);
  if (own) return defined({ pod: own[2], namespace: own[1] });
  const text = bounded.replaceAll(/\bhttps?:\/\/\S+/g, ' ').replaceAll(/["'`*]/g, '');
  const alerts = alertsIn(text);
  const namespaceBeside = (name?: string) => namespaceOf(name, alerts) ?? IN_NAMESPACE.exec(text)?.[1];
  const pod = alerts.find((alert) => alert.pod !== undefined) ?? podInWords(text);
  if (pod) return defined({ pod: pod.pod, namespace: pod.namespace ?? namespaceBeside(pod.pod) });
  const workload = alerts.find((alert) => alert.workload !== undefined);
  if (workload) return defined({ pod: workload.workload, namespace: workload.namespace ?? namespaceBeside() });
  return workloadInWords(text) ?? defined({ namespace: namespaceBeside() });
}

interface Alert extends PodHint {
  readonly workload?: string;
}

/** An alert may name its pod twice, and the namespace beside only one of the two. */
const namespaceOf = (pod: string | undefined, alerts: readonly Alert[]): string | undefined =>
  (
    alerts.find((alert) => alert.pod === pod && alert.namespace !== undefined) ??
    alerts.find((alert) => alert.namespace)
  )?.namespace;

/** Datadog writes `stateful_set`. */
const KINDS = WORKLOAD_KINDS.map((kind) => kind.replace(/(?<=.)(?=(?:set|job)$)/, '_?'));
const ROLE = ['pod', 'namespace', 'ns', ...KINDS, 'kind', 'name'].join('|');
/** As Prometheus, Datadog (`kube_deployment`) and OpenTelemetry (`k8s.pod.name`) write a label, or a person a title. */
const KEY = `_?(exported_)?(kubernetes[._]|k8s[._]|kube_)?(${ROLE})([._ ]?name(?:space)?)?`;
const VALUE = '([a-z0-9][-\\w./]{0,300})';
const LABELS = [
  // `pod=x`, `pod = x`, `Pod: x`.
  new RegExp(`(?<![\\w./-])${KEY}[ \\t]{0,3}[=:]\\s{0,3}${VALUE}`, 'gi'),
  // A list of a title and a value.
  new RegExp(`^[●•] ${KEY} ${VALUE}$`, 'gim'),
  // A title above its value, as a field of Slack.
  new RegExp(`^${KEY}[ \\t]*\\n${VALUE}$`, 'gim'),
];

interface Label {
  readonly role: string;
  readonly isExported: boolean;
  readonly value: string;
  readonly index: number;
}

/** Labels belong to one alert until one of them comes again. */
function alertsIn(text: string): readonly Alert[] {
  const labels = LABELS.flatMap((pattern) => [...text.matchAll(pattern)].flatMap(labelOf)).sort(
    (a, b) => a.index - b.index,
  );
  const alerts: Map<string, string>[] = [];
  for (const { role, isExported, value } of labels) {
    const key = isExported ? `exported ${role}` : role;
    const last = alerts.at(-1);
    if (last === undefined || last.has(key)) alerts.push(new Map([[key, value]]));
    else last.set(key, value);
  }
  return alerts.map(alertOf);
}

function labelOf({ 1: exported, 2: prefix, 3: word = '', 4: suffix, 5: words = '', index }: RegExpMatchArray) {
  const role = word.toLowerCase().replace('_', '').replace(/^ns$/, 'namespace');
  // Prometheus' own `job` is what it scrapes.
  const isScrape = role === 'job' && suffix === undefined && prefix === undefined;
  const value = words.replace(/[./]+$/, '');
  if (isScrape || (role === 'name' && suffix !== undefined)) return [];
  return [{ role, isExported: exported !== undefined, value, index: index ?? 0 } satisfies Label];
}

/** The name of a Deployment's pod ends in the ReplicaSet's hash and five more characters, those of others mostly in a digit. */
const POD_SHAPE = /-(?:[a-z0-9]{6,10}-[a-z0-9]{5}|[a-z]{0,9}[0-9][a-z0-9]{0,9})$/;

function alertOf(labels: ReadonlyMap<string, string>): Alert {
  const label = (role: string): string | undefined => {
    const value = labels.get(`exported ${role}`) ?? labels.get(role);
    return value !== undefined && isDnsSubdomain(value) ? value : undefined;
  };
  const { pod, workload } = namedIn(labels.get('kind')?.toLowerCase(), label('name'));
  const kind = WORKLOAD_KINDS.find((each) => label(each) !== undefined);
  const isOfExporter = isExporterPod(labels.get('pod') ?? '') && !labels.has('exported pod');
  return defined({
    pod: isOfExporter ? undefined : (label('pod') ?? pod),
    namespace: isOfExporter && !labels.has('exported namespace') ? undefined : label('namespace'),
    workload: kind === undefined ? workload : `${kind}/${label(kind)}`,
  });
}

/** Of a message that says `Kind: Pod` and `Name: web-1`, or a name alone. */
function namedIn(kind: string | undefined, name: string | undefined): Alert {
  if (name === undefined) return {};
  if (kind === 'pod' || (kind === undefined && POD_SHAPE.test(name))) return { pod: name };
  return WORKLOAD_KINDS.some((each) => each === kind) ? { workload: `${kind}/${name}` } : {};
}

/** The word `pod` alone is too common, so what follows must look like a pod's name. */
const AFTER_WORD = new RegExp(`\\b[Pp]od\\s+(?:(${NAME})/)?(${NAME})(?![-\\w/]|\\.\\w)`, 'g');
const GENERATED = /\b[a-z0-9][-a-z0-9]{0,200}-[a-z0-9]{6,10}-[a-z0-9]{5}\b/g;
const IN_NAMESPACE = new RegExp(`\\bin namespace (${NAME})(?![-\\w/])`);

function podInWords(text: string): PodHint | undefined {
  for (const [, namespace, pod = ''] of text.matchAll(AFTER_WORD))
    if (POD_SHAPE.test(pod) && !pod.includes('.')) return defined({ pod, namespace });
  for (const [pod] of text.matchAll(GENERATED)) if (!isExporterPod(pod)) return { pod };
  return undefined;
}

/** `Deployment shop/web has not matched …`, `Job shop/nightly failed`, as the rules of kube-prometheus say it. */
const WORKLOAD = new RegExp(
  `\\b(Deployment|StatefulSet|DaemonSet|CronJob|Job)\\s(?:generation for )?(${NAME})/(${NAME})(?![-\\w/])`,
);

function workloadInWords(text: string): PodHint | undefined {
  const [, kind = '', namespace, name = ''] = WORKLOAD.exec(text) ?? [];
  return namespace === undefined ? undefined : { pod: `${kind.toLowerCase()}/${name}`, namespace };
}
