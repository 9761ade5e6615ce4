import { nearest } from '../../../lib/text.ts';
import { lastingContainers, type Pod, workloadOf } from '../../container/pod.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import type { ClusterFacts, ServiceFact } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { cleanWords, listed } from '../reading/phrases.ts';
import { isDeleting, isOver, isReady } from '../reading/pod-containers.ts';

type Pairs = readonly (readonly [string, string])[];

const selectorOf = ({ selector }: ServiceFact): Pairs => Object.entries(selector);
const selects = (service: ServiceFact, { metadata }: Pod): boolean =>
  selectorOf(service).length > 0 && selectorOf(service).every(([key, value]) => metadata.labels[key] === value);

const hasNoAddress = ({ addresses }: ServiceFact): boolean =>
  addresses !== undefined && addresses.ready === 0 && addresses.notReady === 0;

/** The one pair of the selector that keeps this pod out, where the Service is very likely meant for it. */
function differingPair(service: ServiceFact, pod: Pod): readonly [string, string] | undefined {
  const { labels, name } = pod.metadata;
  const pairs = selectorOf(service);
  const differing = pairs.filter(([key, value]) => labels[key] !== value);
  const [pair, ...others] = differing;
  if (!pair || others.length > 0) return undefined;
  const [, value] = pair;
  const owned = workloadOf(pod)?.name;
  const own = labels[pair[0]];
  const isMeant =
    service.name === owned ||
    service.name === name ||
    Object.values(labels).includes(service.name) ||
    (own !== undefined && value.length >= 4 && nearest(value, [own]) !== undefined);
  return isMeant ? pair : undefined;
}

function selectsNothing({ pod, services }: ClusterFacts): readonly Finding[] | undefined {
  if (isOver(pod) || isDeleting(pod)) return services && [];
  return services?.filter(hasNoAddress).flatMap((service): readonly Finding[] => {
    const pair = selects(service, pod) ? undefined : differingPair(service, pod);
    if (!pair) return [];
    const [key, value] = pair;
    const own = pod.metadata.labels[key];
    const name = cleanWords(service.name, 63);
    const has =
      own === undefined
        ? `this pod has no label ${cleanWords(key, 100)}`
        : `this pod has ${cleanWords(`${key}=${own}`, 130)}`;
    const text = `the Service ${name} selects no pod: it wants ${cleanWords(`${key}=${value}`, 130)}, ${has}`;
    return [
      {
        code: 'service_selects_nothing',
        text,
        next: `Correct the selector of the Service ${name}, or the label of the pods.`,
      },
    ];
  });
}

function wrongPort(facts: ClusterFacts): readonly Finding[] | undefined {
  const { pod, services } = facts;
  if (isOver(pod) || isDeleting(pod)) return services && [];
  return services
    ?.filter((service) => selects(service, pod) && !service.isHeadless)
    .flatMap((service) => wrongName(service, pod) ?? wrongNumber(service, pod) ?? []);
}

/** A port by name must have that name in the pod; else the Service sends nothing there. */
function wrongName({ name, ports }: ServiceFact, pod: Pod): Finding | undefined {
  // Kubernetes looks a name up in the containers that run as long as the pod.
  const known = lastingContainers(pod).flatMap(({ portNames = [] }) => portNames);
  const wanted = ports
    .map(({ targetPort }) => targetPort)
    .find((port) => typeof port === 'string' && !known.includes(port));
  if (wanted === undefined) return undefined;
  const [service, port] = [cleanWords(name, 63), cleanWords(`${wanted}`, 63)];
  const has =
    known.length === 0
      ? 'and no container of the pod names a port'
      : `and the pod’s ports are named ${cleanWords(listed(known.slice(0, 4)), 100)}`;
  const text = `the Service ${service} sends to the port named ${port}, ${has}`;
  return {
    code: 'service_wrong_port',
    text,
    next: `Correct targetPort of the Service ${service}, or name the container’s port ${port}.`,
  };
}

function wrongNumber({ name, ports }: ServiceFact, { spec }: Pod): Finding | undefined {
  const declared = spec.containers.flatMap((container) => container.ports ?? []);
  const isAll = spec.containers.every((container) => (container.ports ?? []).length > 0);
  const wrong = ports
    .map(({ targetPort }) => targetPort)
    .filter((port) => typeof port === 'number' && !declared.includes(port));
  const [port] = wrong;
  if (!isAll || port === undefined) return undefined;
  const service = cleanWords(name, 63);
  const text = `the Service ${service} sends to port ${port}, and the pod declares only ${listed(declared.slice(0, 4).map(String))}`;
  const next = `Correct targetPort of the Service ${service}, or declare the port if the program listens there.`;
  // Programs may listen on ports that nobody declares, so a Service that also reaches a declared one may be right.
  return { code: 'service_wrong_port', text, next, rank: wrong.length === ports.length ? 2 : 3 };
}

function noReadyAddress({ pod, services }: ClusterFacts): readonly Finding[] | undefined {
  if (isReady(pod) || isOver(pod)) return services && [];
  return services
    ?.filter((service) => selects(service, pod) && service.addresses?.ready === 0)
    .map(({ name }) => ({
      code: 'service_without_address',
      text: `the Service ${cleanWords(name, 63)} has no ready pod to send to`,
    }));
}

const ROW = { seenBy: 'cluster', section: 'services' } as const;

export const SERVICE_RULES: readonly ClusterRule[] = [
  {
    ...ROW,
    code: 'service_selects_nothing',
    rank: 2,
    reads: 'Services and their addresses, the pod’s labels',
    means: 'A Service that is very likely meant for the pod selects no pod at all: one label differs.',
    next: 'Correct the selector of the Service, or the label of the pods.',
    source: 'Kubernetes, "Service", selectors; likely: its name is the pod’s, or the label is misspelt',
    find: selectsNothing,
  },
  {
    ...ROW,
    code: 'service_wrong_port',
    rank: 2,
    reads: 'Services, the ports of the containers',
    means: 'A Service sends to a port that no container of the pod declares.',
    next: 'Correct targetPort of the Service, or declare the port if the program listens there.',
    source: 'Kubernetes, "Service", targetPort; only where each container declares ports',
    find: wrongPort,
  },
  {
    ...ROW,
    code: 'service_without_address',
    rank: 3,
    reads: 'Services and their addresses',
    means: 'A Service of the pod has no ready address, so its clients get no answer.',
    next: 'It has one again as soon as a pod is ready.',
    source: 'Kubernetes, "EndpointSlices", conditions.ready',
    find: noReadyAddress,
  },
];
