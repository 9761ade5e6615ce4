import { describe, expect, it } from 'vitest';
import { type ClassFact, classText } from '../../../src/core/container/class-facts.ts';
import { IMAGE_CLASSES, worseClass } from '../../../src/core/container/image-class.ts';
import type { PodContainer } from '../../../src/core/container/pod.ts';
import { NOBODY, type Profile, securityContextOf, type UserAndGroup } from '../../../src/core/container/profiles.ts';
import { classOfLaunch, type Launch } from '../../../src/core/planning/launch-class.ts';
import { aPod, aStatus, aTermination, type PodParts } from '../../support/builders.ts';

const ROOT: UserAndGroup = { uid: 0, gid: 0 };

/** A profile, as whom; absent: as the image's user. */
type As = readonly [Profile, UserAndGroup | undefined];

interface Parts {
  readonly spec?: PodParts['spec'];
  readonly status?: PodParts['status'];
  readonly target?: string | undefined;
  readonly learnt?: UserAndGroup;
  readonly as?: As;
  readonly imageClass?: Launch['imageClass'];
  readonly traces?: boolean;
  readonly ownWords?: boolean;
}

function judged(parts: Parts) {
  const { spec, status, as: [profile, runAs] = ['general', ROOT] } = parts;
  return classOfLaunch({
    pod: aPod({ ...(spec && { spec }), ...(status && { status }) }),
    targetName: 'target' in parts ? parts.target : 'web',
    learnt: parts.learnt,
    securityContext: securityContextOf(profile, runAs),
    imageClass: parts.imageClass ?? 'observe',
    traces: parts.traces ?? false,
    ownWords: parts.ownWords ?? false,
  });
}

const factsOf = (parts: Parts): readonly ClassFact[] => judged(parts).reasons.map(({ fact }) => fact);

const container = (parts: Partial<PodContainer> = {}): PodContainer => ({
  name: 'web',
  image: 'web:1',
  securityContext: {},
  ...parts,
});
const HOST_PATH = { sharedVolumes: [{ name: 'host', kind: 'hostPath' }] };
/** A pod whose target runs as 1000. */
const AS_1000 = { securityContext: { runAsUser: 1000, runAsGroup: 1000 } };
const SELF = ['restricted', { uid: 1000, gid: 1000 }] as const;
const STRANGER = ['restricted', NOBODY] as const;

describe('an image that runs its own command, in an ordinary pod', () => {
  it.each([['general', ROOT] as const, ['baseline', ROOT] as const, ['general', undefined] as const, STRANGER])(
    'is what its catalogue says (%s)',
    (...as) => {
      for (const imageClass of IMAGE_CLASSES)
        expect(judged({ as, imageClass })).toEqual({ class: imageClass, reasons: [] });
    },
  );

  it('is so as the user of its target, too', () => {
    expect(judged({ spec: AS_1000, as: SELF }).class).toBe('observe');
  });
});

