import { expect } from 'vitest';
import type { LocalCluster } from '../../play/cluster/index.ts';
import type { Board } from './support/board.ts';
import { ASKING, containersIn, HELD, LONG, type Mishap, scenesOn, toldPrivately, wordsOf } from './support/in-scene.ts';
import type { ServerScene } from './support/server-scene.ts';

/** F35 of the matrix: the pod goes away, or another takes its name, at every moment of a run. */
export function podFaults(board: Board, cluster: () => LocalCluster): void {
  for (const [what, mishap, told] of MISHAPS) {
    board.fault(
      'F35',
      `the pod ${what} right before the PATCH: ${told}, and nothing runs in another pod`,
      scenesOn(cluster)(async (scene) => {
        at(scene, 'cluster.launch#1', mishap);
        await scene.boot();
        await scene.type(`${scene.pod} ${LONG}`);
        await scene.skipToEnd();
        await toldGone(scene, told);
      }),
    );

    board.fault(
      'F35',
      `the pod ${what} between the approval and the PATCH: ${told}, and nothing runs in another pod`,
      scenesOn(cluster)(async (scene) => {
        at(scene, 'cluster.launch#1', mishap);
        await scene.boot();
        await scene.type(`${scene.pod} ${ASKING}`, 'U0THURSTON');
        const { ts } = await scene.slack.until(() => scene.posts('anchor')[0]);
        await scene.press('U0BOB', 'approve', ts);
        await scene.skipToEnd();
        await toldGone(scene, told);
      }),
    );

    board.fault(
      'F35',
      `the pod ${what} while the approval is pending: it is void, and nothing runs in another pod`,
      scenesOn(cluster)(async (scene) => {
        await scene.boot();
        await scene.type(`${scene.pod} ${ASKING}`, 'U0THURSTON');
        const { ts } = await scene.slack.until(() => scene.posts('anchor')[0]);
        await mishap(scene);
        await scene.press('U0BOB', 'approve', ts);
        await scene.skipUntil(async () => toldPrivately(scene, 'U0BOB') !== '' || (await scene.run())?.outcome);
        expect(containersIn(scene)).toBe(0);
        expect((await scene.run())?.launchedAtMs).toBeUndefined();
      }),
    );

    board.fault(
      'F35',
      `the pod ${what} while the container runs: pod-gone, with the log so far`,
      scenesOn(cluster)(async (scene) => {
        await scene.boot();
        await scene.type(`${scene.pod} ${HELD}`);
        await scene.reach('running');
        await scene.slack.until(() => wordsOf(scene, 'anchor').includes('199'));
        await mishap(scene);
        await scene.skipToEnd();
        await toldGone(scene, 'pod-gone');
        expect(wordsOf(scene, 'result')).toContain('199');
      }),
    );

    board.fault(
      'F35',
      `the pod ${what} while the log is read: the result is told, and what is missing is said`,
      scenesOn(cluster)(async (scene) => {
        at(scene, 'log.chunk#1', mishap);
        await scene.boot();
        await scene.type(`${scene.pod} ${LONG}`);
        const run = await scene.skipToEnd();
        expect(['succeeded', 'pod-gone']).toContain(run.outcome?.kind);
        expect(scene.posts('result')).toHaveLength(1);
        const isWhole = wordsOf(scene, 'result').includes('199');
        expect(isWhole || /could not be read|no log/i.test(wordsOf(scene, 'result'))).toBe(true);
      }),
    );
  }

  board.fault(
    'F35',
    'the pod is evicted while the container runs: told once, with the log so far',
    scenesOn(cluster)(async (scene) => {
      await scene.boot();
      await scene.type(`${scene.pod} ${HELD}`);
      await scene.reach('running');
      await scene.slack.until(() => wordsOf(scene, 'anchor').includes('199'));
      // The API answers an eviction as a deletion with the pod's own grace.
      scene.cluster.deletePod('shop', scene.pod);
      const run = await scene.skipToEnd();
      expect(['pod-gone', 'target-ended', 'failed']).toContain(run.outcome?.kind);
      expect(scene.posts('result')).toHaveLength(1);
      expect(wordsOf(scene, 'result')).toContain('199');
    }),
  );
}

const MISHAPS: readonly (readonly [string, Mishap, 'pod-gone' | 'pod-replaced'])[] = [
  ['is deleted', async ({ cluster, pod }) => cluster.deletePod('shop', pod, 0), 'pod-gone'],
  [
    'is replaced under its name',
    async ({ cluster, pod }) => void cluster.replacePod({ namespace: 'shop', name: pod }),
    'pod-replaced',
  ],
];

/** Plays the mishap when the first replica is about to do this. */
function at(scene: ServerScene, effect: string, mishap: Mishap): void {
  scene.effects.stall = { replica: 0, effect, reached: () => void mishap(scene) };
}

async function toldGone(scene: ServerScene, kind: string): Promise<void> {
  expect((await scene.run())?.outcome?.kind).toBe(kind);
  expect(containersIn(scene)).toBe(0);
  expect(scene.posts('anchor')).toHaveLength(1);
  expect(scene.posts('result')).toHaveLength(1);
}
