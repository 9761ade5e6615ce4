import { beforeEach, describe, expect, it } from 'vitest';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import { identityFor } from '../../../src/core/planning/identity.ts';
import { DIRECT } from '../../../src/core/policy/policy.ts';
import { anOrigin, aPolicy, approvalTerms, aRule } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

const sre = { usergroup: 'S0SRE', users: [] };
const direct = { members: sre, rules: [aRule()] };
const policyWith = (place = direct) => aPolicy({ approvers: { sre }, channels: { [DIRECT]: place } });
const fromBob = anOrigin({ source: 'mention', channelId: asChannelId('D0BOB'), requesterId: asUserId('U0BOB') });
const fromRoy = anOrigin({ source: 'mention', channelId: asChannelId('D0ROY') });

let world: World;
beforeEach(() => {
  world = new World({ policy: policyWith() });
});

describe('a direct message with kdebug', () => {
  it('is refused in one sentence where the policy has no entry for it (channel_needed)', async () => {
    world.policy = aPolicy();
    const answer = await world.say('web-1', fromBob);
    expect(answer?.code).toBe('channel_needed');
    expect(textOf(answer)).toContain('Use kdebug in a channel');
    expect(await world.store.recent('D0BOB', 1)).toEqual([]);
  });

  it('runs for a member of the entry, by its rules, with card and result there', async () => {
    await world.say('web-1', fromBob);
    const run = await world.run();
    expect(run.state).toBe('starting');
    expect(run.plan?.channelId).toBe('D0BOB');
    expect(world.thread.posts[0]?.place).toEqual({ channelId: 'D0BOB' });
  });

  it.each(['web-1', 'images', 'list', 'can-i web-1', ''])(
    'refuses everybody else (direct_not_allowed): %j',
    async (words) => {
      expect((await world.say(words, fromRoy))?.code).toBe('direct_not_allowed');
      expect(await world.store.recent('D0ROY', 1)).toEqual([]);
      expect(world.cluster.calls).toEqual([]);
    },
  );

  it('helps everybody', async () => {
    expect(textOf(await world.say('help', fromRoy))).toContain('/kdebug');
  });

  it('allows nothing that no rule of the entry allows, whatever channels may', async () => {
    const shop = { rules: [aRule({ namespaces: ['vault'] })] };
    world.policy = aPolicy({ approvers: { sre }, channels: { [DIRECT]: direct, [asChannelId('C0SHOP')]: shop } });
    await world.say('web-1 -n vault', fromBob);
    expect(await world.run()).toMatchObject({ state: 'denied', refusal: { code: 'namespace_not_allowed' } });
  });

  it('starts nothing for somebody who has left the group before the launch', async () => {
    const place = { ...direct, rules: [aRule({ approval: approvalTerms() })] };
    world.policy = policyWith(place);
    await world.say('web-1', fromBob);
    expect((await world.run()).state).toBe('pending-approval');
    world.directory.groups.set('S0SRE', new Set(['U0ALICE']));
    await world.click('U0ALICE', 'approve');
    expect(await world.run()).not.toMatchObject({ state: 'running' });
    expect(world.cluster.launches).toEqual([]);
  });

  it('starts nothing while Slack cannot say who is a member', async () => {
    world.directory.faults.add('members', 'slack_unreachable');
    expect((await world.say('web-1', fromBob))?.code).toBe('slack_unreachable');
    expect(await world.store.recent('D0BOB', 1)).toEqual([]);
  });

  it('gives every direct message one Kubernetes group, which can be bound', () => {
    const identity = {
      mode: 'impersonate',
      user: 'slack:{userId}',
      groups: ['kdebug:{channelId}'],
      users: {},
    } as const;
    expect(identityFor(identity, fromBob)?.groups).toEqual(['kdebug:direct']);
  });
});

describe('somebody who may not use kdebug there any more', () => {
  it('reads no more of the log by the button that they still have', async () => {
    await world.say('web-1', fromBob);
    world.cluster.report({ running: { startedAt: '2026-11-21T07:30:01Z' } });
    await settle();
    world.cluster.log = 'secret of today\n';
    const click = () => world.click('U0BOB', 'logs', { channelId: 'D0BOB' });
    expect(JSON.stringify(await click())).toContain('secret of today');
    world.policy = policyWith({ ...direct, members: { usergroup: 'S0NOBODY', users: [] } });
    const after = JSON.stringify(await click());
    expect(after).not.toContain('secret of today');
    expect(world.cluster.calls.filter((call) => call === 'collectLog')).toHaveLength(2);
  });
});
