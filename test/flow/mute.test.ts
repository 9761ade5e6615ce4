import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../src/core/ids.ts';
import { anOrigin, aPolicy, approvalTerms, aRule, aTermination } from '../support/builders.ts';
import { settle } from '../support/fake-clock.ts';
import { textOf } from '../support/plain-message.ts';
import { World } from './support/world.ts';

const REJECTED = 'slack_token_rejected';

/** A world that needs an approval for whatever it launches, with a request that waits for one. */
async function pending(): Promise<World> {
  const rules = [aRule({ id: 'attach', approval: approvalTerms() })];
  const approvers = { sre: { usergroup: 'S0SRE', users: [] } };
  const world = new World({ policy: aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules } }, approvers }) });
  await world.say('web-1');
  expect((await world.run()).state).toBe('pending-approval');
  return world;
}

describe('while Slack rejects the token', () => {
  it('a request is answered with its acknowledgement, and leaves nothing behind', async () => {
    const world = new World();
    world.token.answer(false);
    expect(textOf(await world.say('web-1'))).toContain(REJECTED);
    expect(await world.store.read(world.runId)).toBeUndefined();
    expect(world.cluster.calls).toEqual([]);
  });

  it('a request that came before anybody knew is refused before the launch, and says so where that needs no token', async () => {
    const world = new World();
    world.token.isGood = false;
    expect(await world.say('web-1')).toBeUndefined();
    expect((await world.run()).refusal?.code).toBe(REJECTED);
    expect(world.cluster.launches).toEqual([]);
    expect(world.refusal).toContain(REJECTED);
  });

  it('an approval is not carried out, and the request goes on waiting', async () => {
    const world = await pending();
    world.token.isGood = false;
    expect(textOf(await world.click('U0BOB', 'approve'))).toContain(REJECTED);
    expect((await world.run()).state).toBe('pending-approval');
    world.token.isGood = true;
    await world.click('U0BOB', 'approve');
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('a request can be rejected all the same', async () => {
    const world = await pending();
    world.token.isGood = false;
    await world.click('U0BOB', 'reject');
    expect((await world.run()).state).toBe('rejected');
  });

  it('what was approved before is not launched', async () => {
    const world = await pending();
    const lease = await world.store.lease(world.runId, 'replica-0');
    const run = await world.run();
    const atMs = world.clock.now();
    const votes = [{ userId: 'U0BOB', kind: 'approve', atMs }] as const;
    await world.store.save(
      { ...run, state: 'approved', approvedAtMs: atMs, approval: { ...run.approval!, votes } },
      lease!.fence,
    );
    world.token.isGood = false;
    world.clock.standStill(60_000);
    world.pipeline.startAdopting();
    await world.clock.advance(1_000);
    expect((await world.run()).refusal?.code).toBe(REJECTED);
    expect(world.cluster.launches).toEqual([]);
  });

  it('a dry run asks Slack nothing: it launches nothing', async () => {
    const world = new World();
    await world.say('web-1 --dry-run');
    expect(world.token.asked).toBe(0);
  });
});

describe('a run that was under way', () => {
  /** Its container has ended, and Slack has rejected the result often enough for a pause of a minute. */
  async function untold(): Promise<World> {
    const world = new World();
    await world.say('web-1 --image=debian -- id');
    world.token.answer(false);
    for (let tries = 0; tries < 30; tries += 1) world.thread.faults.add('post', REJECTED);
    for (let tries = 0; tries < 30; tries += 1) world.thread.faults.add('update', REJECTED);
    world.cluster.report({ terminated: aTermination() });
    await world.clock.advance(200_000);
    expect((await world.run()).outcome).toEqual({ kind: 'succeeded' });
    expect(world.result()).toBeUndefined();
    return world;
  }

  const good = (world: World): void => {
    world.thread.faults.clear();
    world.token.answer(true);
  };

  it('is told at once when the token is accepted again, however long the pause between two tries', async () => {
    const world = await untold();
    const beforeMs = world.clock.now();
    good(world);
    await settle();
    expect(textOf(world.result())).toContain('Succeeded');
    expect(world.clock.now()).toBe(beforeMs);
    expect((await world.run()).delivery.closed).toBe(true);
  });

  it('is one line in the log when its updates begin to fail and one when they are done', async () => {
    const world = await untold();
    good(world);
    await settle();
    expect(world.logged.filter(({ message }) => message.startsWith('Slack update'))).toEqual([
      {
        level: 'warn',
        message: 'Slack update failed, will retry',
        fields: expect.objectContaining({ reason: REJECTED }),
      },
      {
        level: 'info',
        message: 'Slack update succeeded after retries',
        fields: expect.objectContaining({ runId: world.runId }),
      },
    ]);
  });
});

it('leases that cannot be renewed for a minute are two lines in the log', async () => {
  const world = new World();
  world.pipeline.startAdopting();
  await settle();
  const renew = world.store.renew.bind(world.store);
  world.store.renew = () => Promise.reject(new Error('away'));
  await world.clock.advance(60_000);
  world.store.renew = renew;
  await world.clock.advance(2_000);
  expect(world.logged.filter(({ message }) => message.includes('lease'))).toEqual([
    { level: 'warn', message: 'could not renew leases, will retry', fields: { reason: 'internal_error' } },
    {
      level: 'info',
      message: 'leases renewed again',
      fields: { reason: 'internal_error', lastedMs: expect.any(Number), failures: 60 },
    },
  ]);
  expect(await world.say('web-1', anOrigin())).toBeUndefined();
});
