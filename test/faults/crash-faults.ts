import { expect } from 'vitest';
import type { LocalCluster } from '../../play/cluster/index.ts';
import type { Run } from '../../src/core/run/run.ts';
import { anOrigin } from '../support/builders.ts';
import type { Board } from './support/board.ts';
import { judge } from './support/check.ts';
import type { CrashPoint, Life } from './support/effects.ts';
import { type LivingReplica, PortScene, type Story } from './support/port-scene.ts';
import { ServerScene } from './support/server-scene.ts';
import { APPROVED, MAIN, NAMED, REJECTED } from './support/stories.ts';

/** A story with one crash of its first replica, told to its end and found right. */
async function told(story: Story, effect: string, when: CrashPoint['when']): Promise<PortScene> {
  const scene = new PortScene(story, [{ replica: 0, effect, when }]);
  await scene.play();
  expect(scene.effects.hits).toBe(1);
  expect((await judge(scene, story)).broken).toEqual([]);
  return scene;
}

/** Between the first signal and the last one. */
const GRACE_MS = 10_000;

/** F01 to F19 of the matrix, but for the exhaustive two. */
export function crashFaults(board: Board, cluster: () => LocalCluster): void {
  board.fault('F01', 'crash before persist: nobody was told that it was taken, and nothing happens', async () => {
    const scene = await told(MAIN, 'store.create#1', 'before');
    expect(scene.acknowledged).toBe(false);
    expect(scene.thread.posts).toHaveLength(0);
    expect(scene.cluster.asked).toBe(0);
  });

  board.fault('F02', 'crash after persist, before the acknowledgement: the run goes on, with one anchor', async () => {
    const scene = await told(MAIN, 'store.create#1', 'after');
    expect(scene.acknowledged).toBe(false);
    expect((await scene.run())?.state).toBe('finished');
  });

  board.fault('F03', 'crash between acknowledgement and work: picked up within 5 s', async () => {
    const scene = await told(MAIN, 'cluster.pod#1', 'before');
    const [first, second] = [0, 1].map((replica) => scene.effects.marks(replica));
    const diedAtMs = first?.at(-1)?.atMs ?? 0;
    const goesOnAtMs = second?.find(({ effect }) => effect === 'cluster.pod#1')?.atMs ?? Number.POSITIVE_INFINITY;
    expect(goesOnAtMs - diedAtMs).toBeLessThanOrEqual(5_000);
  });

  board.fault('F04', 'crash before the PATCH: launched once after the recovery', async () => {
    const scene = await told(MAIN, 'cluster.launch#1', 'before');
    expect(scene.cluster.asked).toBe(1);
  });

  board.fault(
    'F05',
    'crash after the PATCH, before it is recorded: the same name is found, no second container',
    async () => {
      const scene = await told(MAIN, 'cluster.launch#1', 'after');
      expect(scene.cluster.asked).toBe(2);
      expect(scene.cluster.launches).toHaveLength(1);
    },
  );

  for (const chunk of [1, 2, 3])
    board.fault('F06', `crash after piece ${chunk} of 3 of the log: the result is whole, no line twice`, async () => {
      const scene = await told(MAIN, `log.chunk#${chunk}`, 'after');
      expect(scene.thread.files[0]?.content).toBe(MAIN.fate.kind === 'ends' ? MAIN.fate.log : '');
    });

  board.fault(
    'F07',
    'crash after the end was seen, before the result is stored: rebuilt from status and log',
    async () => {
      await told(MAIN, 'store.save:collecting#1', 'after');
      await told(MAIN, 'spool.finish#1', 'after');
    },
  );

  board.fault('F08', 'crash after the anchor was taken, before its ts is stored: found by its metadata', async () => {
    const scene = await told(MAIN, 'slack.post:anchor#1', 'after');
    expect(scene.effects.of(1)).toContain('slack.find:anchor#1');
    expect(scene.effects.of(1)).not.toContain('slack.post:anchor#1');
    await told(APPROVED, 'slack.post:result#1', 'after');
  });

  board.fault('F08', 'crash after a result with its file was taken: found by the name of the file', async () => {
    const scene = await told(MAIN, 'slack.share#1', 'after');
    expect(scene.effects.of(1)).toContain('slack.findShared#1');
    expect(scene.effects.of(1)).not.toContain('slack.share#1');
  });

  for (const [effect, when] of [
    ['slack.post:result#1', 'after'],
    ['slack.share#1', 'before'],
    ['slack.share#1', 'after'],
  ] as const)
    board.fault(
      'F08',
      `crash ${when} ${effect}, of a result that names somebody and its file: each is there once`,
      async () => {
        const scene = await told(NAMED, effect, when);
        const isShared = effect === 'slack.share#1' && when === 'after';
        expect(scene.effects.of(1).filter((each) => each === 'slack.post:result#1')).toEqual([]);
        expect(scene.effects.of(1).includes('slack.share#1')).toBe(!isShared);
      },
    );

  board.fault('F09', 'crash between the final update and its mark: updated again, one message', async () => {
    await told(MAIN, 'slack.update:anchor#2', 'after');
    await told(REJECTED, 'slack.update:anchor#1', 'after');
  });

  for (const kind of ['hang', 'hang_after_commit'])
    board.fault('F10', `crash while the file is being shared (${kind}): exactly one file is visible`, async () => {
      const scene = await ServerScene.open({ cluster: cluster() });
      try {
        scene.slack.faults.queue({ method: 'files.completeUploadExternal', kind });
        const first = await scene.boot();
        await scene.type(`${scene.pod} -n shop --image=debian -- seq 1 200`);
        await scene.slack.until(
          () => scene.slack.faults.hits === 1 && scene.slack.files().length === (kind === 'hang' ? 0 : 1),
        );
        first.life.dead = true;
        await scene.settle();
        expect(scene.slack.files()).toHaveLength(1);
        expect((await scene.slack.files()[0]?.content())?.toString().split('\n')).toHaveLength(201);
      } finally {
        await scene.close();
      }
    });

  board.fault('F13', 'two replicas get the same command: one run', async () => {
    const scene = new PortScene(MAIN);
    const both = [scene.boot(), scene.boot()];
    await Promise.all(both.map(({ pipeline }) => pipeline.inbox.command(anOrigin(), 'web-1 --image=autodiagnose')));
    scene.acknowledged = true;
    await scene.goOn();
    expect((await judge(scene, MAIN)).broken).toEqual([]);
    expect(await scene.store.recent('C0SHOP', 10)).toHaveLength(1);
  });

  board.fault(
    'F14',
    'approve and reject at once, from several people at several replicas: one decision, the others are told',
    async () => {
      for (const [approver, rejecter] of [
        ['U0BOB', 'U0ALICE'],
        ['U0ALICE', 'U0BOB'],
      ] as const) {
        const scene = new PortScene({ ...APPROVED, click: undefined });
        const [one, two] = [scene.boot(), scene.boot()];
        await scene.type();
        await scene.reach('pending-approval');
        await scene.clock.advance(1_000);
        const answers = await Promise.all([
          scene.click(approver, 'approve', one.pipeline),
          scene.click(approver, 'approve', one.pipeline),
          scene.click(rejecter, 'reject', two.pipeline),
        ]);
        expect(answers.filter((answer) => answer?.kind === 'nothing')).toHaveLength(1);
        expect(answers.filter((answer) => JSON.stringify(answer).includes('approval_decided'))).toHaveLength(2);
        await scene.goOn();
        const run = await scene.run();
        expect(run?.approval?.votes).toHaveLength(1);
        expect(scene.cluster.launches).toHaveLength(run?.state === 'rejected' ? 0 : 1);
      }
    },
  );

  for (const [offsetMs, state] of [
    [-1, 'finished'],
    [0, 'expired'],
    [1, 'expired'],
  ] as const)
    board.fault('F15', `approve ${offsetMs} ms from the expiry: one outcome, ${state}`, async () => {
      const scene = new PortScene({ ...APPROVED, click: undefined });
      scene.boot();
      // So that no replica happens to look for expired ones at that very moment.
      await scene.clock.advance(300);
      await scene.type();
      await scene.reach('pending-approval');
      const expiresAtMs = (await scene.run())?.approval?.expiresAtMs ?? 0;
      await scene.clock.advance(expiresAtMs + offsetMs - scene.clock.now());
      await scene.click('U0BOB', 'approve');
      await scene.goOn();
      expect((await scene.run())?.state).toBe(state);
      expect(scene.cluster.launches).toHaveLength(state === 'finished' ? 1 : 0);
    });

  board.fault(
    'F16',
    'an owner that stood still for 30 s wakes up: its token is stale, nothing is done twice, and nothing newer is written over',
    async () => {
      const quiet = new PortScene(MAIN);
      await quiet.play();
      const out = /^(cluster\.pods|store\.(renew|claim))/;
      const places = sinceStored(quiet.effects.of(0)).filter((effect) => !out.test(effect));
      for (const effect of places) await stalled(effect);
      expect(places.length).toBeGreaterThan(20);
    },
  );

  for (const story of [MAIN, APPROVED])
    board.fault(
      'F17',
      `two SIGTERMs and a SIGKILL at every effect of ${story.name}: drained or handed over, told once, nothing new taken`,
      async () => {
        const quiet = new PortScene(story);
        await quiet.play();
        const places = sinceStored(quiet.effects.of(0));
        for (const effect of places) await terminated(story, effect);
        expect(places.length).toBeGreaterThan(20);
      },
    );

  board.fault('F18', 'all replicas down for ten minutes, then up: the run is finished', async () => {
    for (const effect of ['cluster.launch#1', 'store.save:running#1', 'log.chunk#2', 'slack.share#1']) {
      const scene = new PortScene(MAIN, [{ replica: 0, effect, when: 'after' }]);
      scene.boot();
      await scene.type();
      await scene.clock.advance(600_000);
      scene.boot();
      await scene.goOn();
      expect((await judge(scene, MAIN)).broken).toEqual([]);
    }
  });

  board.fault('F19', 'a rolling upgrade: fields that this version does not know are kept', async () => {
    const scene = new PortScene(MAIN, [{ replica: 0, effect: 'store.create#1', when: 'after' }]);
    const { store } = scene;
    const create = store.create.bind(store);
    const newer = (run: Run) => ({ ...run, fromTheFuture: { kept: true } });
    store.create = (run, owner, quotas) => create(newer(run), owner, quotas);
    await scene.play();
    expect((await judge(scene, MAIN)).broken).toEqual([]);
    expect(await scene.run()).toMatchObject({ fromTheFuture: { kept: true } });
  });
}