describe('a launch is elevated', () => {
  it.each([
    ['hostPID', 'host-pid'],
    ['hostNetwork', 'host-network'],
    ['hostIPC', 'host-ipc'],
  ] as const)('in a pod with %s, whatever the profile, user and target', (field, fact) => {
    for (const as of [['general', ROOT], STRANGER, SELF] as const)
      for (const target of ['web', undefined])
        expect(judged({ spec: { ...AS_1000, [field]: true }, as, target })).toMatchObject({ class: 'elevated' });
    expect(factsOf({ spec: { [field]: true }, as: STRANGER, target: undefined })).toEqual([fact]);
  });

  it.each<[string, Partial<PodContainer>, ClassFact]>([
    ['mounts the node', HOST_PATH, 'shared-volume'],
    ['is privileged', { securityContext: { privileged: true } }, 'privileged-container'],
    ['has another capability', { securityContext: { capabilities: ['SYS_ADMIN'] } }, 'capable-container'],
    ['has all capabilities', { securityContext: { capabilities: ['ALL'] } }, 'capable-container'],
    ['has an unmasked /proc', { securityContext: { unmaskedProc: true } }, 'unmasked-proc'],
    ['has a free SELinux type', { securityContext: { seLinux: { type: 'spc_t' } } }, 'unconfined-container'],
    ['has an SELinux user', { securityContext: { seLinux: { user: 'system_u' } } }, 'unconfined-container'],
    ['has an SELinux role', { securityContext: { seLinux: { role: 'system_r' } } }, 'unconfined-container'],
    ['is not under AppArmor', { securityContext: { appArmor: 'Unconfined' } }, 'unconfined-container'],
    ['is not under seccomp', { securityContext: { seccomp: 'Unconfined' } }, 'unconfined-container'],
  ])('when its target %s, for root and for the same user', (_, parts, fact) => {
    const spec = { containers: [container(parts)] };
    expect(factsOf({ spec })).toEqual([fact]);
    expect(factsOf({ spec, as: ['baseline', undefined] })).toEqual([fact]);
    expect(factsOf({ spec: { ...spec, ...AS_1000 }, as: SELF })).toEqual([fact]);
    expect(factsOf({ spec, as: STRANGER }), 'an unknown user may be the same').toEqual([fact]);
    expect(factsOf({ spec: { ...spec, ...AS_1000 }, as: STRANGER }), 'another user cannot').toEqual([]);
    expect(factsOf({ spec, target: undefined }), 'without a target nothing is in sight').toEqual([]);
  });

  it('not by the capabilities that every container has', () => {
    const spec = {
      containers: [container({ securityContext: { capabilities: ['NET_RAW', 'CAP_KILL', 'SYS_PTRACE'] } })],
    };
    expect(judged({ spec }).class).toBe('observe');
  });

  it.each([
    ['the container’s user', { containers: [container({ securityContext: { runAsUser: 1000 } })] }, {}],
    ['the pod’s user', AS_1000, {}],
    ['runAsNonRoot of the container', { containers: [container({ securityContext: { runAsNonRoot: true } })] }, {}],
    ['the kubelet’s word', {}, { containerStatuses: [aStatus({ user: { uid: 1000, gid: 0 } })] }],
  ])('as root beside a target that is not root by %s', (_, spec, status) => {
    expect(judged({ spec, status })).toEqual({
      class: 'elevated',
      reasons: [{ fact: 'root-in-non-root', container: 'web' }],
    });
  });

  it('as root beside a target that a diagnosis has found to be somebody else', () => {
    expect(factsOf({ learnt: { uid: 1000, gid: 0 } })).toEqual(['root-in-non-root']);
    expect(factsOf({ learnt: ROOT })).toEqual([]);
  });

  it('as an image’s unknown user, who may be root, unless the pod lets nobody be root', () => {
    const spec = { containers: [container({ securityContext: { runAsUser: 1000 } })] };
    expect(factsOf({ spec, as: ['general', undefined] })).toEqual(['root-in-non-root']);
    expect(factsOf({ spec: { ...spec, securityContext: { runAsNonRoot: true } }, as: ['general', undefined] })).toEqual(
      [],
    );
    expect(factsOf({ spec: AS_1000, as: ['general', undefined] }), 'the pod’s user is ours').toEqual([]);
  });

  it('as root without a target in a pod that asks for another user', () => {
    expect(factsOf({ spec: AS_1000, target: undefined })).toEqual(['root-in-non-root']);
    expect(factsOf({ spec: { securityContext: { runAsNonRoot: true } }, target: undefined })).toEqual([
      'root-in-non-root',
    ]);
    expect(factsOf({ target: undefined })).toEqual([]);
  });

  it('with the profiles sysadmin and netadmin', () => {
    expect(judged({ as: ['sysadmin', undefined] })).toEqual({ class: 'elevated', reasons: [{ fact: 'privileged' }] });
    expect(judged({ as: ['netadmin', undefined], target: undefined })).toEqual({
      class: 'elevated',
      reasons: [
        { fact: 'capabilities', detail: 'NET_ADMIN' },
        { fact: 'capabilities', detail: 'NET_RAW' },
      ],
    });
  });
});

