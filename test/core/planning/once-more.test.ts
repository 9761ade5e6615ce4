import { describe, expect, it } from 'vitest';
import type { Original } from '../../../src/core/container/once-more.ts';
import { planHash } from '../../../src/core/container/plan.ts';
import type { ContainerStatus } from '../../../src/core/container/pod.ts';
import type { Revisions, WantedRevision } from '../../../src/core/container/revisions.ts';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import { covers, grantScope } from '../../../src/core/planning/grant.ts';
import { aimOf, planRequest } from '../../../src/core/planning/plan-request.ts';
import type { ImageAlias, Rule } from '../../../src/core/policy/policy.ts';
import type { RunRequest } from '../../../src/core/request/command.ts';
import { defined } from '../../../src/lib/object.ts';
import {
  aGrant,
  anOrigin,
  aPod,
  aPolicy,
  approvalTerms,
  aRequest,
  aRule,
  aStatus,
  type PodParts,
} from '../../support/builders.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const ORIGINAL: Original = {
  command: ['/shop'],
  args: ['--port=8080'],
  variables: ['DB_URL', 'GOTRACEBACK'],
  sources: ['Secret db'],
  mounts: ['data at /data'],
  unmountable: ['settings at /etc/shop.yaml'],
};

const approved = (parts: Partial<Rule> = {}): Rule =>
  aRule({ id: 'again', classes: ['elevated'], profiles: [], approval: approvalTerms(), ...parts });

const down = (parts: Partial<ContainerStatus> = {}): ContainerStatus =>
  aStatus({
    imageID: `registry.example.com/shop@${DIGEST}`,
    waiting: { reason: 'CrashLoopBackOff', message: '' },
    ...parts,
  });

const aDownPod = (status: ContainerStatus = down(), parts: PodParts = {}) =>
  aPod({ ...parts, status: { containerStatuses: [status], ...parts.status } });

interface Asked {
  readonly pod?: ReturnType<typeof aPod>;
  readonly rules?: readonly Rule[];
  readonly request?: Partial<RunRequest>;
  readonly original?: Original;
  readonly revisions?: Revisions;
  readonly policy?: Parameters<typeof aPolicy>[0];
}

function planned({
  pod = aDownPod(),
  rules = [approved()],
  request = {},
  original = ORIGINAL,
  revisions,
  policy: parts = {},
}: Asked = {}) {
  const sre = { users: [asUserId('U0BOB')] };
  const policy = aPolicy({ approvers: { sre }, channels: { [asChannelId('C0SHOP')]: { rules } }, ...parts });
  const { image: _, ...asked } = aRequest({ onceMore: { withoutEnv: [] }, ...request });
  const aim = aimOf(asked, anOrigin(), policy);
  if (aim.kind === 'deny') throw new Error(aim.code);
  const inputs = { request: asked, origin: anOrigin(), policy, aim, original, ...defined({ revisions }) };
  return planRequest(pod, { ...inputs, level: 'privileged' });
}

function decided(asked: Asked = {}): string {
  const result = planned(asked);
  const decision = result.kind === 'deny' ? result : result.decision;
  return decision.kind === 'deny' ? `${decision.code}: ${decision.subject}` : decision.kind;
}

function plan(asked: Asked = {}) {
  const result = planned(asked);
  if (result.kind === 'deny') throw new Error(result.code);
  return result.plan;
}

