import { expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { Pipeline } from '../../../src/flow/pipeline.ts';
import { anOrigin, aPolicy, aRule } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { World } from '../support/world.ts';

it('a button of a batch works whichever replica the click reaches', async () => {
  const rule = aRule({ batch: { maxPods: 50, maxParallelism: 5 } });
  const world = new World({ policy: aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [rule] } } }) });
  world.pipeline.startAdopting();
  await world.say('-l app=web', anOrigin());
  expect((await world.run()).batch).toMatchObject({ parallelism: 1 });

  const other = new Pipeline({ ...world.deps(), owner: 'replica-2' });
  const origin = anOrigin({ dedupeKey: 'two', source: 'slash' });
  const answer = other.inbox.command(origin, `batch ${world.runId} pause`);
  for (let tries = 0; tries < 12; tries += 1) {
    await world.clock.advance(100);
    await settle();
  }
  expect(JSON.stringify(await answer)).toContain('batch_elsewhere');
  await world.clock.advance(1_000);
  await settle();
  expect((await world.run()).batch?.paused?.byUserId).toBe('U0ROY');
  expect(world.thread.told).toEqual([]);
});
