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
import { redactTermination, redactText, redactWords } from '../../core/redact/redact-text.ts';
import { defined } from '../../lib/object.ts';
import type { Cluster, Clusters, PodSeen } from '../ports/cluster.ts';
import type { FlowDeps } from './deps.ts';

/**
 * The clusters for the flow: every text of a container, an event, an admission plugin or an error passes the one
 * filter, with the policy's patterns, before anything is stored, compared or posted. Logs have their own
 * (`LogReaders`).
 */
export function filteredClusters(clusters: Clusters, { policies }: Pick<FlowDeps, 'policies'>): Clusters {
  const known = new WeakMap<Cluster, Cluster>();
  const redact = (): readonly string[] => policies.current().output.redact;
  return {
    get: (name) => {
      const cluster = clusters.get(name);
      const filtered = known.get(cluster) ?? filteredCluster(cluster, redact);
      known.set(cluster, filtered);
      return filtered;
    },
  };
}

type Redact = () => readonly string[];

function filteredCluster(cluster: Cluster, redact: Redact): Cluster {
  const text = (words: string): string => redactText(words, redact());
  // Redaction also cleans, which would hide an invisible character of a word without a secret.
  const words = (given: readonly string[]): readonly string[] => {
    const safe = redactWords(given, redact());
    return safe.some((word) => word.includes('[redacted:')) ? safe : given;
  };
  const once = new Once(redact);
  const pods = new FilteredPods(once);
  const filteredErrors = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    try {
      return await answer;
    } catch (thrown) {
      throw filteredError(thrown, text);
    }
  };
  return {
    name: cluster.name,
    pod: async (namespace, name) => pods.of(await filteredErrors(cluster.pod(namespace, name))),
    pods: async (namespace, selector) =>
      (await filteredErrors(cluster.pods(namespace, selector))).map((pod) => pods.of(pod)),
    podSecurity: (namespace) => filteredErrors(cluster.podSecurity(namespace)),
    launch: async (request) => {
      const answer = await filteredErrors(cluster.launch(request));
      if (answer.kind === 'launched') return { ...answer, pod: pods.of(answer.pod) };
      return answer.kind === 'refused' ? { ...answer, message: text(answer.message) } : answer;
    },
    original: async (pod, containerName) => {
      const original = await filteredErrors(cluster.original(pod, containerName));
      return original && { ...original, command: words(original.command), args: words(original.args) };
    },
    revisions: async (pod, containerName) =>
      filteredRevisions(await filteredErrors(cluster.revisions(pod, containerName)), text),
    access: async (request) => {
      const answer = await filteredErrors(cluster.access(request));
      return answer.kind === 'denied' ? { ...answer, reason: text(answer.reason) } : answer;
    },
    watch: (pod, onSeen) =>
      cluster.watch(pod, (seen: PodSeen) => onSeen(seen.kind === 'pod' ? { ...seen, pod: pods.of(seen.pod) } : seen)),
    collectLog: (request, sink) => filteredErrors(cluster.collectLog(request, sink)),
    events: async (pod, containerName) =>
      withFilteredWords(await filteredErrors(cluster.events(pod, containerName)), redact()),
    warnings: async (namespace) => once.of(await filteredErrors(cluster.warnings(namespace)), withFilteredWords),
    // Claims, classes and services hold names that the API server checks, and that are compared; no free text.
    claims: (namespace) => filteredErrors(cluster.claims(namespace)),
    storageClasses: () => filteredErrors(cluster.storageClasses()),
    services: (namespace) => filteredErrors(cluster.services(namespace)),
    workload: async (namespace, named) => {
      const answer = await filteredErrors(cluster.workload(namespace, named));
      if (answer === undefined || answer === 'not-found') return answer;
      return filteredWorkload(answer, redact());
    },
    // Its lines are cleaned and redacted by who reads them, as those of a run's own log.
    readTargetLog: (request, onLine) => filteredErrors(cluster.readTargetLog(request, onLine)),
    node: (name) => filteredErrors(cluster.node(name)),
    check: () => filteredErrors(cluster.check()),
  };
}

/** Of an image that holds a secret nothing is left that could be launched. */
const filteredRevisions = (revisions: Revisions, text: (words: string) => string): Revisions =>
  revisions.kind === 'revisions'
    ? { ...revisions, all: revisions.all.map(({ number, image }) => ({ number, image: image && text(image) })) }
    : revisions;

/** The names that others give themselves and their work are free text, too. */
function filteredWorkload(workload: WorkloadFact, redact: readonly string[]): WorkloadFact {
  const { conditions, lastChange, marks = {} } = workload;
  return {
    ...workload,
    conditions: withFilteredWords(conditions, redact),
    marks: Object.fromEntries(Object.entries(marks).map(([mark, words]) => [mark, redactText(words, redact)])),
    ...defined({ lastChange: lastChange && { ...lastChange, manager: redactText(lastChange.manager, redact) } }),
  };
}

/** Events or conditions with their words filtered. */
const withFilteredWords = <Worded extends { readonly reason: string; readonly message: string }>(
  all: readonly Worded[],
  redact: readonly string[],
): readonly Worded[] =>
  all.map((each) => ({
    ...each,
    reason: redactText(each.reason, redact),
    message: redactText(each.message, redact),
  }));

