import fc from 'fast-check';
import { expect } from 'vitest';
import { anOrigin } from '../support/builders.ts';
import type { Board } from './support/board.ts';
import { judge } from './support/check.ts';
import { PortScene } from './support/port-scene.ts';
import { APPROVED, MAIN } from './support/stories.ts';

/** Orders that are tried of each race; fast-check prints the seed of one that breaks something, and shortens it. */
const ORDERS = process.env.KDEBUG_FAULTS === 'all' ? 1_000 : 40;

/** F13 to F15 of the matrix in every order that fast-check's scheduler comes upon: each effect waits for its turn. */
export function raceFaults(board: Board): void {
  const inAnyOrder = (play: (scheduler: fc.Scheduler) => Promise<void>) => () =>
    fc.assert(fc.asyncProperty(fc.scheduler(), play), { numRuns: ORDERS });

  board.fault(
    'F13',
    'the same command twice at each of two replicas, in any order: one run, told once',
    inAnyOrder(async (scheduler) => {
      const scene = new PortScene(MAIN);
      const both = [scene.boot(), scene.boot()];
      await scene.clock.advance(1_000);
      await inTurn(
        scene,
        scheduler,
        [...both, ...both].map(
          ({ pipeline }) =>
            () =>
              pipeline.inbox.command(anOrigin(), 'web-1 --image=autodiagnose'),
        ),
      );
      scene.acknowledged = true;
      scene.runId = (await scene.store.recent('C0SHOP', 10))[0]?.id ?? scene.runId;
      await scene.goOn();
      expect((await judge(scene, MAIN)).broken).toEqual([]);
      expect(await scene.store.recent('C0SHOP', 10)).toHaveLength(1);
    }),
  );

  board.fault(
    'F14',
    'approvals and a rejection at two replicas, in any order: one decision, one deed',
    inAnyOrder(async (scheduler) => {
      const { scene, one, two } = await asked();
      const answers = await inTurn(scene, scheduler, [
        () => scene.press('U0BOB', 'approve', one),
        () => scene.press('U0BOB', 'approve', two),
        () => scene.press('U0ALICE', 'reject', one),
      ]);
      expect(answers.filter(({ kind }) => kind === 'nothing')).toHaveLength(1);
      await scene.goOn();
      const run = await scene.run();
      expect(run?.approval?.votes).toHaveLength(1);
      expect(scene.cluster.launches).toHaveLength(run?.state === 'finished' ? 1 : 0);
      expect(scene.thread.posts.filter(({ meta }) => meta.kind === 'result')).toHaveLength(1);
    }),
  );

  board.fault(
    'F15',
    'an approval at the moment of its expiry, at two replicas, in any order: one outcome',
    inAnyOrder(async (scheduler) => {
      const { scene, one, two } = await asked();
      const expiresAtMs = (await scene.run())?.approval?.expiresAtMs ?? 0;
      await scene.clock.advance(expiresAtMs - scene.clock.now() - 1);
      await inTurn<unknown>(scene, scheduler, [
        () => scene.press('U0BOB', 'approve', one),
        () => scene.clock.advance(1),
        () => scene.press('U0ALICE', 'approve', two),
      ]);
      await scene.goOn();
      const run = await scene.run();
      expect(['finished', 'expired']).toContain(run?.state);
      expect(scene.cluster.launches).toHaveLength(run?.state === 'finished' ? 1 : 0);
      expect(scene.thread.posts.filter(({ meta }) => meta.kind === 'result')).toHaveLength(1);
    }),
  );
}

/** A card that waits for a vote, with two replicas to vote at. */
async function asked() {
  const scene = new PortScene({ ...APPROVED, click: undefined });
  const [one, two] = [scene.boot().pipeline, scene.boot().pipeline];
  await scene.clock.advance(300);
  await scene.type();
  await scene.reach('pending-approval');
  await scene.clock.advance(1_000);
  return { scene, one, two };
}

/** Begins all of them; from now on one effect happens at a time, as the scheduler says, and time passes only when none waits. */
async function inTurn<Value>(
  scene: PortScene,
  scheduler: fc.Scheduler,
  deeds: readonly (() => Promise<Value>)[],
): Promise<Value[]> {
  scene.effects.gate = (effect) => scheduler.schedule(Promise.resolve(), effect);
  const over: { values?: Value[]; error?: unknown } = {};
  Promise.all(deeds.map((deed) => deed())).then(
    (values) => Object.assign(over, { values }),
    (error: unknown) => Object.assign(over, { error }),
  );
  while (!over.values && over.error === undefined) {
    if (scheduler.count() > 0) await scheduler.waitOne();
    else await scene.clock.advance(50);
  }
  scene.effects.gate = undefined;
  await scheduler.waitAll();
  if (!over.values) throw over.error;
  return over.values;
}
