import { afterAll, beforeAll, expect, it } from 'vitest';
import { anchorMessage, resultMessage } from '../../../../src/core/say/run/run-messages.ts';
import { aBatchRun, ended } from '../../../core/say/batch/a-batch-run.ts';
import { anOrigin, aPlan, aRun, aTermination, START_MS } from '../../../support/builders.ts';
import { startWorld, type World } from '../harness.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld('http');
  await world.slack.directory.person('U0ROY');
});
afterAll(() => world.stop());

const MOMENT = { approvers: {}, nowMs: START_MS };
const place = { channelId: 'C0SHOP' };

it('a quick success notifies nobody, neither by its card nor by its result', async () => {
  const { thread } = world.slack;
  const parts = { plan: aPlan(), outcome: { kind: 'succeeded' }, termination: aTermination() } as const;
  const run = aRun({ origin: anOrigin(), ...parts, finishedAtMs: START_MS + 1_000 });
  const card = await thread.post(place, anchorMessage({ ...run, state: 'received' }, MOMENT), {
    run: run.id,
    kind: 'anchor',
    seq: 1,
  });
  const message = resultMessage({ ...run, state: 'finished' });
  await thread.post({ ...place, threadTs: card.ts }, message, { run: run.id, kind: 'result', seq: 2 });
  expect(JSON.stringify(world.local.message('C0SHOP', card.ts)?.blocks)).toContain(' · roy · run ');
  expect(world.local.notified('U0ROY')).toEqual([]);
});

it('nor does the card of a batch', async () => {
  const run = aBatchRun({ size: 2, events: ended(0, 0) });
  await world.slack.thread.post(place, anchorMessage(run, MOMENT), { run: run.id, kind: 'anchor', seq: 1 });
  expect(world.local.notified('U0ROY')).toEqual([]);
});
