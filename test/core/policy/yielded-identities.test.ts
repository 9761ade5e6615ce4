import { describe, expect, it } from 'vitest';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import { type KnownPeople, yieldedIdentities } from '../../../src/core/planning/identity.ts';
import type { Identity } from '../../../src/core/policy/policy.ts';

type Impersonate = Extract<Identity, { mode: 'impersonate' }>;

const CHANNELS = [asChannelId('C0SHOP'), asChannelId('C0OPS')];

const yielded = (identity: Partial<Impersonate>, known: KnownPeople = { people: [] }, approverIds: string[] = []) =>
  yieldedIdentities(
    {
      identity: { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {}, ...identity },
      approvers: { sre: { users: approverIds.map(asUserId) } },
    },
    CHANNELS,
    known,
  );

describe('the identities that a policy yields', () => {
  it('are none when the bot acts itself', () => {
    expect(
      yieldedIdentities(
        { identity: { mode: 'serviceAccount', users: { [asUserId('U0ROY')]: 'roy' } }, approvers: {} },
        CHANNELS,
        { people: [] },
      ),
    ).toBe(undefined);
  });

  it('are one group a channel, in order', () => {
    expect(yielded({ groups: ['kdebug:{channelId}', 'kdebug'] })?.groups).toEqual([
      'kdebug',
      'kdebug:C0OPS',
      'kdebug:C0SHOP',
    ]);
  });

  it('are unbounded and unnamed when nothing says who the people are', () => {
    expect(yielded({})).toEqual({ users: [], groups: [], slackUsers: [], unbounded: ['slack:{userId}'] });
  });

  it('are those of the people who are named', () => {
    expect(yielded({}, { people: ['U0ROY', 'U0JO'] }, ['U0BOB'])).toEqual({
      users: ['slack:U0BOB', 'slack:U0JO', 'slack:U0ROY'],
      groups: [],
      slackUsers: ['U0BOB', 'U0JO', 'U0ROY'],
      unbounded: [],
    });
  });

  it('are those of the map alone when it bounds who acts', () => {
    const closed = {
      users: { [asUserId('U0ROY')]: 'roy@example.com' },
      groups: ['of:{userId}', 'in:{channelId}'],
      unmapped: 'deny',
    } as const;
    expect(yielded(closed, { people: ['U0JO'] }, ['U0BOB'])).toEqual({
      users: ['roy@example.com'],
      groups: ['in:C0OPS', 'in:C0SHOP', 'of:U0ROY'],
      slackUsers: ['U0ROY'],
      unbounded: [],
    });
    expect(yielded({ unmapped: 'deny' })).toEqual({ users: [], groups: [], slackUsers: [], unbounded: [] });
  });

  it('stay unbounded when approvers alone are named, because others may ask', () => {
    expect(yielded({}, { people: [] }, ['U0BOB'])).toMatchObject({
      users: ['slack:U0BOB'],
      unbounded: ['slack:{userId}'],
    });
  });

  it('are the exceptions’ own names, not the template’s', () => {
    expect(yielded({ users: { [asUserId('U0ROY')]: 'roy@example.com' } })).toMatchObject({
      users: ['roy@example.com'],
      unbounded: [],
    });
  });

  it('are one user for all, whoever the audit log then names', () => {
    expect(yielded({ user: 'kdebug', users: { [asUserId('U0ROY')]: 'roy' } })).toEqual({
      users: ['kdebug', 'roy'],
      groups: [],
      slackUsers: undefined,
      unbounded: [],
    });
  });

  it('are one user a channel', () => {
    expect(yielded({ user: 'kdebug:{channelId}' })?.users).toEqual(['kdebug:C0OPS', 'kdebug:C0SHOP']);
  });

  it('need the team where a template has it', () => {
    const identity = { user: 'slack:{teamId}:{userId}', groups: ['{teamId}'] };
    expect(yielded(identity, { people: ['U0ROY'] })).toMatchObject({
      users: [],
      groups: [],
      unbounded: ['slack:{teamId}:{userId}', '{teamId}'],
    });
    expect(yielded(identity, { people: ['U0ROY'], teamId: 'T0TEAM' })).toMatchObject({
      users: ['slack:T0TEAM:U0ROY'],
      groups: ['T0TEAM'],
      unbounded: [],
    });
  });

  it('are never Kubernetes’ own', () => {
    const users = { [asUserId('U0EVE')]: 'system:admin' };
    expect(yielded({ user: 'System:x', groups: ['system:masters'], users })).toMatchObject({ users: [], groups: [] });
  });
});