describe('what a pod loosens for all its containers', () => {
  const CASES: readonly (readonly [PodParts['spec'] & object, string])[] = [
    [{ securityContext: { seLinux: { type: 'spc_t' } } }, 'SELinux spc_t'],
    [{ securityContext: { seLinux: { type: 'container_t', user: 'unconfined_u' } } }, 'SELinux unconfined_u'],
    [{ securityContext: { seLinux: { role: 'unconfined_r' } } }, 'SELinux unconfined_r'],
    [{ securityContext: { appArmor: 'Unconfined' } }, 'AppArmor Unconfined'],
    [{ securityContext: { appArmor: 'SomethingOfTomorrow' } }, 'AppArmor SomethingOfTomorrow'],
    [{ securityContext: { seccomp: 'Unconfined' } }, 'seccomp Unconfined'],
  ];

  it.each(CASES)('is inherited by the debug container, with and without a target (%j)', (spec, detail) => {
    for (const target of ['web', undefined])
      expect(judged({ spec, target })).toEqual({ class: 'elevated', reasons: [{ fact: 'unconfined', detail }] });
  });

  it('is in reach where the profile restricted keeps its own seccomp', () => {
    const securityContext = { runAsUser: 1000, runAsGroup: 1000, seccomp: 'Unconfined' };
    const detail = 'seccomp Unconfined';
    expect(judged({ spec: { securityContext }, as: SELF }).reasons).toEqual([
      { fact: 'unconfined-container', container: 'web', detail },
    ]);
    expect(judged({ spec: { securityContext }, as: STRANGER })).toEqual({ class: 'observe', reasons: [] });
    expect(
      factsOf({ spec: { securityContext: { ...securityContext, appArmor: 'Unconfined' } }, as: STRANGER }),
    ).toEqual(['unconfined']);
  });

  it('is not in reach where the target says otherwise, though the debug container inherits it', () => {
    const spec = {
      securityContext: { seLinux: { type: 'spc_t' }, appArmor: 'Unconfined', seccomp: 'Unconfined' },
      containers: [container({ securityContext: { seLinux: {}, appArmor: 'Localhost', seccomp: 'RuntimeDefault' } })],
    };
    const { reasons } = judged({ spec });
    expect(reasons.map(({ fact }) => fact)).toEqual(['unconfined', 'unconfined', 'unconfined']);
    expect(factsOf({ spec: { ...spec, securityContext: {} } })).toEqual([]);
  });

  it.each([undefined, '', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'])(
    'is not the SELinux type %s, nor a profile of the runtime or the node',
    (type) => {
      const seLinux = { ...(type !== undefined && { type }), user: '', role: '' };
      for (const profile of ['RuntimeDefault', 'Localhost']) {
        const securityContext = { seLinux, appArmor: profile, seccomp: profile };
        expect(judged({ spec: { securityContext } })).toEqual({ class: 'observe', reasons: [] });
        const containers = [container({ securityContext })];
        expect(judged({ spec: { containers } })).toEqual({ class: 'observe', reasons: [] });
      }
    },
  );

  it('is told beside what a container in reach loosens further', () => {
    const spec = {
      shareProcessNamespace: true,
      securityContext: { appArmor: 'Unconfined' },
      containers: [container(), container({ name: 'agent', securityContext: { seLinux: { type: 'spc_t' } } })],
    };
    const { class: worst, reasons } = judged({ spec, target: undefined });
    expect(classText(worst, reasons)).toBe(
      'elevated: a container in reach with weaker confinement than usual (agent: SELinux spc_t); ' +
        'the debug container gets weaker confinement than usual from its pod (AppArmor Unconfined)',
    );
  });
});

describe('with shared processes every container counts', () => {
  const app = container({ name: 'app', securityContext: { runAsUser: 1000 } });
  const shared = { shareProcessNamespace: true, containers: [container(), app] };

  it.each([undefined, 'web', 'app'])('with the target %s', (target) => {
    expect(judged({ spec: shared, target }).reasons).toEqual([{ fact: 'root-in-non-root', container: 'app' }]);
    expect(factsOf({ spec: { ...shared, shareProcessNamespace: false }, target: 'web' })).toEqual([]);
  });

  it('and so does a sidecar among the init containers, but not one that has run', () => {
    const init = container({ name: 'init', ...HOST_PATH });
    const spec = { shareProcessNamespace: true };
    expect(factsOf({ spec: { ...spec, initContainers: [{ ...init, restartPolicy: 'Always' }] } })).toEqual([
      'shared-volume',
    ]);
    const status = { initContainerStatuses: [aStatus({ name: 'init', terminated: aTermination() })] };
    expect(factsOf({ spec: { ...spec, initContainers: [init] }, status })).toEqual([]);
    expect(factsOf({ spec: { initContainers: [init] }, target: 'init' }), 'the target itself').toEqual([
      'shared-volume',
    ]);
  });
});

describe('with shared processes an init container counts until it has run', () => {
  const init = container({ name: 'init', securityContext: { privileged: true, runAsUser: 0 } });
  const spec = { shareProcessNamespace: true, initContainers: [init] };

  it.each([
    ['it runs', { running: { startedAt: '2026-11-21T07:30:01Z' } }],
    ['it waits', { waiting: { reason: 'PodInitializing', message: '' } }],
    ['it has failed and is tried again', { terminated: aTermination({ exitCode: 1 }) }],
  ])('while %s', (_, state) => {
    const status = { initContainerStatuses: [aStatus({ name: 'init', ...state })] };
    expect(factsOf({ spec, status, target: undefined })).toEqual(['privileged-container']);
    expect(factsOf({ spec, status, target: 'web' })).toEqual(['privileged-container']);
  });

  it('so that a free command beside it is not milder than what it reaches', () => {
    const migration = container({ name: 'init', securityContext: { runAsUser: NOBODY.uid } });
    const setUp = { ...AS_1000, shareProcessNamespace: true, initContainers: [migration] };
    expect(judged({ spec: setUp, as: STRANGER, ownWords: true, target: undefined }).class).toBe('intrusive');
  });
});

describe('an earlier debug container', () => {
  const privileged = { name: 'old', image: 'x', targetContainerName: 'web', securityContext: { privileged: true } };
  const spec = { ephemeralContainers: [privileged] };

  it('counts while it has not ended', () => {
    expect(judged({ spec }).reasons).toEqual([{ fact: 'privileged-container', container: 'old' }]);
    const ended = { ephemeralContainerStatuses: [aStatus({ name: 'old', terminated: aTermination() })] };
    expect(factsOf({ spec, status: ended })).toEqual([]);
  });

  it('counts only where it joined the same target, or processes are shared', () => {
    const other = { ephemeralContainers: [{ ...privileged, targetContainerName: 'app' }] };
    expect(factsOf({ spec: other })).toEqual([]);
    expect(factsOf({ spec, target: undefined })).toEqual([]);
    expect(factsOf({ spec: { ...other, shareProcessNamespace: true } })).toEqual(['privileged-container']);
  });

  it('of another user makes ours no more than its target', () => {
    const own = { name: 'old', image: 'x', targetContainerName: 'web', securityContext: { runAsUser: 1000 } };
    expect(judged({ spec: { ephemeralContainers: [own] } }).class).toBe('observe');
  });
});

describe('a free command', () => {
  const free = { ownWords: true };

  it.each([['general', ROOT] as const, ['baseline', ROOT] as const, ['general', undefined] as const, SELF])(
    'is at least intrusive (%s)',
    (...as) => {
      expect(judged({ ...free, spec: { containers: [container()] }, as })).toEqual({
        class: 'intrusive',
        reasons: [{ fact: 'own-words' }],
      });
    },
  );

  it('is intrusive under restricted, too, where it may be the user of its target', () => {
    expect(judged({ ...free, as: STRANGER }).class).toBe('intrusive');
    expect(judged({ ...free, spec: AS_1000, as: SELF }).class).toBe('intrusive');
  });

  it('is what its catalogue says under restricted, where it cannot see its target', () => {
    expect(judged({ ...free, spec: AS_1000, as: STRANGER })).toEqual({ class: 'observe', reasons: [] });
    expect(judged({ ...free, as: STRANGER, target: undefined }).class).toBe('observe');
    expect(judged({ ...free, as: ['baseline', ROOT], target: undefined }).class).toBe('intrusive');
  });

  it('is not made milder by what was learnt, which a pod can make a report say', () => {
    for (const learnt of [{ uid: 1000, gid: 1000 }, ROOT])
      expect(judged({ ...free, as: STRANGER, learnt })).toEqual({
        class: 'intrusive',
        reasons: [{ fact: 'own-words' }],
      });
    const spec = { containers: [container(HOST_PATH)] };
    expect(factsOf({ spec, as: STRANGER, learnt: { uid: 1000, gid: 1000 } })).toEqual(['shared-volume']);
  });

  it('may become root by a program of its image, unless privilege escalation is off', () => {
    const as = ['general', undefined] as const;
    expect(factsOf({ spec: AS_1000, as })).toEqual([]);
    expect(factsOf({ ...free, spec: AS_1000, as })).toEqual(['root-in-non-root']);
    expect(factsOf({ ...free, spec: AS_1000, as: SELF })).toEqual(['own-words']);
  });

  it('of an elevated image stays elevated', () => {
    expect(judged({ ...free, imageClass: 'elevated' })).toEqual({ class: 'elevated', reasons: [] });
  });
});

it('a tracer is intrusive at least, in whatever pod, and is named beside a higher class', () => {
  expect(judged({ traces: true })).toEqual({ class: 'intrusive', reasons: [{ fact: 'tracer' }] });
  expect(judged({ traces: true, target: undefined, as: STRANGER }).class).toBe('intrusive');
  const { class: worst, reasons } = judged({ traces: true, spec: { hostPID: true } });
  expect(classText(worst, reasons)).toBe(
    "elevated: the pod shares the node's processes (hostPID); the image seizes its target (ptrace)",
  );
  expect(judged({ traces: true, imageClass: 'elevated' })).toEqual({
    class: 'elevated',
    reasons: [{ fact: 'tracer' }],
  });
});

it('the words of a class name the facts, and where they are', () => {
  const { class: worst, reasons } = judged({ spec: { hostPID: true, containers: [container(HOST_PATH)] } });
  expect(classText(worst, reasons)).toBe(
    "elevated: the pod shares the node's processes (hostPID); a volume that reaches beyond the pod (web: hostPath host)",
  );
  expect(classText('observe', [])).toBe('observe');
});

it.each([
  ['observe', 'observe', 'observe'],
  ['observe', 'intrusive', 'intrusive'],
  ['elevated', 'intrusive', 'elevated'],
] as const)('of %s and %s the worse is %s, in either order', (a, b, worse) => {
  expect([worseClass(a, b), worseClass(b, a)]).toEqual([worse, worse]);
});
