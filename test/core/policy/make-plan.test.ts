import { describe, expect, it, test } from 'vitest';
import type { RunRequest } from '../../../src/core/command/command.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import { makePlan, type Resolved } from '../../../src/core/policy/make-plan.ts';
import type { ImageAlias } from '../../../src/core/policy/policy.ts';
import { anOrigin, aPod, aPolicy, aRequest, aRule, type PodParts } from '../../support/builders.ts';

const ALIAS: ImageAlias = { alias: 'debian', reference: 'debian:12-slim', class: 'observe', command: 'allowed' };

interface Parts {
  readonly request?: Partial<RunRequest>;
  readonly pod?: PodParts;
  readonly alias?: Partial<ImageAlias>;
  readonly target?: boolean;
  readonly level?: Resolved['level'];
  readonly profiles?: Parameters<typeof aRule>[0];
}

function resolved(parts: Parts = {}): Resolved {
  const pod = aPod(parts.pod);
  const alias = { ...ALIAS, ...parts.alias };
  const policy = aPolicy({
    images: { debian: alias },
    channels: { [asChannelId('C0SHOP')]: { rules: [aRule(parts.profiles)] } },
  });
  return {
    request: aRequest({ image: 'debian', ...parts.request }),
    origin: anOrigin(),
    policy,
    cluster: 'prod',
    pod,
    container: parts.target === false ? undefined : pod.spec.containers[0],
    level: parts.level ?? 'privileged',
    alias,
  };
}

function planOf(parts?: Parts) {
  const made = makePlan(resolved(parts));
  if (made.kind !== 'plan') throw new Error(made.code);
  return made.plan;
}

const as = (runAsUser: number, runAsGroup: number) => ({ securityContext: { runAsUser, runAsGroup } });
const RESTRICTED = {
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

describe('who it runs as', () => {
  it('is what was learnt, when the pod does not say and the rules allow no general', () => {
    const learnt = { uid: 65532, gid: 0 };
    const rule = aRule({ profiles: ['restricted', 'baseline'] });
    const policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [rule] } } });
    const made = makePlan({ ...resolved(), policy, learnt });
    expect(made).toMatchObject({ plan: { profile: 'restricted', ...as(65532, 0), blindSpots: [] } });
    expect(makePlan({ ...resolved(), learnt })).toMatchObject({ plan: { profile: 'general', ...as(0, 0) } });
  });

  it('is what the button of a verdict asked for, decided on like any other plan', () => {
    const again = planOf({
      request: { profile: 'restricted', runAs: { uid: 65532, gid: 0 } },
      pod: { spec: as(7, 8) },
    });
    expect(again).toMatchObject({ ...as(65532, 0), blindSpots: [] });
    const root = planOf({ request: { profile: 'general', runAs: { uid: 0, gid: 0 } } });
    expect(root.securityContext).toEqual({ capabilities: { add: ['SYS_PTRACE'] }, runAsUser: 0, runAsGroup: 0 });
  });
});

