import { describe, expect, it } from 'vitest';
import type { Pod, PodContainer } from '../../../src/core/container/pod.ts';
import {
  admits,
  blindSpots,
  chooseProfile,
  identityOfTarget,
  kindOfTarget,
  NOBODY,
  PROFILES,
  securityContextOf,
} from '../../../src/core/container/profiles.ts';
import { aPod, aStatus } from '../../support/builders.ts';

// kubectl pkg/cmd/debug/profiles.go, for an ephemeral container in a running pod.
it.each([
  ['general', { capabilities: { add: ['SYS_PTRACE'] } }],
  ['baseline', undefined],
  [
    'restricted',
    {
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
  ],
  ['netadmin', { capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } }],
  ['sysadmin', { privileged: true }],
] as const)('the profile %s sets what kubectl sets', (profile, context) => {
  expect(securityContextOf(profile)).toEqual(context);
});

describe('a user and group', () => {
  it('are added to what the profile sets and change nothing else', () => {
    expect(securityContextOf('baseline', { uid: 0, gid: 0 })).toEqual({ runAsUser: 0, runAsGroup: 0 });
    expect(securityContextOf('restricted', { uid: 7, gid: 8 })).toEqual({
      ...securityContextOf('restricted'),
      runAsUser: 7,
      runAsGroup: 8,
    });
  });
});

const anywhere = { nobody: NOBODY, runAsNonRoot: false, level: 'privileged', allowed: () => true } as const;
const APP = { uid: 1000, gid: 1000 };
const SAID = { ...APP, from: 'spec' } as const;
const ROOT = { uid: 0, gid: 0, from: 'status' } as const;

describe('chooseProfile', () => {
  it("runs as the target's own user and group under restricted when they are known", () => {
    expect(chooseProfile({ ...anywhere, target: SAID })).toEqual({ profile: 'restricted', runAs: APP });
  });

  it('runs as root under general when the target is root, because only then its files can be seen', () => {
    expect(chooseProfile({ ...anywhere, target: ROOT })).toEqual({
      profile: 'general',
      runAs: { uid: 0, gid: 0 },
    });
  });

  it('falls back to baseline where Pod Security refuses SYS_PTRACE', () => {
    expect(chooseProfile({ ...anywhere, target: undefined, level: 'baseline' })?.profile).toBe('baseline');
  });

  it('falls back to nobody under restricted where root never starts', () => {
    const choice = chooseProfile({ ...anywhere, target: undefined, runAsNonRoot: true });
    expect(choice).toEqual({ profile: 'restricted', runAs: { uid: 65532, gid: 65532 } });
  });

  it('takes only what a rule allows without approval', () => {
    const choice = chooseProfile({
      ...anywhere,
      target: ROOT,
      allowed: ({ profile }) => profile === 'baseline',
    });
    expect(choice?.profile).toBe('baseline');
    expect(chooseProfile({ ...anywhere, target: SAID, allowed: () => false })).toBeUndefined();
  });

  it('prefers general to a user that was only learnt, which a pod may have made up', () => {
    const learnt = { ...APP, from: 'learnt' } as const;
    const general = { profile: 'general', runAs: { uid: 0, gid: 0 } };
    expect(chooseProfile({ ...anywhere, target: learnt })).toEqual(general);
    expect(chooseProfile({ ...anywhere, target: { ...APP, from: 'status' } })?.profile).toBe('restricted');
    const withoutGeneral = {
      ...anywhere,
      target: learnt,
      allowed: ({ profile }: { profile: string }) => profile !== 'general',
    };
    expect(chooseProfile(withoutGeneral)).toEqual({ profile: 'restricted', runAs: APP });
    expect(chooseProfile({ ...anywhere, target: learnt, level: 'baseline' })).toEqual({
      profile: 'restricted',
      runAs: APP,
    });
  });

  it('never picks netadmin or sysadmin, even when they are all that is allowed', () => {
    const allowed = ({ profile }: { profile: string }) => profile === 'netadmin' || profile === 'sysadmin';
    expect(chooseProfile({ ...anywhere, target: undefined, allowed })).toBeUndefined();
  });
});

it.each([
  ['privileged', PROFILES],
  ['baseline', ['baseline', 'restricted']],
  ['restricted', ['restricted']],
] as const)('the Pod Security level %s admits %j', (level, admitted) => {
  expect(PROFILES.filter((profile) => admits(level, profile)).sort()).toEqual([...admitted].sort());
});

