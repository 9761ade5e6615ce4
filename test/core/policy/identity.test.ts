import { expect, test } from 'vitest';
import { asUserId } from '../../../src/core/ids.ts';
import { identityFor, isSamePerson, subjectFor } from '../../../src/core/policy/identity.ts';
import { anOrigin } from '../../support/builders.ts';

const impersonate = {
  mode: 'impersonate',
  user: 'slack:{teamId}:{userId}',
  groups: ['kdebug:{channelId}'],
  users: { [asUserId('U0BOB')]: 'bob@example.com' },
} as const;

test("the bot's own account acts in serviceAccount mode", () => {
  expect(identityFor({ mode: 'serviceAccount', users: {} }, anOrigin())).toBeUndefined();
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

test('two accounts with one Kubernetes user are one person', () => {
  const users = { [asUserId('U0BOB')]: 'bob', [asUserId('U0BOB2')]: 'bob', [asUserId('U0EVE')]: 'eve' };
  for (const identity of [{ ...impersonate, users }, { mode: 'serviceAccount', users } as const]) {
    expect(isSamePerson(identity, 'U0BOB', 'U0BOB2')).toBe(true);
    expect(isSamePerson(identity, 'U0BOB', 'U0EVE')).toBe(false);
    expect(isSamePerson(identity, 'U0NEW', 'U0NEW')).toBe(true);
    expect(isSamePerson(identity, 'U0NEW', 'U0OLD')).toBe(false);
  }
});

test('who is mapped is asked for by name in serviceAccount mode, and nobody else', () => {
  const identity = { mode: 'serviceAccount', users: { [asUserId('U0ROY')]: 'roy' } } as const;
  expect(subjectFor(identity, 'U0ROY')).toEqual({ user: 'roy', groups: [] });
  expect(subjectFor(identity, 'U0BOB')).toBeUndefined();
  expect(subjectFor(impersonate, 'U0ROY')).toBeUndefined();
});