describe('makePlan', () => {
  it('fills every field from the request, the pod, the catalogue and the limits', () => {
    const plan = planOf({
      request: {
        command: ['id'],
        argumentsOnly: true,
        env: [{ name: 'A', value: 'b' }],
        imagePullPolicy: 'Never',
        timeoutMs: 9_000,
        reason: 'hang',
        label: 'look',
      },
      pod: { spec: as(7, 8) },
    });
    expect(plan).toEqual({
      cluster: 'prod',
      namespace: 'shop',
      podName: 'web-1',
      podUid: 'uid-1',
      nodeName: 'node-a',
      targetContainerName: 'web',
      imageAlias: 'debian',
      image: 'debian:12-slim',
      imagePullPolicy: 'Never',
      command: ['id'],
      argumentsOnly: true,
      env: [{ name: 'A', value: 'b' }],
      profileAsked: 'auto',
      profile: 'restricted',
      securityContext: { ...RESTRICTED, runAsUser: 7, runAsGroup: 8 },
      class: 'observe',
      timeoutMs: 9_000,
      startDeadlineMs: 60_000,
      maxLogBytes: 104_857_600,
      requesterId: 'U0ROY',
      teamId: 'T0TEAM',
      channelId: 'C0SHOP',
      reason: 'hang',
      label: 'look',
      observed: { earlierContainers: 0, podSecurity: 'privileged' },
      blindSpots: [],
    });
  });

  it('leaves out what was not given', () => {
    const plan = planOf({ target: false });
    for (const key of ['imagePullPolicy', 'reason', 'label', 'targetContainerName'])
      expect(plan).not.toHaveProperty(key);
    expect(plan.blindSpots).toEqual([]);
    const { nodeName: _, ...spec } = aPod().spec;
    const loose = makePlan({ ...resolved(), pod: { ...aPod(), spec } });
    expect(loose.kind === 'plan' && loose.plan.nodeName).toBe('');
  });

  it('takes the time from the request, else the catalogue, else five minutes within the limit', () => {
    expect(planOf({ alias: { timeoutMs: 4_000 } }).timeoutMs).toBe(4_000);
    expect(planOf({ alias: { timeoutMs: 4_000 }, request: { timeoutMs: 3_000 } }).timeoutMs).toBe(3_000);
    expect(planOf().timeoutMs).toBe(300_000);
    const short = resolved();
    const policy = { ...short.policy, limits: { ...short.policy.limits, maxTimeoutMs: 60_000 } };
    const made = makePlan({ ...short, policy });
    expect(made.kind === 'plan' && made.plan.timeoutMs).toBe(60_000);
  });

  it('counts the earlier debug containers and knows the memory limit that it lives on', () => {
    const earlier = { name: 'debugger-1', image: 'busybox' };
    const container = { name: 'web', image: 'web:1', securityContext: {}, memoryLimit: '128Mi' };
    const plan = planOf({ pod: { spec: { ephemeralContainers: [earlier, earlier], containers: [container] } } });
    expect(plan.observed).toEqual({ earlierContainers: 2, memoryLimit: '128Mi', podSecurity: 'privileged' });
  });
});

describe('the profile', () => {
  it('auto is the first that is admitted, allowed without approval, and starts', () => {
    expect(planOf().profile).toBe('general');
    expect(planOf().securityContext).toEqual({ capabilities: { add: ['SYS_PTRACE'] }, runAsUser: 0, runAsGroup: 0 });
    expect(planOf({ level: 'baseline' }).profile).toBe('baseline');
    expect(planOf({ profiles: { profiles: ['baseline'] } }).profile).toBe('baseline');
    const asking = [{ name: 'web', image: 'w', securityContext: { runAsNonRoot: true } }];
    expect(planOf({ pod: { spec: { containers: asking } } }).profile).toBe('restricted');
    const nonRoot = { spec: { securityContext: { runAsNonRoot: true } } };
    expect(planOf({ pod: nonRoot }).securityContext).toMatchObject({ runAsUser: 65532, runAsGroup: 65532 });
  });

  it('auto that no rule allows outright is the mildest, as the target when that is known', () => {
    const approval = {
      from: ['sre'],
      count: 1,
      expiresMs: 1,
      reason: 'optional',
      voteReason: 'optional',
      grants: 'allowed',
    } as const;
    const asked = { profiles: { profiles: ['sysadmin'], approval } } as const;
    expect(planOf(asked)).toMatchObject({
      profile: 'restricted',
      securityContext: { runAsUser: 65532, runAsGroup: 65532 },
    });
    expect(planOf({ ...asked, pod: { spec: as(7, 8) } })).toMatchObject({
      securityContext: { runAsUser: 7, runAsGroup: 8 },
    });
    expect(planOf({ ...asked, pod: { spec: as(0, 0) } })).toMatchObject({ securityContext: { runAsUser: 65532 } });
  });

  it('restricted always gets a user: the target’s, never root', () => {
    const restricted = { request: { profile: 'restricted' } } as const;
    expect(planOf({ ...restricted, pod: { spec: as(7, 8) } }).securityContext).toEqual({
      ...RESTRICTED,
      runAsUser: 7,
      runAsGroup: 8,
    });
    expect(planOf({ ...restricted, pod: { spec: as(0, 0) } }).securityContext).toMatchObject({
      runAsUser: 65532,
      runAsGroup: 65532,
    });
    expect(planOf({ ...restricted, target: false }).securityContext).toMatchObject({ runAsUser: 65532 });
    expect(planOf(restricted).blindSpots).toHaveLength(1);
  });

  it('that was asked for is taken as kubectl has it', () => {
    expect(planOf({ request: { profile: 'baseline' } })).not.toHaveProperty('securityContext');
    expect(planOf({ request: { profile: 'general' } }).securityContext).toEqual({
      capabilities: { add: ['SYS_PTRACE'] },
    });
    expect(planOf({ request: { profile: 'sysadmin' } })).toMatchObject({
      profile: 'sysadmin',
      profileAsked: 'sysadmin',
    });
  });

  it('is refused where the namespace would refuse it', () => {
    expect(makePlan(resolved({ request: { profile: 'general' }, level: 'baseline' }))).toEqual({
      kind: 'refused',
      code: 'profile_refused_here',
      subject: 'general in a namespace that enforces baseline',
    });
  });
});

