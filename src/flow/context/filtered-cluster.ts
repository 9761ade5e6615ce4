import {
  type ContainerStatus,
  type ContainerTermination,
  type Pod,
  type PodContainer,
  PROBE_KINDS,
} from '../../core/container/pod.ts';
import type { Revisions } from '../../core/container/revisions.ts';
import type { WorkloadFact } from '../../core/diagnosis/facts/facts.ts';
import { KdebugError, toKdebugError } from '../../core/errors.ts';
import { withoutFrames } from '../../core/files/frame-parser.ts';
import { safeTermination } from '../../core/redact/redact-text.ts';
import { defined } from '../../lib/object.ts';
import type { Cluster, Clusters, PodSeen } from '../ports/cluster.ts';
import type { FlowDeps } from './deps.ts';
import { ForeignTexts, type Safe } from './foreign-texts.ts';

/**
 * The clusters for the flow: every text of a container, an event, an admission plugin or an error passes the one
 * filter, with the policy's patterns, before anything is stored, compared or posted. Logs have their own
 * (`LogReaders`).
 */
export function filteredClusters(clusters: Clusters, deps: Pick<FlowDeps, 'policies' | 'turns'>): Clusters {
  const known = new WeakMap<Cluster, Cluster>();
  return {
    get: (name) => {
      const cluster = clusters.get(name);
      const filtered = known.get(cluster) ?? filteredCluster(cluster, deps);
      known.set(cluster, filtered);
      return filtered;
    },
  };
}

function filteredCluster(cluster: Cluster, { policies, turns }: Pick<FlowDeps, 'policies' | 'turns'>): Cluster {
  const texts = new ForeignTexts(() => policies.current().output.redact, turns.of(cluster.name));
  const filteredErrors = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    try {
      return await answer;
    } catch (thrown) {
      throw await filteredError(thrown, texts);
    }
  };
  return {
    name: cluster.name,
    pod: async (namespace, name) => texts.of(await filteredErrors(cluster.pod(namespace, name)), filteredPod),
    pods: async (namespace, selector) =>
      texts.all(await filteredErrors(cluster.pods(namespace, selector)), podWithoutWords),
    podSecurity: (namespace) => filteredErrors(cluster.podSecurity(namespace)),
    launch: async (request) => {
      const answer = await filteredErrors(cluster.launch(request));
      if (answer.kind === 'launched') return { ...answer, pod: await texts.of(answer.pod, filteredPod) };
      return answer.kind === 'refused' ? { ...answer, message: await texts.text(answer.message) } : answer;
    },
    original: async (pod, containerName) => {
      const original = await filteredErrors(cluster.original(pod, containerName));
      return original && { ...original, command: texts.words(original.command), args: texts.words(original.args) };
    },
    revisions: async (pod, containerName) =>
      texts.of(await filteredErrors(cluster.revisions(pod, containerName)), filteredRevisions),
    access: async (request) => {
      const answer = await filteredErrors(cluster.access(request));
      return answer.kind === 'denied' ? { ...answer, reason: await texts.text(answer.reason) } : answer;
    },
    watch: (pod, onSeen) => cluster.watch(pod, filteredSight(texts, onSeen)),
    collectLog: (request, sink) => filteredErrors(cluster.collectLog(request, sink)),
    events: async (pod, containerName) =>
      texts.all(await filteredErrors(cluster.events(pod, containerName)), withFilteredWords),
    warnings: async (namespace, about) => {
      const { events, areAll } = await filteredErrors(cluster.warnings(namespace, about));
      return { events: await texts.all(events, withFilteredWords), areAll };
    },
    // Claims, classes and services hold names that the API server checks, and that are compared; no free text.
    claims: (namespace) => filteredErrors(cluster.claims(namespace)),
    storageClasses: () => filteredErrors(cluster.storageClasses()),
    services: (namespace) => filteredErrors(cluster.services(namespace)),
    workload: async (namespace, named) => {
      const answer = await filteredErrors(cluster.workload(namespace, named));
      return answer === undefined || answer === 'not-found' ? answer : texts.of(answer, filteredWorkload);
    },
    // Its lines are cleaned and redacted by who reads them, as those of a run's own log.
    readTargetLog: (request, onLine) => filteredErrors(cluster.readTargetLog(request, onLine)),
    node: (name) => filteredErrors(cluster.node(name)),
    check: () => filteredErrors(cluster.check()),
  };
}

/** What is seen while an earlier state is being filtered takes the place of what waits. */
function filteredSight(texts: ForeignTexts, onSeen: (seen: PodSeen) => void): (seen: PodSeen) => void {
  let waiting: PodSeen | undefined;
  let isBusy = false;
  const show = async (): Promise<void> => {
    isBusy = true;
    for (let seen = waiting; seen !== undefined; seen = waiting) {
      waiting = undefined;
      onSeen(seen.kind === 'pod' ? { ...seen, pod: await texts.of(seen.pod, filteredPod) } : seen);
    }
    isBusy = false;
  };
  return (seen) => {
    waiting = seen;
    if (!isBusy) void show();
  };
}