describe('the plan of a second run', () => {
  it('has the image by its digest, the words, and the names of what the container has', () => {
    expect(plan()).toMatchObject({
      image: `registry.example.com/shop@${DIGEST}`,
      imagePullPolicy: 'IfNotPresent',
      class: 'elevated',
      timeoutMs: 60_000,
      command: [],
      env: [],
      onceMore: { ...ORIGINAL, container: 'web', withoutEnv: [], serviceAccount: 'default' },
    });
    expect(plan()).not.toHaveProperty('targetContainerName');
  });

  it('adds what makes a runtime say more, but nothing that the container sets or nobody wants', () => {
    const { onceMore } = plan({ request: { onceMore: { withoutEnv: ['DB_URL'] } } });
    expect(onceMore?.withoutEnv).toEqual(['DB_URL']);
    expect(onceMore?.switches.map(({ name }) => name)).toEqual([
      'PYTHONFAULTHANDLER',
      'PYTHONUNBUFFERED',
      'RUST_BACKTRACE',
    ]);
  });

  it('brings a tracer that ends it at its timeout, and gives that time to do so', () => {
    const tracer = { class: 'intrusive', command: 'fixed', diagnostic: true, traces: true } as const;
    const blackbox: ImageAlias = { ...tracer, alias: 'blackbox', reference: 'registry.example.com/blackbox:1' };
    const traced: Asked = { policy: { images: { blackbox } }, original: { ...ORIGINAL, emptyDir: 'tmp' } };
    expect(plan(traced)).toMatchObject({
      timeoutMs: 70_000,
      onceMore: { carrier: { image: blackbox.reference, volume: 'tmp', endsAfterMs: 60_000 } },
    });
    expect(plan(traced).onceMore?.carrier).not.toHaveProperty('memoryLimit');
    const limited = aDownPod(down(), {
      spec: { containers: [{ name: 'web', image: 'web:1', securityContext: {}, memoryLimit: '64Mi' }] },
    });
    expect(plan({ ...traced, pod: limited }).onceMore?.carrier?.memoryLimit).toBe(64 * 1024 ** 2);
    const request = { onceMore: { withoutEnv: [], untraced: true }, timeoutMs: 90_000 };
    expect(plan({ ...traced, request })).toMatchObject({ timeoutMs: 90_000 });
    expect(plan({ ...traced, request }).onceMore).not.toHaveProperty('carrier');
    const long = { onceMore: { withoutEnv: [] }, timeoutMs: 13 * 3_600_000 };
    expect(plan({ ...traced, request: long }).onceMore).not.toHaveProperty('carrier');
    const moved = { blackbox: { ...blackbox, reference: 'registry.example.com/blackbox:2' } };
    expect(planHash(plan({ ...traced, policy: { images: moved } }))).not.toBe(planHash(plan(traced)));
  });

  it.each([
    ['an image that the node has by its id alone', DIGEST, DIGEST, 'Never'],
    ['an older runtime', `docker-pullable://shop@${DIGEST}`, `shop@${DIGEST}`, 'IfNotPresent'],
  ])('knows the image of %s', (_, imageID, image, imagePullPolicy) => {
    expect(plan({ pod: aDownPod(down({ imageID })) })).toMatchObject({ image, imagePullPolicy });
  });

  it('is another plan once the image, the words or the names change', () => {
    const hash = planHash(plan());
    expect(planHash(plan())).toBe(hash);
    for (const original of [
      { ...ORIGINAL, args: [] },
      { ...ORIGINAL, variables: ['DB_URL'] },
      { ...ORIGINAL, mounts: [] },
    ])
      expect(planHash(plan({ original }))).not.toBe(hash);
    expect(planHash(plan({ pod: aDownPod(down({ imageID: `shop@sha256:${'b'.repeat(64)}` })) }))).not.toBe(hash);
  });

  it('says what power it takes over from its original', () => {
    const sharedVolumes = [{ name: 'log', kind: 'hostPath' }];
    const web = { name: 'web', image: 'web:1', securityContext: { privileged: true }, sharedVolumes };
    const { classReasons } = plan({ pod: aDownPod(down(), { spec: { containers: [web] } }) });
    expect(classReasons.map(({ fact }) => fact)).toEqual(['second-run', 'shared-volume', 'privileged']);
  });

  it('says how much less its original is confined, and every capability that it adds', () => {
    const securityContext = {
      unmaskedProc: true,
      seccomp: 'Unconfined',
      appArmor: 'Unconfined',
      seLinux: { type: 'spc_t' },
      capabilities: ['SYS_PTRACE'],
    };
    const web = { name: 'web', image: 'web:1', securityContext };
    const { classReasons } = plan({ pod: aDownPod(down(), { spec: { containers: [web] } }) });
    expect(classReasons.map(({ fact, detail }) => [fact, detail ?? ''].join(' ').trim())).toEqual([
      'second-run',
      'unmasked-proc',
      'capabilities SYS_PTRACE',
      'unconfined SELinux spc_t',
      'unconfined AppArmor Unconfined',
      'unconfined seccomp Unconfined',
    ]);
  });

  it('names the user that it runs as: of the container, else of the pod, else its image decides', () => {
    const web = (runAsUser?: number) => ({
      name: 'web',
      image: 'web:1',
      securityContext: { ...(runAsUser === undefined ? {} : { runAsUser }) },
    });
    const userOf = (container: ReturnType<typeof web>, ofPod = {}) =>
      plan({ pod: aDownPod(down(), { spec: { containers: [container], securityContext: ofPod } }) }).onceMore?.user;
    expect(userOf(web(0), { runAsUser: 7 })).toBe(0);
    expect(userOf(web(), { runAsUser: 7 })).toBe(7);
    expect(userOf(web())).toBeUndefined();
  });

  it('takes a shorter or longer time to watch, up to the policy’s', () => {
    expect(plan({ request: { timeoutMs: 90_000 } }).timeoutMs).toBe(90_000);
    expect(decided({ request: { timeoutMs: 86_400_000 } })).toContain('timeout_too_long');
  });
});

