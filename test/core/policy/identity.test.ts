import { expect, test } from 'vitest';
import { asUserId } from '../../../src/core/ids.ts';
import { identityFor } from '../../../src/core/policy/identity.ts';
import { anOrigin } from '../../support/builders.ts';

const impersonate = {
  mode: 'impersonate',
  user: 'slack:{teamId}:{userId}',
  groups: ['kdebug:{channelId}'],
  users: { [asUserId('U0BOB')]: 'bob@example.com' },
} as const;

test("the bot's own account acts in serviceAccount mode", () => {
  expect(identityFor({ mode: 'serviceAccount' }, anOrigin())).toBeUndefined();
});

test('templates are filled with the ids of person, team and channel', () => {
  expect(identityFor(impersonate, anOrigin())).toEqual({
    user: 'slack:T0TEAM:U0ROY',
    groups: ['kdebug:C0SHOP'],
    slackUser: 'U0ROY',
  });
});

test('an exception names the person’s Kubernetes user', () => {
  expect(identityFor(impersonate, anOrigin({ requesterId: asUserId('U0BOB') }))?.user).toBe('bob@example.com');
});
