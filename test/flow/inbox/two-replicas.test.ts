import { expect, it } from 'vitest';
import type { ActionName } from '../../../src/core/actions.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { anOrigin, aPolicy, approvalTerms, aRule } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

it('a button of a batch works whichever replica the click reaches', async () => {
  const rule = aRule({ batch: { maxPods: 50, maxParallelism: 5 } });
  const world = new World({ policy: aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [rule] } } }) });
  world.pipeline.startAdopting();
  await world.say('-l app=web --parallelism=1', anOrigin());
  expect((await world.run()).batch).toMatchObject({ parallelism: 1 });

  const other = new RunSupervisor({ ...world.deps(), owner: 'replica-2' });
  const origin = anOrigin({ dedupeKey: 'two', source: 'slash' });
  const answer = other.inbox.command(origin, `batch ${world.runId} pause`);
  for (let tries = 0; tries < 12; tries += 1) {
    await world.clock.advance(100);
    await settle();
  }
  expect(textOf(await answer)).toContain('batch_elsewhere');
  await world.clock.advance(1_000);
  await settle();
  expect((await world.run()).batch?.paused?.byUserId).toBe('U0ROY');
  expect(world.thread.told).toEqual([]);
});

/** U0BOB approved a run, with a grant; it runs at the first replica, and its card is clicked at the second one. */
async function twoReplicas() {
  const approval = approvalTerms();
  const world = new World({
    policy: aPolicy({
      channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ approval })] } },
      approvers: { sre: { usergroup: 'S0SRE', users: [] } },
    }),
  });
  world.pipeline.startAdopting();
  await world.say('web-1');
  const other = new RunSupervisor({ ...world.deps(), owner: 'replica-2' });
  const click = async (action: ActionName, userId: string): Promise<string> => {
    const { ref } = world.thread.posts[0]!;
    const where = { teamId: 'T0TEAM', channelId: ref.channelId, messageTs: ref.ts };
    const answer = other.inbox.action({ action, value: world.runId, userId, dedupeKey: action, ...where });
    await world.clock.advance(1_200);
    return JSON.stringify(await answer);
  };
  return { world, click };
}

it('a grant ends whichever replica the click reaches, though its run goes on at another one', async () => {
  const { world, click } = await twoReplicas();
  await world.click('U0BOB', 'approve-grant');
  expect(await click('end-grant', 'U0ALICE')).toContain('grant_elsewhere');
  await world.clock.advance(2_000);
  expect(await world.run()).toMatchObject({ state: 'starting', grant: { endedBy: 'U0ALICE' } });
  const ends = world.audit.entries.filter(({ facts }) => facts.verdict === 'ended');
  expect(ends).toMatchObject([{ step: 'grant', actorId: 'U0ALICE' }]);
  expect(world.thread.told).toEqual([]);
});

it('a vote and a cancel that another replica keeps from the run are not said to be decided', async () => {
  const { world, click } = await twoReplicas();
  await world.store.lease(world.runId, 'replica-3');
  const renew = (): void => {
    void world.store.renew('replica-3');
    world.clock.after(1_000, renew);
  };
  renew();
  expect(await click('approve', 'U0BOB')).toContain('run_elsewhere');
  expect(await click('cancel', 'U0ROY')).toContain('run_elsewhere');
  expect((await world.run()).state).toBe('pending-approval');
});
