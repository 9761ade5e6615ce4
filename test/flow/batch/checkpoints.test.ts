import { expect, it } from 'vitest';
import { Checkpoints } from '../../../src/flow/batch/checkpoints.ts';
import { HeldRun } from '../../../src/flow/context/held-run.ts';
import { aRun } from '../../support/builders.ts';
import { World } from '../support/world.ts';

it('writes a moved batch in time although the clock was set back an hour after the last write', async () => {
  const world = new World();
  const deps = world.deps();
  const run = aRun({ state: 'running' });
  const created = await deps.store.create(run, deps.owner, []);
  if (created.kind !== 'created') throw new Error(created.kind);
  const checkpoints = new Checkpoints(new HeldRun({ run, fence: created.fence }, deps), deps);
  checkpoints.touch();
  await checkpoints.now();
  world.clock.jump(-3_600_000);
  checkpoints.touch();
  expect(checkpoints.dueAtMs - world.clock.now()).toBeLessThanOrEqual(2_000);
});
