import { describe, expect, it } from 'vitest';
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
