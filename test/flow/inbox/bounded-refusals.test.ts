import { describe, expect, it } from 'vitest';
import type { ActionName } from '../../../src/core/actions.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import type { Click } from '../../../src/flow/ports/slack.ts';
import { anOrigin, aPolicy, approvalTerms, aRule } from '../../support/builders.ts';
import { World } from '../support/world.ts';

const refuse = (world: World, count: number, teamId = 'T0OTHER'): Promise<unknown> =>
  Promise.all(
    Array.from({ length: count }, (_, n) =>
      world.pipeline.inbox.refused({
        userId: `U${n}`,
        teamId,
        channelId: 'C0SHOP',
        handler: '/kdebug',
        code: 'person_is_outsider',
      }),
    ),
  );

const records = (world: World) => world.audit.entries.map(({ facts }) => [facts.code, facts.count ?? 1]);

describe('refusals at the door', () => {
  it('are recorded one by one, then as one record with their number', async () => {
    const world = new World();
    await refuse(world, 1_000);
    expect(world.audit.entries).toHaveLength(20);
    await world.clock.advance(60_000);
    expect(records(world).at(-1)).toEqual(['refusals_in_one', 980]);
    expect(world.audit.entries.at(-1)?.facts).toMatchObject({ last: 'person_is_outsider', team: 'T0OTHER' });
    await world.clock.advance(600_000);
    expect(world.audit.entries).toHaveLength(21);
    await refuse(world, 1);
    expect(world.audit.entries).toHaveLength(22);
  });

  it('of one team take nothing from another, but countless teams share one bound', async () => {
    const world = new World();
    await refuse(world, 100);
    await refuse(world, 5, 'T0THIRD');
    expect(world.audit.entries).toHaveLength(25);
    for (let team = 0; team < 500; team += 1) await refuse(world, 1, `T${team}`);
    expect(world.audit.entries.length).toBeLessThanOrEqual(25 + 98 + 20);
    await world.clock.advance(60_000);
    const sum = records(world).reduce((all, [, count]) => all + Number(count), 0);
    expect(sum).toBe(605);
  });

  it('are not forgotten while the audit log cannot be written', async () => {
    const world = new World();
    await refuse(world, 30);
    world.audit.faults.add('refusal', 'audit_unavailable');
    await world.clock.advance(60_000);
    expect(world.audit.entries).toHaveLength(20);
    await world.clock.advance(60_000);
    expect(records(world).at(-1)).toEqual(['refusals_in_one', 10]);
  });
});