describe('a second run is refused', () => {
  const beside = (copyOf: string, statuses: readonly ContainerStatus[] = []) =>
    aDownPod(down(), {
      spec: { ephemeralContainers: [{ name: 'kdebug-a', image: 'web:1', runId: 'abcdefgh23', copyOf }] },
      status: { ephemeralContainerStatuses: statuses },
    });
  const ended = { exitCode: 1, reason: 'Error', message: '', startedAt: '', finishedAt: '' };

  it('while an earlier one of that container goes on, or may', () => {
    const running = aStatus({ name: 'kdebug-a', running: { startedAt: '2026-11-21T07:30:01Z' } });
    expect(decided({ pod: beside('web', [running]) })).toBe('once_more_goes_on: run abcdefgh23');
    expect(decided({ pod: beside('web') })).toBe('once_more_goes_on: run abcdefgh23');
  });

  it('not beside one that has ended, or of another container', () => {
    expect(decided({ pod: beside('web', [aStatus({ name: 'kdebug-a', terminated: ended })]) })).toBe('needs-approval');
    expect(decided({ pod: beside('worker') })).toBe('needs-approval');
  });

  it.each<[string, string, ContainerStatus]>([
    ['while its container runs', 'once_more_running: web', aStatus({ running: { startedAt: '2026-11-21T07:30:01Z' } })],
    [
      'of what waits for its image',
      'once_more_not_ended: web (ImagePullBackOff)',
      aStatus({ imageID: '', waiting: { reason: 'ImagePullBackOff', message: '' } }),
    ],
    ['of what has no status', 'once_more_not_ended: web (no status yet)', aStatus()],
    ['without a digest', 'once_more_no_digest: web', down({ imageID: 'shop:1' })],
  ])('%s', (_, code, status) => {
    expect(decided({ pod: aDownPod(status) })).toBe(code);
  });

  it('not of what the runtime could not start', () => {
    const waiting = { reason: 'RunContainerError', message: 'exec: "/shop": no such file' };
    expect(decided({ pod: aDownPod(down({ waiting })) })).toBe('needs-approval');
  });

  it('without a variable that the container does not have', () => {
    const request = { onceMore: { withoutEnv: ['DB_URI'] } };
    expect(decided({ request })).toBe('once_more_no_variable: DB_URI of web');
  });

  it('of a container that the pod does not have', () => {
    expect(decided({ request: { targetContainer: { kind: 'named', name: 'db' } } })).toContain(
      'target_container_not_found',
    );
  });

  it.each(['Job', 'StatefulSet'])('in a pod of a %s, unless the rule says so', (kind) => {
    const pod = aDownPod(down(), { metadata: { ownerReferences: [{ kind, name: 'web', controller: true }] } });
    expect(decided({ pod })).toBe(`once_more_workload_not_allowed: ${kind.toLowerCase()}/web`);
    expect(decided({ pod, rules: [approved({ onceMore: ['jobs', 'statefulSets'] })] })).toBe('needs-approval');
    const other = kind === 'Job' ? 'statefulSets' : 'jobs';
    expect(decided({ pod, rules: [approved({ onceMore: [other] })] })).toContain('once_more_workload_not_allowed');
  });

  it('by a rule that has no such class', () => {
    expect(decided({ rules: [approved({ classes: ['observe', 'intrusive'] })] })).toContain('class_not_allowed');
  });
});

