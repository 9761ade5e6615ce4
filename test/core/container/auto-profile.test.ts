import { describe, expect, it, test } from 'vitest';
import {
  admits,
  blindSpots,
  chooseProfile,
  identityOfTarget,
  imageOfTarget,
} from '../../../src/core/container/auto-profile.ts';
import { PROFILES } from '../../../src/core/container/profiles.ts';
import { aPod, aStatus } from '../../support/builders.ts';

const anywhere = { runAsNonRoot: false, level: 'privileged', allowed: () => true } as const;
const APP = { uid: 1000, gid: 1000 };

describe('chooseProfile', () => {
  it("runs as the target's own user and group under restricted when they are known", () => {
    expect(chooseProfile({ ...anywhere, target: APP })).toEqual({ profile: 'restricted', runAs: APP });
  });

  it('runs as root under general when the target is root, because only then its files can be seen', () => {
    expect(chooseProfile({ ...anywhere, target: { uid: 0, gid: 0 } })).toEqual({
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
      target: { uid: 0, gid: 0 },
      allowed: ({ profile }) => profile === 'baseline',
    });
    expect(choice?.profile).toBe('baseline');
    expect(chooseProfile({ ...anywhere, target: APP, allowed: () => false })).toBeUndefined();
  });

  it('never picks netadmin or sysadmin, even when they are all that is allowed', () => {
    const allowed = ({ profile }: { profile: string }) => profile === 'netadmin' || profile === 'sysadmin';
    expect(chooseProfile({ ...anywhere, target: undefined, allowed })).toBeUndefined();
  });
});

test.each([
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
    expect(identityOfTarget(pod, container({ runAsUser: 5, runAsGroup: 6 }))).toEqual({ uid: 5, gid: 6 });
    expect(identityOfTarget(pod, container({}))).toEqual({ uid: 1, gid: 2 });
  });

  it('takes what the runtime reported when nothing was declared', () => {
    const pod = aPod({ status: { containerStatuses: [aStatus({ user: { uid: 3, gid: 4 } })] } });
    expect(identityOfTarget(pod, container({}))).toEqual({ uid: 3, gid: 4 });
  });

  it('guesses group 0 for a user without a group, as the runtime does', () => {
    expect(identityOfTarget(aPod(), container({ runAsUser: 65532 }))).toEqual({ uid: 65532, gid: 0 });
  });

  it('takes what was learnt of the image when nothing nearer says it', () => {
    const learnt = { uid: 65532, gid: 65532 };
    const seen = aPod({ status: { containerStatuses: [aStatus({ user: { uid: 3, gid: 4 } })] } });
    expect(identityOfTarget(aPod(), container({}), learnt)).toEqual(learnt);
    expect(identityOfTarget(seen, container({}), learnt)).toEqual({ uid: 3, gid: 4 });
    expect(identityOfTarget(aPod(), container({ runAsUser: 5, runAsGroup: 6 }), learnt)).toEqual({ uid: 5, gid: 6 });
  });

  it('knows by what was learnt which group a declared user has, and only for that user', () => {
    const learnt = { uid: 65532, gid: 65532 };
    expect(identityOfTarget(aPod(), container({ runAsUser: 65532 }), learnt)).toEqual(learnt);
    expect(identityOfTarget(aPod(), container({ runAsUser: 1000 }), learnt)).toEqual({ uid: 1000, gid: 0 });
  });

  it('is undefined when nobody said who the target is', () => {
    expect(identityOfTarget(aPod(), container({}))).toBeUndefined();
  });
});

describe('imageOfTarget', () => {
  const podOf = (imageID: string) => aPod({ status: { containerStatuses: [aStatus({ imageID })] } });

  it('is the digest, whatever registry it came from', () => {
    expect(imageOfTarget(podOf('docker.io/library/web@sha256:feed'), 'web')).toBe('sha256:feed');
    expect(imageOfTarget(podOf('sha256:feed'), 'web')).toBe('sha256:feed');
  });

  it('is undefined before the kubelet has named it', () => {
    expect(imageOfTarget(podOf(''), 'web')).toBeUndefined();
    expect(imageOfTarget(podOf('sha256:feed'), 'other')).toBeUndefined();
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
