import { describe, expect, it } from 'vitest';
import { securityContextOf } from '../../../src/core/container/profiles.ts';

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
