import { describe, expect, it } from 'vitest';
import { IMAGE_CLASSES, type ImageClass, worseClass } from '../../../src/core/container/image-class.ts';
import type { Pod } from '../../../src/core/container/pod.ts';
import { PROFILES, type ProfileName } from '../../../src/core/container/profiles.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import { decide } from '../../../src/core/planning/decide.ts';
import { planRequest } from '../../../src/core/planning/plan-request.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { planStop, stopImage } from '../../../src/core/run/plan-stop.ts';
import { anOrigin, aPod, aPolicy, approvalTerms, aRequest, aRule, aRun } from '../../support/builders.ts';

const { autodiagnose } = aPolicy().images;
const tool = { alias: 'tool', reference: 'tool:1', class: 'observe', command: 'allowed' } as const;

interface Rules {
  /** Classes that need no approval, and classes that need one. */
  readonly free: readonly ImageClass[];
  readonly attended?: readonly ImageClass[];
}

/** `stopClass`: of the only diagnostic image. */
const policyOf = ({ free, attended = [] }: Rules, stopClass: ImageClass = 'observe'): Policy =>
  aPolicy({
    images: { autodiagnose: { ...autodiagnose!, class: stopClass }, tool },
    approvers: { sre: { usergroup: 'S0SRE', users: [] } },
    channels: {
      [asChannelId('C0SHOP')]: {
        rules: [
          aRule({ id: 'free', classes: free, profiles: PROFILES }),
          aRule({ id: 'attended', classes: attended, profiles: PROFILES, approval: approvalTerms() }),
        ],
      },
    },
  });

const NAME = 'kdebug-run';

function runOf(policy: Policy, pod: Pod, profile: ProfileName) {
  const request = aRequest({ image: 'tool', profile, command: ['sleep', '600'], reason: 'x' });
  const aim = { kind: 'aim', cluster: 'prod', namespace: 'shop', alias: policy.images.tool! } as const;
  const planned = planRequest(pod, { request, origin: anOrigin(), policy, aim, level: 'privileged' });
  if (planned.kind !== 'planned') throw new Error(planned.code);
  return { decision: planned.decision, run: aRun({ state: 'running', plan: planned.plan, containerName: NAME }) };
}

type PlannedRun = Parameters<typeof planStop>[0];

const stopOf = (run: PlannedRun, pod: Pod, policy: Policy) =>
  planStop(run, { byUserId: 'U0ROY', pod, policy, alias: stopImage(policy)! });

/** The pod once the run's container is in it; `uid`: where the kubelet says whom it runs as. */
const running = (pod: Pod, uid?: number): Pod => ({
  ...pod,
  spec: { ...pod.spec, ephemeralContainers: [{ name: NAME, image: 'tool:1', targetContainerName: 'web' }] },
  status: {
    ...pod.status,
    ephemeralContainerStatuses: [
      {
        name: NAME,
        image: 'tool:1',
        imageID: '',
        restartCount: 0,
        running: { startedAt: '2026-01-01T00:00:00Z' },
        ...(uid !== undefined && { user: { uid, gid: uid } }),
      },
    ],
  },
});

const PODS: readonly (readonly [string, Pod])[] = [
  ['a plain pod', aPod()],
  ['a pod as 1000', aPod({ spec: { securityContext: { runAsUser: 1000, runAsGroup: 1000 } } })],
  ['a pod that asks for non-root', aPod({ spec: { securityContext: { runAsNonRoot: true } } })],
  ['a pod in the network of its node', aPod({ spec: { hostNetwork: true } })],
];

const RULES: readonly Rules[] = [
  { free: ['observe', 'intrusive', 'elevated'] },
  { free: ['observe', 'intrusive'], attended: ['elevated'] },
  { free: ['intrusive'], attended: ['elevated'] },
  { free: ['intrusive'] },
  { free: [], attended: ['observe', 'intrusive', 'elevated'] },
];

describe('the container that stops a run', () => {
  const cases = PODS.flatMap(([name, pod]) =>
    RULES.flatMap((rules) =>
      IMAGE_CLASSES.flatMap((stopClass) =>
        PROFILES.flatMap((profile) =>
          [undefined, 0, 65532].map((uid) => ({ name, pod, rules, stopClass, profile, uid })),
        ),
      ),
    ),
  );

  it('is one that the person may start, or has no more power than the run, whatever pod, rules, image and profile', () => {
    const seen = { allowed: 0, within: 0, refused: 0 };
    for (const { pod, rules, stopClass, profile, uid } of cases) {
      const policy = policyOf(rules, stopClass);
      const { decision, run } = runOf(policy, pod, profile);
      if (decision.kind === 'deny') continue;
      const stop = stopOf(run as PlannedRun, running(pod, uid), policy);
      if (stop.kind === 'deny') {
        seen.refused += 1;
        expect(['stop_not_allowed', 'stop_without_user']).toContain(stop.code);
        continue;
      }
      const { plan } = stop;
      expect(plan).toMatchObject({ requesterId: 'U0ROY', command: [], env: [], imageAlias: 'autodiagnose', profile });
      expect(worseClass(plan.class, stopClass)).toBe(plan.class);
      if (decide(plan, policy).kind === 'allow') {
        seen.allowed += 1;
        continue;
      }
      seen.within += 1;
      expect(worseClass(plan.class, run.plan!.class)).toBe(run.plan!.class);
      const isRoot = plan.securityContext?.runAsUser === 0;
      const wasRoot = run.plan!.securityContext?.runAsUser === 0 || uid === 0;
      expect(isRoot && !wasRoot && run.plan!.securityContext?.privileged !== true).toBe(false);
    }
    expect(Math.min(seen.allowed, seen.within, seen.refused)).toBeGreaterThan(20);
  });

  it('is refused where its image needs an approval that the run did not need', () => {
    const policy = policyOf({ free: ['observe', 'intrusive'], attended: ['elevated'] }, 'elevated');
    const { run } = runOf(policy, aPod(), 'restricted');
    expect(stopOf(run as PlannedRun, running(aPod()), policy)).toMatchObject({
      kind: 'deny',
      code: 'stop_not_allowed',
      rule: 'attended',
      subject: 'autodiagnose, restricted (elevated)',
    });
  });

  it('needs no approval of its own where the run had one for as much', () => {
    const policy = policyOf({ free: ['observe'], attended: ['elevated'] }, 'elevated');
    const { run, decision } = runOf(policy, aPod(), 'sysadmin');
    expect(decision.kind).toBe('needs-approval');
    expect(stopOf(run as PlannedRun, running(aPod()), policy)).toMatchObject({ plan: { class: 'elevated' } });
  });
});

