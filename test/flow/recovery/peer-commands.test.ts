import { beforeEach, describe, expect, it } from 'vitest';
import { asChannelId, asRunId } from '../../../src/core/ids.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { HeldRun, type RunChanger } from '../../../src/flow/context/held-run.ts';
import { BoundedRefusals } from '../../../src/flow/context/refusals.ts';
import { applyPeerCommands } from '../../../src/flow/recovery/peer-commands.ts';
import { aBatchRun, ended } from '../../core/say/batch/a-batch-run.ts';
import { aPolicy, aRule } from '../../support/builders.ts';
import { DeskWorld, textOf } from '../inbox/desk-world.ts';

let desk: DeskWorld;
beforeEach(() => {
  desk = new DeskWorld();
  const rule = aRule({ batch: { maxPods: 50, maxParallelism: 5 } });
  desk.world.policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [rule] } } });
});

/** The replica that holds the run looks at what was left for it. */
async function holderLooks(run: Run): Promise<void> {
  const deps = desk.world.deps();
  const runs: RunChanger = {
    change: async (id, act) => {
      const lease = await deps.store.lease(id, 'the-holder');
      return lease && 'run' in lease ? act(new HeldRun(lease, deps)) : 'elsewhere';
    },
  };
  await applyPeerCommands([run], { deps, runs, refusals: new BoundedRefusals(deps) });
}

describe('a batch that another replica works on', () => {
  beforeEach(() => {
    desk.isElsewhere = true;
  });

  it('is changed there, and who asked is told that it was passed on', async () => {
    const run = aBatchRun();
    await desk.keep(run);
    expect(textOf(await desk.type(`batch ${run.id} --parallelism=3 --replicas=2`))).toContain('batch_elsewhere');
    await desk.click('pause', run);
    expect((await desk.now(run)).batch).toEqual(run.batch);
    await holderLooks(run);
    expect((await desk.now(run)).batch).toMatchObject({ parallelism: 3, replicas: 2, paused: { byUserId: 'U0ROY' } });
    expect(desk.recorded()).toMatchObject([{ kind: 'scale' }, { kind: 'pause' }]);
    expect(desk.world.thread.told).toEqual([]);
  });

  it('is judged there again: who is refused is told privately', async () => {
    const run = aBatchRun();
    await desk.keep(run);
    await desk.click('pause', run);
    await desk.world.store.notes.leave(run.id, JSON.stringify({ change: { kind: 'cancel' }, userId: 'U0EVE' }));
    await desk.type(`batch ${run.id} --parallelism=6`);
    await holderLooks(run);
    const told = desk.world.thread.told.map(({ person, message }) => [person.userId, JSON.stringify(message)]);
    expect(told).toEqual([
      ['U0EVE', expect.stringContaining('not_your_batch')],
      ['U0ROY', expect.stringContaining('parallelism_not_allowed')],
    ]);
    expect((await desk.now(run)).batch?.closed).toBeUndefined();
  });

  it('loses no note when one cannot be heeded now, or its person not be told', async () => {
    const run = aBatchRun();
    await desk.keep(run);
    await desk.type(`batch ${run.id} --parallelism=6`);
    await desk.type(`batch ${run.id} --parallelism=6`);
    await desk.click('pause', run);
    desk.world.thread.faults.add('tell', 'slack_unanswered');
    desk.world.audit.faults.add('batch', 'audit_unavailable');
    await holderLooks(run);
    expect((await desk.now(run)).batch).toMatchObject({ paused: { byUserId: 'U0ROY' } });
    expect(desk.world.thread.told).toEqual([]);
    await holderLooks(run);
    expect(desk.world.thread.told).toHaveLength(1);
  });

  it('takes no note of an outsider, and none for what is over', async () => {
    const run = aBatchRun();
    await desk.keep(run);
    expect(textOf(await desk.click('pause', run, { userId: 'U0EVE' }))).toContain('not_your_batch');
    const over = aBatchRun({ size: 1, events: ended(0, 0), run: { id: asRunId('otherother') } });
    await desk.keep(over);
    expect(textOf(await desk.click('pause', over))).toContain('batch_unchangeable');
    expect(await desk.world.store.notes.read(over.id)).toEqual([]);
    expect(await desk.world.store.notes.read(run.id)).toEqual([]);
  });

  it.each(['x', '{}', '[]', 'null', '{"change":{"kind":"explode"},"userId":"U0ROY"}', '{"change":1,"userId":2}'])(
    'the note %s of another version is left out',
    async (note) => {
      const run = aBatchRun();
      await desk.keep(run);
      await desk.world.store.notes.leave(run.id, note);
      await holderLooks(run);
      expect((await desk.now(run)).batch).toEqual(run.batch);
    },
  );
});