/** Before that, there is no run that could be lost or done twice. */
const sinceStored = (effects: readonly string[]): readonly string[] =>
  effects.slice(effects.indexOf('store.create#1') + 1);

/** The first replica stands still at an effect while another finishes the run, then wakes. */
async function stalled(effect: string): Promise<void> {
  const scene = new PortScene(MAIN);
  let wake = (): void => {};
  let frozen: Life | undefined;
  scene.effects.stall = {
    replica: 0,
    effect,
    reached: (life) => {
      frozen = life;
      life.frozen = new Promise((resolve) => {
        wake = resolve;
      });
    },
  };
  scene.boot();
  await scene.type();
  for (let waited = 0; !frozen && waited < 60; waited += 1) await scene.clock.advance(100);
  if (!frozen) return;
  scene.acknowledged = true;
  scene.boot();
  await scene.goOn();
  const anchor = scene.words('anchor');
  frozen.frozen = undefined;
  wake();
  await scene.clock.advance(120_000);
  expect({ effect, broken: (await judge(scene, MAIN)).broken }).toEqual({ effect, broken: [] });
  expect({ effect, anchor: scene.words('anchor') }).toEqual({ effect, anchor });
}

/** Told to stop at an effect, again a second later, and killed after its grace; another replica takes its place. */
async function terminated(story: Story, effect: string): Promise<void> {
  const scene = new PortScene(story);
  let signalled: LivingReplica | undefined;
  scene.effects.stall = {
    replica: 0,
    effect,
    reached: (life) => {
      signalled = scene.replicas[0];
      void signalled?.pipeline.drain(GRACE_MS);
      scene.clock.after(1, () => void scene.boot());
      scene.clock.after(1_000, () => void signalled?.pipeline.drain(GRACE_MS));
      scene.clock.after(GRACE_MS, () => {
        life.dead = true;
      });
    },
  };
  scene.boot();
  await scene.type();
  const early = signalled;
  if (early) {
    const answer = await early.pipeline.inbox.command(anOrigin({ dedupeKey: 'two' }), 'web-1 --image=autodiagnose');
    expect({ effect, answer: JSON.stringify(answer) }).toEqual({
      effect,
      answer: expect.stringContaining('shutting_down'),
    });
  }
  await scene.goOn();
  expect({ effect, isSignalled: signalled !== undefined }).toEqual({ effect, isSignalled: true });
  await scene.clock.advance(2 * GRACE_MS);
  expect({ effect, broken: (await judge(scene, story)).broken }).toEqual({ effect, broken: [] });
  expect(await scene.store.recent('C0SHOP', 10)).toHaveLength(1);
}