/** Of an image that holds a secret nothing is left that could be launched. */
const filteredRevisions = (revisions: Revisions, safe: Safe): Revisions =>
  revisions.kind === 'revisions'
    ? { ...revisions, all: revisions.all.map(({ number, image }) => ({ number, image: image && safe(image) })) }
    : revisions;

/** The names that others give themselves and their work are free text, too. */
function filteredWorkload(workload: WorkloadFact, safe: Safe): WorkloadFact {
  const { conditions, lastChange, marks = {} } = workload;
  return {
    ...workload,
    conditions: conditions.map((each) => withFilteredWords(each, safe)),
    marks: Object.fromEntries(Object.entries(marks).map(([mark, words]) => [mark, safe(words)])),
    ...defined({ lastChange: lastChange && { ...lastChange, manager: safe(lastChange.manager) } }),
  };
}

/** An event or a condition with its words filtered. */
const withFilteredWords = <Worded extends { readonly reason: string; readonly message: string }>(
  worded: Worded,
  safe: Safe,
): Worded => ({ ...worded, reason: safe(worded.reason), message: safe(worded.message) });

async function filteredError(thrown: unknown, texts: ForeignTexts): Promise<KdebugError> {
  const error = toKdebugError(thrown);
  const detail = await texts.text(error.detail);
  if (detail === error.detail) return error;
  // Its cause may hold the same words.
  return new KdebugError(error.code, { detail, facts: error.facts });
}

type Probes = NonNullable<PodContainer['probes']>;

/** What is shown of the longer words of a pod. Images and reasons always are: thousands of pods have a few. */
interface Shown {
  readonly safe: Safe;
  readonly message: Safe;
  readonly termination: Safe;
  readonly probes: (probes: Probes) => Probes | undefined;
}

const filteredPod = (pod: Pod, safe: Safe): Pod =>
  shownPod(pod, {
    safe,
    message: safe,
    // The kubelet may take the end of the log for it, which may be that of a file for the requester alone.
    termination: (message) => safeTermination(withoutFrames(message), safe),
    probes: (given) => filteredProbes(given, safe),
  });

/** For lists: others write as much into the pods of a namespace as they like. */
const podWithoutWords = (pod: Pod, safe: Safe): Pod =>
  shownPod(pod, { safe, message: () => '', termination: () => '', probes: () => undefined });

/** A pod without words stays the same object. */
function shownPod(pod: Pod, shown: Shown): Pod {
  const { spec, status } = pod;
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses, message, unmetConditions } = status;
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  const containers = [...spec.containers, ...spec.initContainers];
  const hasWords = all.some(speaks) || containers.some(hasProbe) || (message ?? unmetConditions) !== undefined;
  if (!hasWords && [...all, ...containers].every(({ image }) => shown.safe(image) === image)) return pod;
  // A name that is none may be an address with a password: `https://ci:…@registry/app`.
  const declared = ({ probes, ...container }: PodContainer): PodContainer => ({
    ...container,
    image: shown.safe(container.image),
    ...defined({ probes: probes && shown.probes(probes) }),
  });
  const reported = (each: ContainerStatus): ContainerStatus => shownStatus(each, shown);
  return {
    ...pod,
    spec: { ...spec, containers: spec.containers.map(declared), initContainers: spec.initContainers.map(declared) },
    status: {
      ...status,
      ...defined({
        message: message && shown.message(message),
        unmetConditions: unmetConditions?.map((each) => ({
          ...each,
          reason: shown.safe(each.reason),
          message: shown.message(each.message),
        })),
      }),
      containerStatuses: containerStatuses.map(reported),
      initContainerStatuses: initContainerStatuses.map(reported),
      ephemeralContainerStatuses: ephemeralContainerStatuses.map(reported),
    },
  };
}

const hasProbe = ({ probes }: PodContainer): boolean => probes !== undefined;

/** A probe may carry a password: `redis-cli -a …`, `/healthz?token=…`. */
function filteredProbes(probes: Probes, safe: Safe): Probes {
  const filtered = PROBE_KINDS.flatMap((kind) => {
    const probe = probes[kind];
    if (!probe) return [];
    const { command, path } = probe;
    return [[kind, { ...probe, ...defined({ command: command && safe(command), path: path && safe(path) }) }] as const];
  });
  return Object.fromEntries(filtered);
}

const speaks = ({ waiting, terminated, lastTermination }: ContainerStatus): boolean =>
  waiting !== undefined || terminated !== undefined || lastTermination !== undefined;

function shownStatus(status: ContainerStatus, { safe, message, termination }: Shown): ContainerStatus {
  const { waiting, terminated, lastTermination } = status;
  const ended = (end: ContainerTermination): ContainerTermination => ({
    ...end,
    reason: safe(end.reason),
    message: termination(end.message),
  });
  return {
    ...status,
    image: safe(status.image),
    ...defined({
      waiting: waiting && { reason: safe(waiting.reason), message: message(waiting.message) },
      terminated: terminated && ended(terminated),
      lastTermination: lastTermination && ended(lastTermination),
    }),
  };
}