describe('a second run always needs an approval', () => {
  it('also where a rule allows its class without one', () => {
    const { approval: _, ...open } = approved();
    expect(decided({ rules: [open] })).toBe('once_more_needs_approval: shop/web-1');
    expect(decided({ rules: [open, approved({ id: 'second' })] })).toBe('needs-approval');
  });

  it('which nobody can give where the rule names no approvers', () => {
    expect(decided({ rules: [approved({ approval: approvalTerms({ from: [] }) })] })).toContain('no_approver');
  });

  it('which no grant replaces', () => {
    const own = plan();
    const { onceMore: _, ...other } = own;
    const nowMs = Date.UTC(2026, 10, 21, 7, 31);
    expect(covers(aGrant({ rule: 'again', scope: grantScope(other) }), other, 'again', nowMs)).toBe(true);
    expect(covers(aGrant({ rule: 'again', scope: grantScope(own) }), own, 'again', nowMs)).toBe(false);
  });
});

it('needs no image of the catalogue', () => {
  expect(decided({ policy: { images: {} } })).toBe('needs-approval');
});

it.each([
  ['Cluster', 'pg'],
  ['Workflow', 'nightly'],
])('the program of a %s, which a rule cannot know, never runs a second time', (kind, name) => {
  const ownerReferences = [{ kind, name, controller: true }];
  const pod = aDownPod(down(), { metadata: { ownerReferences } });
  const rules = [approved({ onceMore: ['jobs', 'statefulSets'] })];
  expect(decided({ pod, rules })).toBe(`once_more_workload_not_allowed: ${kind}/${name}`);
});

