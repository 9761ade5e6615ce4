import type { AlertCard } from '../../src/core/alert/card.ts';
import type { OnceMore, Original } from '../../src/core/container/once-more.ts';
import type { Plan } from '../../src/core/container/plan.ts';
import type { ContainerStatus, ContainerTermination, Pod } from '../../src/core/container/pod.ts';
import { asChannelId, asRunId, asUserId } from '../../src/core/ids.ts';
import { type Grant, grantScope } from '../../src/core/planning/grant.ts';
import type { PendingApproval } from '../../src/core/planning/vote.ts';
import type { Approval, Policy, Rule } from '../../src/core/policy/policy.ts';
import type { RunRequest } from '../../src/core/request/command.ts';
import type { Origin } from '../../src/core/request/origin.ts';
import type { Run } from '../../src/core/run/run.ts';

/** Half past seven on a Saturday; every test's clock starts here. */
export const START_MS = Date.UTC(2026, 10, 21, 7, 30, 0);

export interface PodParts {
  readonly metadata?: Partial<Pod['metadata']>;
  readonly spec?: Partial<Pod['spec']>;
  readonly status?: Partial<Pod['status']>;
}

/** A running pod `web-1` of one container `web`, on a node, with nothing special. */
export function aPod(parts: PodParts = {}): Pod {
  return {
    metadata: {
      name: 'web-1',
      namespace: 'shop',
      uid: 'uid-1',
      resourceVersion: '7',
      creationTimestamp: '2026-11-20T00:00:00Z',
      labels: {},
      annotations: {},
      ownerReferences: [],
      ...parts.metadata,
    },
    spec: {
      nodeName: 'node-a',
      shareProcessNamespace: false,
      hostPID: false,
      hostIPC: false,
      hostNetwork: false,
      securityContext: {},
      containers: [{ name: 'web', image: 'web:1', securityContext: {} }],
      initContainers: [],
      ephemeralContainers: [],
      ...parts.spec,
    },
    status: {
      phase: 'Running',
      containerStatuses: [aStatus({ name: 'web', running: { startedAt: '2026-11-20T00:00:01Z' } })],
      initContainerStatuses: [],
      ephemeralContainerStatuses: [],
      ...parts.status,
    },
  };
}

export const aStatus = (parts: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name: 'web',
  image: 'web:1',
  imageID: 'sha256:feed',
  restartCount: 0,
  ...parts,
});

export const aTermination = (parts: Partial<ContainerTermination> = {}): ContainerTermination => ({
  exitCode: 0,
  reason: 'Completed',
  message: '',
  startedAt: '2026-11-21T07:30:01Z',
  finishedAt: '2026-11-21T07:30:03Z',
  ...parts,
});

export const aRequest = (parts: Partial<RunRequest> = {}): RunRequest => ({
  target: { kind: 'pod', name: 'web-1' },
  image: 'autodiagnose',
  env: [],
  profile: 'auto',
  command: [],
  argumentsOnly: false,
  dryRun: false,
  batch: { canary: false },
  ...parts,
});

/** What a container of a pod has: a program and nothing else. */
export const anOriginal = (parts: Partial<Original> = {}): Original => ({
  command: ['/shop'],
  args: [],
  variables: [],
  sources: [],
  mounts: [],
  unmountable: [],
  ...parts,
});

/** Of the container `web`. */
export const aSecondRun = (parts: Partial<OnceMore> = {}): OnceMore => ({
  ...anOriginal(),
  container: 'web',
  withoutEnv: [],
  switches: [],
  serviceAccount: 'default',
  ...parts,
});

export const aPlan = (parts: Partial<Plan> = {}): Plan => ({
  cluster: 'prod',
  namespace: 'shop',
  podName: 'web-1',
  podUid: 'uid-1',
  nodeName: 'node-a',
  targetContainerName: 'web',
  imageAlias: 'autodiagnose',
  image: 'registry.example.com/autodiagnose:1',
  command: [],
  argumentsOnly: false,
  env: [],
  profileAsked: 'auto',
  profile: 'restricted',
  class: 'observe',
  classReasons: [],
  timeoutMs: 120_000,
  startDeadlineMs: 60_000,
  maxLogBytes: 1_000_000,
  requesterId: 'U0ROY',
  teamId: 'T0TEAM',
  channelId: 'C0SHOP',
  blindSpots: [],
  ...parts,
});

