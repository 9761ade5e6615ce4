import type { ContainerStatus, ContainerTermination, Pod } from '../core/container/pod.ts';
import { KdebugError, toKdebugError } from '../core/errors.ts';
import { withoutFrames } from '../core/files/frame-parser.ts';
import { redactTermination, redactText } from '../core/report/log/redact-text.ts';
import { defined } from '../lib/object.ts';
import type { FlowDeps } from './deps.ts';
import type { Cluster, Clusters, PodSeen } from './ports/cluster.ts';

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
  const pods = new FilteredPods(redact);
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
    access: async (request) => {
      const answer = await filteredErrors(cluster.access(request));
      return answer.kind === 'denied' ? { ...answer, reason: text(answer.reason) } : answer;
    },
    watch: (pod, onSeen) =>
      cluster.watch(pod, (seen: PodSeen) => onSeen(seen.kind === 'pod' ? { ...seen, pod: pods.of(seen.pod) } : seen)),
    collectLog: (request, sink) => filteredErrors(cluster.collectLog(request, sink)),
    events: async (pod, containerName) =>
      (await filteredErrors(cluster.events(pod, containerName))).map((event) => ({
        ...event,
        reason: text(event.reason),
        message: text(event.message),
      })),
    node: (name) => filteredErrors(cluster.node(name)),
    check: () => filteredErrors(cluster.check()),
  };
}

function filteredError(thrown: unknown, text: (words: string) => string): KdebugError {
  const error = toKdebugError(thrown);
  const detail = text(error.detail);
  if (detail === error.detail) return error;
  // Its cause may hold the same words.
  return new KdebugError(error.code, { detail, facts: error.facts });
}

/** Pods with their containers' words filtered; a pod without words stays the same object. */
class FilteredPods {
  readonly #redact: Redact;
  #patterns: readonly string[] | undefined;
  #known = new WeakMap<ContainerStatus, ContainerStatus>();

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  of(pod: Pod): Pod {
    const { status } = pod;
    const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses, message, unmetConditions } = status;
    const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
    if (!all.some(speaks) && message === undefined && unmetConditions === undefined) return pod;
    const filtered = (statuses: readonly ContainerStatus[]) => statuses.map((each) => this.#status(each));
    const redact = this.#redact();
    return {
      ...pod,
      status: {
        ...status,
        ...defined({
          message: message && redactText(message, redact),
          unmetConditions: unmetConditions?.map((each) => ({
            ...each,
            reason: redactText(each.reason, redact),
            message: redactText(each.message, redact),
          })),
        }),
        containerStatuses: filtered(containerStatuses),
        initContainerStatuses: filtered(initContainerStatuses),
        ephemeralContainerStatuses: filtered(ephemeralContainerStatuses),
      },
    };
  }

  /** Filters a status once per pattern list: a watch repeats the same status again and again. */
  #status(status: ContainerStatus): ContainerStatus {
    const redact = this.#redact();
    if (redact !== this.#patterns) this.#known = new WeakMap();
    this.#patterns = redact;
    const filtered = this.#known.get(status) ?? filteredStatus(status, redact);
    this.#known.set(status, filtered);
    return filtered;
  }
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