describe('a second run with the image of another revision', () => {
  const of = (own: number, images: Readonly<Record<number, string | undefined>>): Revisions => ({
    kind: 'revisions',
    deployment: 'web',
    own,
    all: Object.entries(images).map(([number, image]) => ({ number: Number(number), image })),
  });
  const KEPT = of(42, { 39: 'shop:7', 42: 'shop:9', 41: `shop@${DIGEST}`, 40: undefined, 43: 'shop:10' });
  const named = (imageOf: WantedRevision) => ({ onceMore: { withoutEnv: [], imageOf } });
  const withImageOf = (imageOf: WantedRevision, revisions = KEPT, asked: Asked = {}): Asked => ({
    request: named(imageOf),
    revisions,
    pod: aDownPod(down(), { spec: { containers: [{ name: 'web', image: 'shop:9', securityContext: {} }] } }),
    ...asked,
  });

  it.each<[string, WantedRevision, Revisions, number, string]>([
    ['the one before its own', 'previous', KEPT, 41, `shop@${DIGEST}`],
    ['one by its number', 39, KEPT, 39, 'shop:7'],
    ['a newer one', 43, KEPT, 43, 'shop:10'],
    [
      'the one before, of a pod of an old revision',
      'previous',
      of(41, { 39: 'shop:7', 41: 'shop:8', 43: 'shop:10' }),
      39,
      'shop:7',
    ],
  ])('has that of %s, and all else of the pod', (_, imageOf, revisions, revision, image) => {
    expect(plan(withImageOf(imageOf, revisions))).toMatchObject({
      image,
      imagePullPolicy: 'IfNotPresent',
      class: 'elevated',
      onceMore: { ...ORIGINAL, container: 'web', revision },
    });
  });

  it('is no other plan without it, and another one with it', () => {
    expect(plan().onceMore).not.toHaveProperty('revision');
    const revisions = of(42, { 41: `registry.example.com/shop@${DIGEST}`, 42: 'shop:9' });
    expect(planHash(plan(withImageOf(41, revisions)))).not.toBe(planHash(plan()));
  });

  it('needs an approval all the same', () => {
    expect(decided(withImageOf(41))).toBe('needs-approval');
    const { approval: _, ...open } = approved();
    expect(decided(withImageOf(41, KEPT, { rules: [open] }))).toContain('once_more_needs_approval');
  });

  it('does not need the digest of its own image', () => {
    const pod = aDownPod(down({ imageID: '' }), {
      spec: { containers: [{ name: 'web', image: 'shop:9', securityContext: {} }] },
    });
    expect(decided(withImageOf(41, KEPT, { pod }))).toBe('needs-approval');
  });

  it.each<[string, WantedRevision, Revisions, string]>([
    [
      'kdebug may not read them',
      41,
      { kind: 'no-right', right: 'list replicasets.apps' },
      'once_more_revisions_unreadable: list replicasets.apps in shop',
    ],
    [
      'the pod is of no Deployment',
      'previous',
      { kind: 'none' },
      'once_more_no_revision: web-1 is no revision of a Deployment',
    ],
    [
      'none is before its own',
      'previous',
      of(39, { 39: 'shop:9', 40: 'shop:10' }),
      "once_more_no_revision: deployment/web keeps none before 39, the pod's own",
    ],
    ['none has the number', 38, KEPT, 'once_more_no_revision: deployment/web keeps 39, 40, 41, 42, 43'],
    ['it had no such container', 40, KEPT, 'once_more_no_revision: revision 40 has no container web'],
    [
      'its image is no image',
      41,
      of(42, { 41: 'https://ci:[redacted:secret]@shop', 42: 'shop:9' }),
      'once_more_no_revision: the image of revision 41 has no valid name',
    ],
    ['it is its own', 42, KEPT, 'once_more_same_image: shop:9 of revision 42; revision 43 has another'],
    [
      'it has the same image',
      41,
      of(42, { 40: 'shop:7', 41: 'docker.io/library/shop:9', 42: 'shop:9' }),
      'once_more_same_image: docker.io/library/shop:9 of revision 41; revision 40 has another',
    ],
    [
      'all have the same image',
      'previous',
      of(42, { 41: 'shop:9', 42: 'shop:9' }),
      'once_more_same_image: shop:9 of revision 41; no revision has another',
    ],
    [
      'a webhook changed the image of the pod alone',
      41,
      of(42, { 41: 'mirror/shop:9', 42: 'mirror/shop:9' }),
      'once_more_same_image: mirror/shop:9 of revision 41; no revision has another',
    ],
  ])('is refused where %s', (_, imageOf, revisions, answer) => {
    expect(decided(withImageOf(imageOf, revisions))).toBe(answer);
  });

  it('is refused where two ReplicaSets have its number', () => {
    const all = [41, 41, 42].map((number, index) => ({ number, image: `shop:${index}` }));
    const revisions: Revisions = { kind: 'revisions', deployment: 'web', own: 42, all };
    expect(decided(withImageOf('previous', revisions))).toBe(
      'once_more_no_revision: deployment/web has two ReplicaSets of 41',
    );
  });

  it('is refused while the container runs, whatever the revisions say', () => {
    const pod = aDownPod(aStatus({ running: { startedAt: '2026-11-21T07:30:01Z' } }));
    expect(decided(withImageOf(41, KEPT, { pod }))).toContain('once_more_running');
  });
});
