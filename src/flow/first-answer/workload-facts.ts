import { targetWords } from '../../core/command/print.ts';
import type { Pod } from '../../core/container/pod.ts';
import type { ClusterFacts, NotRead, ObjectEvent, WorkloadFacts } from '../../core/diagnosis/facts/facts.ts';
import { type GroupedPods, PodGrouper } from '../../core/diagnosis/workload/pod-groups.ts';
import { CALLS_OF_PAIR } from '../../core/lookup/first-sources.ts';
import {
  isAbout,
  MAX_WORKLOAD_CALLS,
  ofWorkload,
  type PodLogSource,
  podsToRead,
  sampleOf,
  versionedOf,
  watchedFacts,
  workloadLogs,
} from '../../core/lookup/workload-sources.ts';
import { targetContainerOf } from '../../core/request/target.ts';
import { defined, grouped } from '../../lib/object.ts';
import type { OwnTurns } from '../../lib/turns.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { LogReader, WorkloadInQuestion } from '../planning/question.ts';
import type { About, Cluster } from '../ports/cluster.ts';
import { FIRST_ANSWER_MS, inTime, NOTHING_READ, type Read, readSource, readWarnings } from './source.ts';
import { type LogAccess, logAccess, type ReadLogs, readTargetLogs } from './target-logs.ts';

/**
 * Reads the facts about a workload: at most twelve API calls, whatever its size, side by side and within a second. The
 * logs are those of one pod of each of its worst groups, then of as many others as the calls allow. @throws KdebugError
 * audit_unavailable
 */
export async function readWorkloadFacts(scope: WorkloadInQuestion, deps: FlowDeps): Promise<WorkloadFacts> {
  const { target, namespace, reader } = scope;
  const cluster = deps.clusters.get(reader.cluster);
  const access = logAccess(namespace, reader, deps);
  const { pods, unspoken } = await withWords(scope.pods, cluster, deps);
  const versionedPods = versionedOf(pods);
  const nowByWatch = deps.clock.now();
  const watched = await groupInTurns(
    sampleOf(pods).map((pod) => watchedFacts(pod, versionedPods, nowByWatch)),
    turnsOf(reader, deps),
  );
  const toRead = podsToRead(watched.groups);
  const { examples } = toRead;
  const nodeNames = [...new Set(examples.flatMap(({ spec: { nodeName } }) => nodeName ?? []))];
  const wantsClaims = pods.some(({ spec, status }) => status.phase === 'Pending' && spec.claims !== undefined);
  const workloadCalls = target.kind === 'workload' ? 1 : 0;
  const calls = 1 + workloadCalls + CALLS_OF_PAIR + (wantsClaims ? CALLS_OF_PAIR : 0) + nodeNames.length;
  const sources = workloadLogs(toRead, deps.clock.now(), MAX_WORKLOAD_CALLS - calls);
  const aboutWorkload = ofWorkload(target, pods);
  const names = new Set(pods.map(({ metadata }) => metadata.name));
  const aboutAny: About = (involved) =>
    (involved.kind === 'Pod' && names.has(involved.name)) || aboutWorkload(involved);
  const read = <Value>(what: NotRead['what'], reading: Promise<Value | undefined>) =>
    readSource(deps, { what }, { reading });
  const [warnings, workload, services, claims, storageClasses, nodes, logs] = await Promise.all([
    readWarnings(deps, cluster.warnings(namespace, aboutAny)),
    target.kind === 'workload'
      ? read('workload', cluster.workload(namespace, { kind: target.workload, name: target.name }))
      : NOTHING_READ,
    read('services', cluster.services(namespace)),
    wantsClaims ? read('claims', cluster.claims(namespace)) : NOTHING_READ,
    wantsClaims ? inTime(deps, cluster.storageClasses(), FIRST_ANSWER_MS) : undefined,
    nodesOf(nodeNames, cluster, read),
    logsOf(sources, access, deps),
  ]);
  const about = eventsByPod(warnings.value ?? []);
  const lists = defined({
    warnings: warnings.value,
    services: services.value,
    claims: claims.value,
    storageClasses,
  });
  const nowMs = deps.clock.now();
  const found = workload.value === 'not-found' ? undefined : workload.value;
  const logRight = await access.right;
  return {
    name: targetWords(target).join(' '),
    kind: target.kind === 'workload' ? target.workload : 'selector',
    workload: found,
    pods: pods.map((pod): ClusterFacts => {
      const { notRead = [], ...ofLogs } = logs.get(pod.metadata.uid) ?? {};
      const node = nodes.get(pod.spec.nodeName ?? '');
      return {
        ...watchedFacts(pod, versionedPods, nowMs),
        targetContainerName: targetNameOf(pod),
        events: warnings.value && (about.get(pod.metadata.name) ?? []).filter(({ involved }) => isAbout(pod, involved)),
        node: node?.value,
        ...lists,
        logRight,
        ...ofLogs,
        notRead: [
          ...warnings.notRead,
          ...(unspoken.has(pod.metadata.uid) ? [WORDS_LATE] : []),
          ...(node?.notRead ?? []),
          ...notRead,
        ],
      };
    }),
    warnings: warnings.value?.filter(({ involved }) => aboutWorkload(involved)),
    ...defined({ services: services.value, claims: claims.value }),
    nowMs,
    notRead: [warnings, workload, services, claims].flatMap(({ notRead }) => notRead),
  };
}