describe('a container that has come beside the run since', () => {
  const policy = policyOf({ free: ['intrusive'], attended: ['elevated'] });
  const beside = (pod: Pod, name: string): Pod => ({
    ...pod,
    spec: {
      ...pod.spec,
      ephemeralContainers: [
        { name, image: 'cap:1', targetContainerName: 'web', securityContext: { capabilities: ['NET_ADMIN'] } },
      ],
    },
    status: {
      ...pod.status,
      ephemeralContainerStatuses: [
        ...pod.status.ephemeralContainerStatuses,
        { name, image: 'cap:1', imageID: '', restartCount: 0, running: { startedAt: '2026-01-01T00:00:00Z' } },
      ],
    },
  });

  it('in the reach of both does not keep anybody from stopping it', () => {
    const { run } = runOf(policy, aPod(), 'auto');
    const stop = stopOf(run as PlannedRun, beside(running(aPod(), 0), 'kdebug-cap'), policy);
    expect(stop).toMatchObject({ kind: 'plan', plan: { class: 'elevated', profile: run.plan!.profile } });
  });
});

describe('the user of the container that stops a run', () => {
  const policy = policyOf({ free: ['intrusive'] });
  const contextOf = (pod: Pod, profile: ProfileName, from = policy) => {
    const stop = stopOf(runOf(from, pod, profile).run as PlannedRun, pod, from);
    return stop.kind === 'plan' ? stop.plan.securityContext : stop.code;
  };

  it('is the one of the run’s own context', () => {
    const pod = running(aPod(), 7);
    expect(contextOf(pod, 'restricted')).toMatchObject({ runAsUser: 65533, runAsGroup: 65533, runAsNonRoot: true });
    expect(contextOf(pod, 'auto')).toMatchObject({ runAsUser: 0 });
  });

  it('is the pod’s, where the pod names it', () => {
    const elevated = policyOf({ free: ['observe', 'intrusive', 'elevated'] });
    const pod = aPod({ spec: { securityContext: { runAsUser: 1000, runAsGroup: 1000 } } });
    expect(contextOf(running(pod), 'general', elevated)).toEqual({ capabilities: { add: ['SYS_PTRACE'] } });
  });

  it('is the one that the kubelet says, where only the image names it', () => {
    expect(contextOf(running(aPod(), 65532), 'general')).toMatchObject({ runAsUser: 65532, runAsGroup: 65532 });
  });

  it('is never root because nobody knows better, unless a rule allows that, or the run is privileged', () => {
    const pod = running(aPod());
    expect(contextOf(pod, 'general')).toBe('stop_without_user');
    expect(contextOf(pod, 'general', policyOf({ free: ['observe', 'intrusive'] }))).toMatchObject({ runAsUser: 0 });
    const attended = policyOf({ free: [], attended: ['elevated'] });
    expect(contextOf(pod, 'sysadmin', attended)).toMatchObject({ runAsUser: 0, privileged: true });
  });

  it('is not root in a pod that refuses it', () => {
    const pod = running(aPod({ spec: { securityContext: { runAsNonRoot: true } } }));
    const elevated = policyOf({ free: ['observe', 'intrusive', 'elevated'] });
    expect(contextOf(pod, 'general', elevated)).toEqual({ capabilities: { add: ['SYS_PTRACE'] } });
  });
});

describe('the image that stops runs', () => {
  const { images } = aPolicy();
  const other = { ...autodiagnose!, alias: 'other' };

  it('is autodiagnose, also where the default is another', () => {
    expect(stopImage({ images: { other, ...images }, defaultImage: 'other' })?.alias).toBe('autodiagnose');
  });

  it('is the default image where there is no autodiagnose', () => {
    expect(stopImage({ images: { other }, defaultImage: 'other' })?.alias).toBe('other');
  });

  it('is none that is not diagnostic, and none that only happens to be', () => {
    expect(stopImage({ images: { tool, other }, defaultImage: 'tool' })).toBeUndefined();
    const capture = { ...autodiagnose!, alias: 'capture', class: 'elevated' as const };
    expect(stopImage({ images: { capture } })).toBeUndefined();
  });

  it('is no tracer, because a stop may follow from the run that it ends', () => {
    const tracer = { ...autodiagnose!, traces: true };
    expect(stopImage({ images: { autodiagnose: tracer } })).toBeUndefined();
  });
});