describe('refused clicks on a known run', () => {
  const attended = () => {
    const rule = aRule({ classes: ['observe', 'intrusive'], approval: approvalTerms({ from: ['sre'] }) });
    const approvers = { sre: { usergroup: 'S0SRE', users: [] } };
    return new World({ policy: aPolicy({ approvers, channels: { [asChannelId('C0SHOP')]: { rules: [rule] } } }) });
  };
  const MANY = 1_000;

  const of = (world: World, userId: string) => world.audit.entries.filter(({ actorId }) => actorId === userId);

  async function clicks(world: World, userId: string, action: ActionName, over: Partial<Click> = {}): Promise<number> {
    for (let n = 0; n < MANY; n += 1) await world.click(userId, action, { dedupeKey: `${userId}-${n}`, ...over });
    await world.clock.advance(60_000);
    return of(world, userId).length;
  }

  it.each([
    ['by an outsider', 'U0MALLORY', 'approve', {}, 'vote_by_outsider'],
    ['by the requester', 'U0ROY', 'approve', {}, 'vote_by_requester'],
    ['on another card', 'U0MALLORY', 'approve', { messageTs: '1.1' }, 'button_stale'],
    ['to withdraw the request of somebody else', 'U0MALLORY', 'cancel', {}, 'not_your_request'],
  ] as const)(
    '%s are 21 records, and the last has the number of the others',
    async (_name, userId, action, over, code) => {
      const world = attended();
      await world.say('web-1 --image=debian -- sleep 600');
      const asked = of(world, userId).length;
      expect((await clicks(world, userId, action, over)) - asked).toBe(21);
      expect(world.audit.entries.at(-1)).toMatchObject({
        step: 'refusal',
        actorId: userId,
        runId: world.runId,
        channelId: 'C0SHOP',
        facts: { code: 'refusals_in_one', last: code, count: MANY - 20, handler: action },
      });
      expect(world.audit.entries.at(-2)).toMatchObject({ step: 'vote', actorId: userId, facts: { verdict: code } });
    },
  );

  it('do not delay the record of a vote that counts, nor that of another person’s refused click', async () => {
    const world = attended();
    await world.say('web-1 --image=debian -- sleep 600');
    for (let n = 0; n < 100; n += 1) await world.click('U0MALLORY', 'approve', { dedupeKey: `m-${n}` });
    await world.click('U0TRUDY', 'approve');
    expect(world.audit.entries.at(-1)).toMatchObject({ actorId: 'U0TRUDY', facts: { verdict: 'vote_by_outsider' } });
    await world.click('U0BOB', 'approve');
    const votes = world.audit.entries.filter(({ step }) => step === 'vote');
    expect(votes.at(-1)).toMatchObject({ actorId: 'U0BOB', facts: { verdict: 'granted' } });
  });

  it('to change a batch are bounded, too', async () => {
    const rule = aRule({ batch: { maxPods: 5, maxParallelism: 1 } });
    const world = new World({ policy: aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [rule] } } }) });
    await world.say('--all -n shop --image=autodiagnose');
    expect(await clicks(world, 'U0MALLORY', 'pause')).toBe(21);
    expect(of(world, 'U0MALLORY').at(-1)?.facts).toMatchObject({ last: 'not_your_batch', count: MANY - 20 });
  });

  it('and what a person may do to a batch over and over is bounded, but never its end', async () => {
    const rule = aRule({ batch: { maxPods: 5, maxParallelism: 1 } });
    const world = new World({ policy: aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [rule] } } }) });
    await world.say('--all -n shop --image=autodiagnose');
    const changes = () => of(world, 'U0ROY').filter(({ step }) => step === 'batch');
    const click = (n: number) => world.click('U0ROY', n % 2 ? 'resume' : 'pause', { dedupeKey: `${n}` });
    for (let n = 0; n < MANY; n += 1) await click(n);
    expect(changes()).toHaveLength(24 + 20);
    expect(await click(0)).toMatchObject({ kind: 'message' });
    await world.click('U0ROY', 'cancel');
    expect(changes().at(-1)?.facts).toMatchObject({ kind: 'cancel', verdict: 'allowed' });
    await world.clock.advance(60_000);
    const rest = of(world, 'U0ROY').filter(({ facts }) => facts.code === 'refusals_in_one');
    expect(rest.map(({ facts }) => [facts.last, facts.count])).toEqual([['limit_per_person', MANY + 1 - 24 - 20]]);
  });

  it('and requests beyond a limit are bounded, too', async () => {
    const world = new World();
    const before = () => world.audit.entries.filter(({ facts }) => facts.code === 'limit_per_person').length;
    for (let n = 0; n < 100; n += 1)
      await world.pipeline.inbox.command(anOrigin({ dedupeKey: `${n}` }), 'web-1 --image=debian -- sleep 600');
    expect(before()).toBe(20);
  });

  it('are recorded before the process ends', async () => {
    const world = attended();
    await world.say('web-1 --image=debian -- sleep 600');
    for (let n = 0; n < 30; n += 1) await world.click('U0MALLORY', 'approve', { dedupeKey: `m-${n}` });
    const drained = world.pipeline.drain(0);
    await world.clock.advance(1_000);
    await drained;
    expect(world.audit.entries.at(-1)?.facts).toMatchObject({ code: 'refusals_in_one', count: 10 });
    const { length } = world.audit.entries;
    await world.clock.advance(60_000);
    expect(world.audit.entries).toHaveLength(length);
  });
});
