import { describe, expect, it } from 'vitest';
import { aTermination, START_MS } from '../support/builders.ts';
import { settle } from '../support/fake-clock.ts';
import { World } from './support/world.ts';

const at = (ms: number) => new Date(START_MS + ms).toISOString();

/** Drains at once, and resolves with what another replica may claim right after. */
async function claimableAfterDrain(world: World): Promise<number> {
  const drained = world.pipeline.drain(0);
  await world.clock.advance(1_000);
  await drained;
  return (await world.store.claim('other', 9)).length;
}

describe('a run that a stopping replica gives back', () => {
  it('waits for no pause between two tries of its last post', async () => {
    const world = new World();
    await world.say('web-1 --image=autodiagnose');
    for (let n = 0; n < 40; n += 1) world.thread.faults.add('post', 'slack_unreachable');
    world.cluster.report({ terminated: aTermination({ startedAt: at(0), finishedAt: at(2_000) }) });
    await settle();
    await world.clock.advance(35_000);
    expect((await world.run()).state).toBe('finished');
    expect(await claimableAfterDrain(world)).toBe(1);
  });

  it('is given back although it was just not waiting for its pod, which had moved too often', async () => {
    const world = new World();
    await world.say('web-1 --image=autodiagnose');
    for (let n = 0; n < 30; n += 1) {
      world.cluster.report({ running: { startedAt: at(0) } });
      await settle();
    }
    await world.clock.advance(250);
    expect((await world.run()).state).toBe('running');
    expect(await claimableAfterDrain(world)).toBe(1);
  });

  it('waits for no end of the target that may still be reported', async () => {
    const world = new World();
    await world.say('web-1 --image=autodiagnose');
    const killed = { exitCode: 137, reason: 'Error', startedAt: at(0), finishedAt: at(2_000) };
    world.cluster.report({ terminated: aTermination(killed) });
    await settle();
    expect((await world.run()).state).toBe('collecting');
    expect(await claimableAfterDrain(world)).toBe(1);
  });
});
