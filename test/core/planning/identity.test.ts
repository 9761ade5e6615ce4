import { describe, expect, it } from 'vitest';
import { asUserId, type UserId } from '../../../src/core/ids.ts';
import { identityFor, isSamePerson, subjectFor } from '../../../src/core/planning/identity.ts';
import { anOrigin } from '../../support/builders.ts';

const impersonate = {
  mode: 'impersonate',
  user: 'slack:{teamId}:{userId}',
  groups: ['kdebug:{channelId}'],
  users: { [asUserId('U0BOB')]: 'bob@example.com' },
} as const;

it("the bot's own account acts in serviceAccount mode", () => {
  expect(identityFor({ mode: 'serviceAccount', users: {} }, anOrigin())).toBeUndefined();
});

it('templates are filled with the ids of person, team and channel', () => {
  expect(identityFor(impersonate, anOrigin())).toEqual({
    user: 'slack:T0TEAM:U0ROY',
    groups: ['kdebug:C0SHOP'],
    slackUser: 'U0ROY',
  });
});

it('an exception names the person’s Kubernetes user', () => {
  expect(identityFor(impersonate, anOrigin({ requesterId: asUserId('U0BOB') }))?.user).toBe('bob@example.com');
});

const roy = anOrigin();
const mapped = (users: Record<string, string>) => users as Record<UserId, string>;

describe('two accounts', () => {
  const users = mapped({ U0ROY: 'roy', U0ROY2: 'roy', U0EVE: 'eve' });

  it.each([{ ...impersonate, users }, { mode: 'serviceAccount', users } as const])(
    'that are mapped to one Kubernetes user are one person in mode $mode',
    (identity) => {
      expect(isSamePerson(identity, roy, 'U0ROY')).toBe(true);
      expect(isSamePerson(identity, roy, 'U0ROY2')).toBe(true);
      expect(isSamePerson(identity, roy, 'U0EVE')).toBe(false);
      expect(isSamePerson(identity, roy, 'U0NEW')).toBe(false);
    },
  );

  it('are one person when one is mapped to the user that the template yields for the other', () => {
    const identity = { ...impersonate, users: mapped({ U0BOB: 'slack:T0TEAM:U0ROY' }) };
    expect(isSamePerson(identity, roy, 'U0BOB')).toBe(true);
    expect(isSamePerson(identity, anOrigin({ requesterId: asUserId('U0BOB') }), 'U0ROY')).toBe(true);
    expect(isSamePerson(identity, roy, 'U0ALICE')).toBe(false);
    expect(isSamePerson({ mode: 'serviceAccount', users: identity.users }, roy, 'U0BOB')).toBe(false);
  });

  it('are not one person because everybody acts as one user', () => {
    const shared = { ...impersonate, user: 'kdebug-people', users: mapped({ U0BOB: 'kdebug-people' }) };
    expect(isSamePerson(shared, roy, 'U0ALICE')).toBe(false);
    expect(isSamePerson(shared, roy, 'U0BOB')).toBe(false);
  });
});

it('who is mapped is asked for by name in serviceAccount mode, and nobody else', () => {
  const identity = { mode: 'serviceAccount', users: { [asUserId('U0ROY')]: 'roy' } } as const;
  expect(subjectFor(identity, 'U0ROY')).toEqual({ user: 'roy', groups: [] });
  expect(subjectFor(identity, 'U0BOB')).toBeUndefined();
  expect(subjectFor(impersonate, 'U0ROY')).toBeUndefined();
});
