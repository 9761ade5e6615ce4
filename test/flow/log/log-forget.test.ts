import { expect, it } from 'vitest';
import { KdebugError } from '../../../src/core/errors.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { anOrigin, aTermination, START_MS } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { FakeSpools } from '../support/fakes.ts';
import { World } from '../support/world.ts';

it('a log whose file the disk does not let go ends neither its run nor the process', async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on('unhandledRejection', note);
  const world = new World();
  const spools = new FakeSpools();
  const open = spools.open.bind(spools);
  let tries = 0;
  spools.open = async () => ({
    ...(await open()),
    bytes: 0,
    remove: async () => {
      tries += 1;
      throw new KdebugError('spool_failed', { detail: 'EIO' });
    },
  });
  const pipeline = new RunSupervisor({ ...world.deps(), spools });
  await pipeline.inbox.command(anOrigin(), 'web-1 --image=autodiagnose');
  await settle();
  const at = (ms: number) => new Date(START_MS + ms).toISOString();
  world.cluster.report({ terminated: aTermination({ startedAt: at(0), finishedAt: at(2_000) }) });
  await settle();
  await world.clock.advance(5_000);
  expect(tries).toBe(1);
  expect((await world.run()).state).toBe('finished');
  expect(rejections).toEqual([]);
  process.off('unhandledRejection', note);
});
