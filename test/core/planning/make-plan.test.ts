import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { makePlan, type Resolved } from '../../../src/core/planning/make-plan.ts';
import type { ImageAlias } from '../../../src/core/policy/policy.ts';
import type { RunRequest } from '../../../src/core/request/command.ts';
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
    approvers: { sre: { usergroup: 'S0SRE', users: [] } },
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
  const runAs = (profile: 'netadmin' | 'baseline' | 'general', alias: Partial<ImageAlias>, pod?: PodParts) => {
    const diagnostic = { command: 'fixed', diagnostic: true, class: 'elevated', ...alias } as const;
    return planOf({ request: { profile }, alias: diagnostic, ...(pod && { pod }) }).securityContext?.runAsUser;
  };

  it('is root for a diagnostic image that needs NET_RAW, where nobody names a user', () => {
    expect(runAs('netadmin', {})).toBe(0);
    expect(runAs('baseline', { files: ['text', 'capture'] })).toBe(0);
    expect(runAs('baseline', { files: ['text'] })).toBeUndefined();
    expect(runAs('general', { files: ['capture'] })).toBeUndefined();
    expect(runAs('netadmin', { diagnostic: false, command: 'allowed' })).toBeUndefined();
    expect(runAs('netadmin', {}, { spec: { securityContext: { runAsUser: 10001 } } })).toBeUndefined();
    expect(runAs('netadmin', {}, { spec: { securityContext: { runAsNonRoot: true } } })).toBeUndefined();
  });

  it('is what was learnt, when the pod does not say and the rules allow no general', () => {
    const learnt = { uid: 65532, gid: 0 };
    const rule = aRule({ profiles: ['restricted', 'baseline'] });
    const policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [rule] } } });
    const made = makePlan({ ...resolved(), policy, learnt });
    expect(made).toMatchObject({ plan: { profile: 'restricted', ...as(65532, 0), blindSpots: [] } });
    const elevated = resolved({ profiles: { classes: ['observe', 'elevated'] } });
    expect(makePlan({ ...elevated, learnt })).toMatchObject({ plan: { profile: 'general', ...as(0, 0) } });
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
      profiles: { classes: ['intrusive'] },
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
      class: 'intrusive',
      classReasons: [{ fact: 'own-words' }],
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

  it('a free command that cannot be its target is another user than a diagnosis that comes later, whose report it could write', () => {
    const words = { command: ['sleep', '600'] };
    for (const request of [{ profile: 'restricted' as const }, { profile: 'auto' as const }]) {
      const asked = { pod: { spec: as(0, 0) }, profiles: { profiles: ['restricted' as const] } };
      const free = planOf({ ...asked, request: { ...request, ...words } });
      const diagnosis = planOf({ ...asked, request, alias: { command: 'fixed', diagnostic: true } });
      expect([free.class, diagnosis.class]).toEqual(['observe', 'observe']);
      expect(free.securityContext).toMatchObject({ ...RESTRICTED, runAsUser: 65533, runAsGroup: 65533 });
      expect(diagnosis.securityContext).toMatchObject({ ...RESTRICTED, runAsUser: 65532, runAsGroup: 65532 });
    }
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
      kind: 'deny',
      code: 'profile_refused_here',
      subject: 'general in a namespace that enforces baseline',
    });
  });
});

describe('the class', () => {
  const approval = {
    from: ['sre'],
    count: 1,
    expiresMs: 1,
    reason: 'optional',
    voteReason: 'optional',
    grants: 'denied',
  } as const;

  it('is judged from the pod, the profile that was chosen, and the command', () => {
    expect(planOf()).toMatchObject({ class: 'observe', classReasons: [] });
    expect(planOf({ alias: { class: 'intrusive' } }).class).toBe('intrusive');
    expect(planOf({ pod: { spec: { hostPID: true } } })).toMatchObject({
      class: 'elevated',
      classReasons: [{ fact: 'host-pid' }],
    });
    expect(planOf({ request: { profile: 'sysadmin' } }).class).toBe('elevated');
    expect(planOf({ request: { profile: 'general' }, pod: { spec: as(7, 8) } }).class).toBe('observe');
    expect(makePlan({ ...resolved({ request: GENERAL }), learnt: { uid: 7, gid: 8 } })).toMatchObject({
      plan: { classReasons: [{ fact: 'root-in-non-root', container: 'web' }] },
    });
  });

  it.each([{ command: ['id'] }, { env: [{ name: 'LD_PRELOAD', value: 'x' }] }, { argumentsOnly: true }])(
    'is intrusive with a command, environment or arguments of the person’s own (%j)',
    (words) => {
      expect(planOf({ request: { ...GENERAL, ...words } })).toMatchObject({ class: 'intrusive' });
      expect(planOf({ request: { ...GENERAL, ...words }, alias: { command: 'fixed' } }).class).toBe('observe');
    },
  );

  it('never rises by auto, where a milder profile is allowed', () => {
    const asking = [{ name: 'web', image: 'w', securityContext: { runAsNonRoot: true } }];
    expect(planOf({ pod: { spec: { containers: asking } } })).toMatchObject({
      class: 'observe',
      profile: 'restricted',
    });
  });

  it('of a free command with auto: rather an approval than a look at nothing', () => {
    const free = { request: { command: ['id'] }, pod: { spec: as(0, 0) } };
    const asked = { ...free, profiles: { classes: ['intrusive'], approval } } as const;
    expect(planOf(asked)).toMatchObject({ profile: 'general', class: 'intrusive', blindSpots: [] });
    const reasoned = { ...asked.profiles, approval: { ...approval, reason: 'required' } } as const;
    expect(planOf({ ...asked, profiles: reasoned }).profile, 'the reason can still be given').toBe('general');
    expect(planOf(free)).toMatchObject({ profile: 'restricted', class: 'observe' });
    expect(planOf(free).blindSpots).toHaveLength(1);
    expect(planOf({ ...free, target: false })).toMatchObject({ profile: 'restricted', class: 'observe' });
  });

  it('of a diagnosis with auto: rather a look at little than an approval', () => {
    const rules = [aRule({ profiles: ['restricted'] }), aRule({ id: 'ask', approval })];
    const parts = resolved({ pod: { spec: as(0, 0) } });
    const policy = { ...parts.policy, channels: { [asChannelId('C0SHOP')]: { rules } } };
    expect(makePlan({ ...parts, policy })).toMatchObject({ plan: { profile: 'restricted' } });
  });
});

const GENERAL = { profile: 'general' } as const;