export const anOrigin = (parts: Partial<Origin> = {}): Origin => ({
  source: 'slash',
  dedupeKey: 'one',
  teamId: 'T0TEAM',
  channelId: asChannelId('C0SHOP'),
  requesterId: asUserId('U0ROY'),
  receivedAtMs: START_MS,
  ...parts,
});

export const aRun = (parts: Partial<Run> = {}): Run => ({
  schema: 1,
  id: asRunId('abcdefghij'),
  state: 'received',
  origin: anOrigin(),
  request: aRequest(),
  commandLine: 'web-1 --image=autodiagnose',
  delivery: {},
  ...parts,
});

export const aRule = (parts: Partial<Rule> = {}): Rule => ({
  id: 'look',
  clusters: ['prod'],
  namespaces: ['shop'],
  classes: ['observe'],
  profiles: ['restricted', 'baseline', 'general'],
  ...parts,
});

/** A pod whose only container waits for its fifth start, after an end with code 1. */
export const aCrashingPod = (endedAtMs: number): Pod =>
  aPod({
    status: {
      containerStatuses: [
        aStatus({
          restartCount: 4,
          waiting: { reason: 'CrashLoopBackOff', message: 'back-off' },
          lastTermination: aTermination({
            exitCode: 1,
            reason: 'Error',
            finishedAt: new Date(endedAtMs).toISOString(),
          }),
        }),
      ],
    },
  });

/** What a rule asks for: one approver of the group `sre` within 15 minutes, who may give a grant. */
export const approvalTerms = (parts: Partial<Approval> = {}): Approval => ({
  from: ['sre'],
  count: 1,
  expiresMs: 900_000,
  reason: 'optional',
  voteReason: 'optional',
  grants: 'allowed',
  ...parts,
});

/** One approver of the group `sre`, within a minute. */
export const anApproval = (parts: Partial<PendingApproval> = {}): PendingApproval => ({
  rule: 'attach',
  from: ['sre'],
  count: 1,
  expiresAtMs: START_MS + 60_000,
  voteReason: 'optional',
  grants: 'allowed',
  votes: [],
  ...parts,
});

export const aGrant = (parts: Partial<Grant> = {}): Grant => ({
  byUserId: 'U0BOB',
  rule: 'attach',
  scope: grantScope(aPlan()),
  expiresAtMs: START_MS + 30 * 60_000,
  maxRuns: 20,
  uses: [],
  ...parts,
});

export const aPolicy = (parts: Partial<Policy> = {}): Policy => ({
  clusters: { prod: { context: 'prod', inCluster: false, default: true } },
  identity: { mode: 'serviceAccount', users: {} },
  approvers: {},
  images: {
    autodiagnose: {
      alias: 'autodiagnose',
      reference: 'registry.example.com/autodiagnose:1',
      class: 'observe',
      command: 'fixed',
      diagnostic: true,
      timeoutMs: 120_000,
    },
    debian: { alias: 'debian', reference: 'debian:12-slim', class: 'observe', command: 'allowed' },
  },
  defaultImage: 'autodiagnose',
  channels: {
    [asChannelId('C0SHOP')]: { name: '#shop-oncall', rules: [aRule({ classes: ['observe', 'intrusive'] })] },
  },
  limits: {
    ephemeralContainersPerPod: 10,
    ephemeralContainersPerPodAndUser: 5,
    runsPerUserPerMinute: 6,
    runsPerUser: 7,
    pendingApprovalsPerUser: 5,
    runsPerChannel: 20,
    runsPerCluster: 200,
    startDeadlineMs: 60_000,
    maxTimeoutMs: 1_800_000,
    maxLogBytes: 100 * 1_024 * 1_024,
    maxFileBytes: 32 * 1_024 * 1_024,
    maxFiles: 8,
    maxFilesBytes: 64 * 1_024 * 1_024,
  },
  output: { redact: [], retentionMs: 604_800_000, deliverTo: 'thread' },
  ...parts,
});

/** The card of one alert that fires since a minute. */
export const anAlertCard = (parts: Partial<AlertCard> = {}): AlertCard => ({
  source: 'shop',
  name: 'KubePodCrashLooping',
  severity: 'critical',
  summary: 'Pod is crash looping',
  subject: 'shop/web-1',
  links: {},
  sinceMs: START_MS - 60_000,
  times: 1,
  firing: 1,
  skipped: 0,
  seen: [],
  version: 1,
  openUntilMs: START_MS + 25 * 3_600_000,
  ...parts,
});