function filteredError(thrown: unknown, text: (words: string) => string): KdebugError {
  const error = toKdebugError(thrown);
  const detail = text(error.detail);
  if (detail === error.detail) return error;
  // Its cause may hold the same words.
  return new KdebugError(error.code, { detail, facts: error.facts });
}

/** Images by name: thousands of pods have a few. When there are more, they are forgotten. */
const MAX_IMAGES = 1_000;

/**
 * Pods with their containers' words filtered, their images' names, and the words of their probes; a pod without words stays the same
 * object.
 */
class FilteredPods {
  readonly #once: Once;
  readonly #images = new Map<string, string>();
  #redact: readonly string[] = [];

  constructor(once: Once) {
    this.#once = once;
  }

  of(pod: Pod): Pod {
    return this.#once.of(pod, (each, redact) => this.#filtered(this.#imaged(each, redact), redact));
  }

  /** A name that is none may be an address with a password: `https://ci:…@registry/app`. */
  #imaged(pod: Pod, redact: readonly string[]): Pod {
    if (redact !== this.#redact || this.#images.size > MAX_IMAGES) this.#images.clear();
    this.#redact = redact;
    const { spec, status } = pod;
    const isClean = ({ image }: { readonly image: string }): boolean => this.#image(image) === image;
    const lists = [spec.containers, spec.initContainers, status.containerStatuses, status.initContainerStatuses];
    if (lists.every((list) => list.every(isClean))) return pod;
    const named = <Named extends { readonly image: string }>(list: readonly Named[]): readonly Named[] =>
      list.map((each) => ({ ...each, image: this.#image(each.image) }));
    return {
      ...pod,
      spec: { ...spec, containers: named(spec.containers), initContainers: named(spec.initContainers) },
      status: {
        ...status,
        containerStatuses: named(status.containerStatuses),
        initContainerStatuses: named(status.initContainerStatuses),
      },
    };
  }

  #image(name: string): string {
    const filtered = this.#images.get(name) ?? redactText(name, this.#redact);
    this.#images.set(name, filtered);
    return filtered;
  }

  #filtered(pod: Pod, redact: readonly string[]): Pod {
    const { status } = pod;
    const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses, message, unmetConditions } = status;
    const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
    const { containers, initContainers } = pod.spec;
    const hasWords = all.some(speaks) || [...containers, ...initContainers].some(hasProbe);
    if (!hasWords && message === undefined && unmetConditions === undefined) return pod;
    const filtered = (statuses: readonly ContainerStatus[]) =>
      statuses.map((each) => this.#once.of(each, filteredStatus));
    const probed = (some: readonly PodContainer[]) =>
      some.map((each) => (hasProbe(each) ? this.#once.of(each, filteredProbes) : each));
    return {
      ...pod,
      spec: { ...pod.spec, containers: probed(containers), initContainers: probed(initContainers) },
      status: {
        ...status,
        ...defined({
          message: message && redactText(message, redact),
          unmetConditions: unmetConditions && withFilteredWords(unmetConditions, redact),
        }),
        containerStatuses: filtered(containerStatuses),
        initContainerStatuses: filtered(initContainerStatuses),
        ephemeralContainerStatuses: filtered(ephemeralContainerStatuses),
      },
    };
  }
}

/** Filters an object once per pattern list: watches and shared lists give the same ones again and again. */
class Once {
  readonly #redact: Redact;
  #patterns: readonly string[] | undefined;
  #known = new WeakMap<object, object>();

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  of<Part extends object>(part: Part, filter: (part: Part, redact: readonly string[]) => Part): Part {
    const redact = this.#redact();
    if (redact !== this.#patterns) this.#known = new WeakMap();
    this.#patterns = redact;
    const filtered = (this.#known.get(part) as Part | undefined) ?? filter(part, redact);
    this.#known.set(part, filtered);
    return filtered;
  }
}

const hasProbe = ({ probes }: PodContainer): boolean => probes !== undefined;

/** A probe may carry a password: `redis-cli -a …`, `/healthz?token=…`. */
function filteredProbes(container: PodContainer, redact: readonly string[]): PodContainer {
  const probes = PROBE_KINDS.flatMap((kind) => {
    const probe = container.probes?.[kind];
    if (!probe) return [];
    const { command, path } = probe;
    const words = {
      command: command === undefined ? undefined : redactText(command, redact),
      path: path === undefined ? undefined : redactText(path, redact),
    };
    return [[kind, { ...probe, ...defined(words) }] as const];
  });
  return { ...container, probes: Object.fromEntries(probes) };
}

const speaks = ({ waiting, terminated, lastTermination }: ContainerStatus): boolean =>
  waiting !== undefined || terminated !== undefined || lastTermination !== undefined;

function filteredStatus(status: ContainerStatus, redact: readonly string[]): ContainerStatus {
  const { waiting, terminated, lastTermination } = status;
  const ended = (termination: ContainerTermination): ContainerTermination => ({
    ...termination,
    reason: redactText(termination.reason, redact),
    // The kubelet may take the end of the log for it, which may be that of a file for the requester alone.
    message: redactTermination(withoutFrames(termination.message), redact),
  });
  return {
    ...status,
    ...defined({
      waiting: waiting
        ? { reason: redactText(waiting.reason, redact), message: redactText(waiting.message, redact) }
        : undefined,
      terminated: terminated && ended(terminated),
      lastTermination: lastTermination && ended(lastTermination),
    }),
  };
}