const WORDS_LATE: NotRead = { what: 'last-words', why: 'late' };

const targetNameOf = (pod: Pod): string | undefined => {
  const target = targetContainerOf(pod, undefined);
  return target.kind === 'container' ? target.container.name : undefined;
};

export const turnsOf = ({ subject }: LogReader, { turns }: FlowDeps): OwnTurns => turns.of(subject.origin.requesterId);

/** Groups the pods of a workload of any size; each costs all rules of a pod. */
export async function groupInTurns(pods: readonly ClusterFacts[], turns: OwnTurns): Promise<GroupedPods> {
  const grouper = new PodGrouper();
  for (const facts of pods) {
    await turns.step();
    grouper.add(facts);
  }
  return grouper.result();
}

/** Of a source that may hold as many words as others like; the rest of the answer needs the second. */
const WORDS_MS = FIRST_ANSWER_MS / 2;

interface SpokenPods {
  readonly pods: readonly Pod[];
  /** Uids of those of the sample whose words nobody had time for. */
  readonly unspoken: ReadonlySet<string>;
}

/** The same pods, those of the sample with their words. */
async function withWords(pods: readonly Pod[], cluster: Cluster, { clock }: FlowDeps): Promise<SpokenPods> {
  const untilMs = clock.elapsed() + WORDS_MS;
  const spoken = new Map<string, Pod>();
  const unspoken = new Set<string>();
  for (const { metadata } of sampleOf(pods)) {
    if (clock.elapsed() >= untilMs) unspoken.add(metadata.uid);
    else {
      // It may be gone by now.
      const pod = await cluster.pod(metadata.namespace, metadata.name).catch(() => undefined);
      if (pod?.metadata.uid === metadata.uid) spoken.set(metadata.uid, pod);
    }
  }
  return { pods: pods.map((pod) => spoken.get(pod.metadata.uid) ?? pod), unspoken };
}

type NamedRead = <Value>(what: NotRead['what'], reading: Promise<Value | undefined>) => Promise<Read<Value>>;

async function nodesOf(names: readonly string[], cluster: Cluster, read: NamedRead) {
  const nodes = await Promise.all(names.map(async (name) => [name, await read('node', cluster.node(name))] as const));
  return new Map(nodes);
}

async function logsOf(
  sources: readonly PodLogSource[],
  reader: LogAccess,
  deps: FlowDeps,
): Promise<ReadonlyMap<string, ReadLogs>> {
  const pods = [...new Set(sources.map(({ pod }) => pod))];
  const logs = await Promise.all(
    pods.map(async (pod) => {
      const own = sources.filter((source) => source.pod === pod);
      return [pod.metadata.uid, await readTargetLogs(pod, own, reader, deps)] as const;
    }),
  );
  return new Map(logs);
}

const eventsByPod = (warnings: readonly ObjectEvent[]): ReadonlyMap<string, readonly ObjectEvent[]> =>
  grouped(
    warnings.filter(({ involved }) => involved.kind === 'Pod'),
    ({ involved }) => involved.name,
  );
