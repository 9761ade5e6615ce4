import type { ContainerStatus, Pod, PodContainer, PodEvent } from '../../../../src/core/container/pod.ts';
import type {
  ClusterFacts,
  LogShape,
  ObjectEvent,
  TargetLog,
  WorkloadFact,
  WorkloadFacts,
} from '../../../../src/core/diagnosis/facts/facts.ts';
import { firstAnswer } from '../../../../src/core/diagnosis/first-answer.ts';
import { aPod, aStatus, aTermination, type PodParts, START_MS } from '../../../support/builders.ts';

export const CALM: PodContainer = {
  name: 'web',
  image: 'web:1',
  securityContext: {},
  memoryLimit: '128Mi',
  cpuLimit: '500m',
  hasRequests: true,
};

export const at = (ms: number): string => new Date(START_MS + ms).toISOString();

/** A pod of the Deployment `web` with one container `web`. */
export const podOf = (parts: PodParts = {}): Pod =>
  aPod({
    ...parts,
    metadata: {
      labels: { app: 'web', 'pod-template-hash': 'aaa' },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web-aaa', controller: true }],
      ...parts.metadata,
    },
    spec: { containers: [CALM], ...parts.spec },
    status: { containerStatuses: [aStatus({ ready: true, running: { startedAt: at(-3_600_000) } })], ...parts.status },
  });

export const quietLog = (containerName = 'web', shapes: readonly LogShape[] = []): TargetLog => ({
  containerName,
  lines: 40,
  shapes,
});

export const shape = (parts: Partial<LogShape> = {}): LogShape => ({
  line: 'it broke',
  count: 9,
  level: 'error',
  firstAtMs: START_MS - 900_000,
  sinceMs: START_MS - 900_000,
  lastAtMs: START_MS - 3_000,
  ...parts,
});

export const factsOf = (parts: Partial<ClusterFacts> = {}): ClusterFacts => ({
  pod: podOf(),
  targetContainerName: 'web',
  versionedPods: [],
  events: [],
  node: { name: 'node-a', conditions: [{ type: 'Ready', status: 'True' }] },
  nowMs: START_MS,
  logs: [quietLog()],
  ...parts,
});

export const ended = (msAgo: number, parts = {}) =>
  aTermination({ exitCode: 1, reason: 'Error', startedAt: at(-msAgo - 60_000), finishedAt: at(-msAgo), ...parts });

/** A pod whose container `web` has this status. */
export const withStatus = (
  parts: Partial<ContainerStatus>,
  spec: Partial<PodContainer> = {},
  phase: Pod['status']['phase'] = 'Running',
) => podOf({ spec: { containers: [{ ...CALM, ...spec }] }, status: { phase, containerStatuses: [aStatus(parts)] } });

/** A pod that has a node and of which nothing has run. */
export const rising = (spec: Partial<Pod['spec']> = {}): Pod =>
  podOf({
    metadata: { creationTimestamp: at(-120_000) },
    spec,
    status: {
      phase: 'Pending',
      containerStatuses: [aStatus({ waiting: { reason: 'ContainerCreating', message: '' } })],
      unmetConditions: [
        {
          type: 'Ready',
          reason: 'ContainersNotReady',
          message: 'containers with unready status: [web]',
          since: at(-120_000),
        },
      ],
    },
  });

/** A pod that the scheduler has refused with these words. */
export const unscheduled = (message: string, spec: Partial<Pod['spec']> = {}): Pod => {
  const pod = podOf({
    metadata: { creationTimestamp: at(-60_000) },
    spec,
    status: {
      phase: 'Pending',
      containerStatuses: [],
      unmetConditions: [{ type: 'PodScheduled', reason: 'Unschedulable', message, since: at(-60_000) }],
    },
  });
  const { nodeName: _, ...rest } = pod.spec;
  return { ...pod, spec: rest };
};

export const warning = (reason: string, message: string, parts: Partial<PodEvent> = {}): PodEvent => ({
  reason,
  message,
  type: 'Warning',
  atMs: START_MS - 3_000,
  ...parts,
});

export const about = (kind: string, name: string, reason: string, message: string, msAgo = 3_000): ObjectEvent => ({
  ...warning(reason, message, { atMs: START_MS - msAgo }),
  involved: { kind, name },
});

/** The headline, the next step and the codes. */
export function answer(parts: Partial<ClusterFacts> = {}) {
  const { line = '', findings, healthy } = firstAnswer(factsOf(parts));
  return {
    line,
    next: findings[0]?.next ?? '',
    code: findings[0]?.code,
    rank: findings[0]?.rank,
    codes: findings.map(({ code }) => code),
    healthy,
  };
}

export const aWorkload = (parts: Partial<WorkloadFact> = {}): WorkloadFact => ({
  kind: 'deployment',
  name: 'web',
  uid: 'd-1',
  wanted: 3,
  ready: 3,
  updated: 3,
  conditions: [],
  createdAtMs: START_MS - 3_600_000,
  ...parts,
});

export const workloadFacts = (parts: Partial<WorkloadFacts> = {}): WorkloadFacts => ({
  name: 'deployment/web',
  kind: 'deployment',
  workload: aWorkload(),
  pods: [1, 2, 3].map((number) =>
    factsOf({ pod: podOf({ metadata: { name: `web-${number}`, uid: `uid-${number}` } }) }),
  ),
  warnings: [],
  nowMs: START_MS,
  notRead: [],
  ...parts,
});