describe('identityOfTarget', () => {
  const container = (securityContext: object) => ({ name: 'web', image: 'web:1', securityContext });

  it("prefers the container's security context to the pod's and to the status", () => {
    const pod = aPod({
      spec: { securityContext: { runAsUser: 1, runAsGroup: 2 } },
      status: { containerStatuses: [aStatus({ user: { uid: 3, gid: 4 } })] },
    });
    expect(identityOfTarget(pod, container({ runAsUser: 5, runAsGroup: 6 }))).toEqual({ uid: 5, gid: 6, from: 'spec' });
    expect(identityOfTarget(pod, container({}))).toEqual({ uid: 1, gid: 2, from: 'spec' });
  });

  it('takes what the runtime reported when nothing was declared', () => {
    const pod = aPod({ status: { containerStatuses: [aStatus({ user: { uid: 3, gid: 4 } })] } });
    expect(identityOfTarget(pod, container({}))).toEqual({ uid: 3, gid: 4, from: 'status' });
  });

  it('guesses group 0 for a user without a group, as the runtime does', () => {
    expect(identityOfTarget(aPod(), container({ runAsUser: 65532 }))).toEqual({ uid: 65532, gid: 0, from: 'spec' });
  });

  it('takes what was learnt of the image when nothing nearer says it', () => {
    const learnt = { uid: 65532, gid: 65532 };
    const seen = aPod({ status: { containerStatuses: [aStatus({ user: { uid: 3, gid: 4 } })] } });
    expect(identityOfTarget(aPod(), container({}), learnt)).toEqual({ ...learnt, from: 'learnt' });
    expect(identityOfTarget(seen, container({}), learnt)).toEqual({ uid: 3, gid: 4, from: 'status' });
    expect(identityOfTarget(aPod(), container({ runAsUser: 5, runAsGroup: 6 }), learnt)).toEqual({
      uid: 5,
      gid: 6,
      from: 'spec',
    });
  });

  it('knows by what was learnt which group a declared user has, and only for that user', () => {
    const learnt = { uid: 65532, gid: 65532 };
    expect(identityOfTarget(aPod(), container({ runAsUser: 65532 }), learnt)).toEqual({ ...learnt, from: 'spec' });
    expect(identityOfTarget(aPod(), container({ runAsUser: 1000 }), learnt)).toEqual({
      uid: 1000,
      gid: 0,
      from: 'spec',
    });
  });

  it('is undefined when nobody said who the target is', () => {
    expect(identityOfTarget(aPod(), container({}))).toBeUndefined();
  });
});

describe('kindOfTarget', () => {
  const podOf = (imageID: string, spec: Partial<Pod['spec']> = {}, namespace = 'shop') =>
    aPod({ metadata: { namespace }, spec, status: { containerStatuses: [aStatus({ imageID })] } });
  const containers = (over: Partial<PodContainer>) => ({
    containers: [{ name: 'web', image: 'web:1', securityContext: {}, ...over }],
  });
  const kind = (...pod: Parameters<typeof podOf>) => kindOfTarget(podOf(...pod), 'web', 'prod');
  const usual = kind('sha256:feed');

  it('is the same for the digest of an image, whatever registry it came from', () => {
    expect(usual).toContain('sha256:feed');
    expect(kind('docker.io/library/web@sha256:feed')).toBe(usual);
  });

  it('is another one in another namespace, cluster, image, and for another declared user', () => {
    const others = [
      kind('sha256:feed', {}, 'vault'),
      kindOfTarget(podOf('sha256:feed'), 'web', 'test'),
      kind('sha256:f00d'),
      kind('sha256:feed', { securityContext: { runAsUser: 4242 } }),
      kind('sha256:feed', containers({ securityContext: { runAsUser: 0 } })),
    ];
    expect(new Set([usual, ...others]).size).toBe(6);
    expect(others).not.toContain(undefined);
  });

  it('is undefined before the kubelet has named the image', () => {
    expect(kind('')).toBeUndefined();
    expect(kindOfTarget(podOf('sha256:feed'), 'other', 'prod')).toBeUndefined();
  });

  it('is undefined where the pod decides what runs, or whose process is looked at', () => {
    expect(kind('sha256:feed', containers({ hasOwnCommand: true }))).toBeUndefined();
    expect(kind('sha256:feed', { shareProcessNamespace: true })).toBeUndefined();
    expect(kind('sha256:feed', { hostPID: true })).toBeUndefined();
  });
});

describe('blindSpots', () => {
  it.each([
    ['sysadmin', undefined, undefined],
    ['general', { uid: 0, gid: 0 }, APP],
    ['general', undefined, APP],
    ['restricted', APP, APP],
    ['baseline', { uid: 0, gid: 0 }, { uid: 0, gid: 0 }],
  ] as const)('%s as %j sees all of a target that is %j', (profile, runAs, target) => {
    expect(blindSpots(profile, runAs, target)).toEqual([]);
  });

  it.each([
    ['baseline', { uid: 0, gid: 0 }, APP],
    ['netadmin', undefined, APP],
    ['restricted', { uid: 65532, gid: 65532 }, undefined],
    ['restricted', { uid: 1000, gid: 0 }, APP],
    ['general', { uid: 65532, gid: 65532 }, APP],
  ] as const)('%s as %j does not see the files of a target that is %j', (profile, runAs, target) => {
    expect(blindSpots(profile, runAs, target)).toHaveLength(1);
  });

  it('names the user that would see more', () => {
    expect(blindSpots('restricted', { uid: 65532, gid: 65532 }, APP)[0]).toContain('1000:1000');
  });
});