describe('the class', () => {
  const nonRootPod = { spec: { securityContext: { runAsNonRoot: true } } };
  const nonRootContainer = {
    spec: { containers: [{ name: 'web', image: 'w', securityContext: { runAsNonRoot: true } }] },
  };
  const podWithUser = (runAsUser: number) => ({ spec: { ...nonRootContainer.spec, securityContext: { runAsUser } } });
  const rootContainer = {
    spec: {
      securityContext: { runAsNonRoot: true },
      containers: [{ name: 'web', image: 'w', securityContext: { runAsNonRoot: false } }],
    },
  };

  test.each([
    ['the alias’s', {}, 'observe'],
    ['the alias’s, when it is worse', { alias: { class: 'intrusive' } }, 'intrusive'],
    [
      'elevated for sysadmin in a pod that asks for non-root',
      { pod: nonRootPod, request: { profile: 'sysadmin' } },
      'elevated',
    ],
    ['elevated when only the container asks', { pod: nonRootContainer, request: { profile: 'sysadmin' } }, 'elevated'],
    [
      'the alias’s when the container says otherwise',
      { pod: rootContainer, request: { profile: 'sysadmin' } },
      'observe',
    ],
    ['the alias’s for a user that is not root', { pod: nonRootPod, request: { profile: 'restricted' } }, 'observe'],
    [
      'elevated when only the container asks and nobody says as whom ours runs: the image may be root’s',
      { pod: nonRootContainer, request: { profile: 'general' } },
      'elevated',
    ],
    [
      'the alias’s when the pod asks and nobody says as whom ours runs: the kubelet starts no root there',
      { pod: nonRootPod, request: { profile: 'general' } },
      'observe',
    ],
    [
      'the alias’s when the pod says as whom ours runs',
      { pod: podWithUser(1000), request: { profile: 'general' } },
      'observe',
    ],
    ['elevated when the pod says root', { pod: podWithUser(0), request: { profile: 'general' } }, 'elevated'],
    ['never raised by auto, which does not take root there', { pod: nonRootContainer }, 'observe'],
    [
      'the pod’s word without a target',
      { pod: nonRootPod, target: false, request: { profile: 'sysadmin' } },
      'elevated',
    ],
  ] as const)('is %s', (_, parts, expected) => {
    expect(planOf(parts).class).toBe(expected);
  });
});
