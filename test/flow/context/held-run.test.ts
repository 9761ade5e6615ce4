import { expect, it } from 'vitest';
import { createMetrics } from '../../../src/adapters/metrics/index.ts';
import { MemoryRunStore } from '../../../src/adapters/store/index.ts';
import { HELD_FOR_POST_MS, HeldRun } from '../../../src/flow/context/held-run.ts';
import { aRun, START_MS } from '../../support/builders.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A run that replica-1 has just taken. */
async function heldRun() {
  const clock = new FakeClock();
  const store = new MemoryRunStore({ clock });
  const metrics = createMetrics({ clock, ofProcess: false });
  const run = aRun({ state: 'received' });
  const created = await store.create(run, 'replica-1');
  if (created.kind !== 'created') throw new Error(created.kind);
  const held = new HeldRun({ run, fence: created.fence }, { store, clock, metrics });
  return { clock, store, metrics, run, fence: created.fence, held };
}

it('denies every change to who no longer owns the run (lease_lost), and changes nothing', async () => {
  const { store, metrics, run, fence, held } = await heldRun();
  await store.release(run.id, fence);
  const taken = await store.lease(run.id, 'replica-2');
  expect(taken?.fence).toBeGreaterThan(fence);
  const denied = {
    kind: 'denied',
    refusal: { code: 'channel_unknown', message: '', hint: '' },
    atMs: START_MS,
  } as const;
  await expect(held.apply(denied)).rejects.toMatchObject({ code: 'lease_lost' });
  expect((await store.read(run.id))?.state).toBe('received');
  expect(held.run.state).toBe('received');
  expect(await metrics.text()).toContain('kdebug_leases_lost_total 1');
});

it('asks the store again when its machine was suspended, although its own time stood still: another one may hold the run', async () => {
  const { clock, store, run, fence, held } = await heldRun();
  expect(held.isHeld(HELD_FOR_POST_MS)).toBe(true);
  clock.jump(60_000);
  expect(held.isHeld(HELD_FOR_POST_MS)).toBe(false);
  await store.release(run.id, fence);
  await store.lease(run.id, 'replica-2');
  await expect(held.assertHeld(HELD_FOR_POST_MS)).rejects.toMatchObject({ code: 'lease_lost' });
});

it('holds no longer when the wall clock is set back: the time since the confirmation still counts', async () => {
  const { clock, held } = await heldRun();
  clock.jump(-3_600_000);
  await clock.advance(HELD_FOR_POST_MS - 1);
  expect(held.isHeld(HELD_FOR_POST_MS)).toBe(true);
  await clock.advance(1);
  expect(held.isHeld(HELD_FOR_POST_MS)).toBe(false);
});
