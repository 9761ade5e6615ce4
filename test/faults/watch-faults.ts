import { expect } from 'vitest';
import type { LocalCluster } from '../../play/cluster/index.ts';
import { startLocalCluster } from '../../play/cluster/index.ts';
import type { Board } from './support/board.ts';
import { HELD, letEnd, type Mishap, scenesOn, toldOnce } from './support/in-scene.ts';
import { ServerScene } from './support/server-scene.ts';
import { SkippingClock } from './support/skipping-clock.ts';

/** Sooner than the pod is read again without a watch, however busy the machine is. That it is resumed within 2 s is judged by a clock of its own, in test/adapters/kubernetes/watch. */
const SOON_MS = 60_000;
const AT_WORST_MS = 115_000;
const MEGABYTES = 1024 * 1024;

/** F33 and F34 of the matrix: whatever becomes of the watch, no end is missed. */
export function watchFaults(board: Board, cluster: () => LocalCluster): void {
  for (const [name, mishap, withinMs] of MISHAPS)
    board.fault(
      'F33',
      `the watch ${name}: the end of the container is seen within ${withinMs / 1_000} s`,
      scenesOn(cluster)(async (scene) => {
        await scene.boot();
        await scene.type(`${scene.pod} ${HELD}`);
        await scene.reach('running');
        await mishap(scene);
        const endedAtMs = scene.clock.now();
        await letEnd(scene);
        if (withinMs === SOON_MS) await scene.settle(SOON_MS);
        const { finishedAtMs = 0 } = await scene.skipToEnd(1_000);
        expect(finishedAtMs - endedAtMs).toBeLessThan(withinMs);
        await toldOnce(scene);
      }),
    );

  board.fault(
    'F34',
    'what was missed cannot be had any more (410): listed again, and the end is seen',
    scenesOn(cluster)(async (scene) => {
      await scene.boot();
      await scene.type(`${scene.pod} ${HELD}`);
      await scene.reach('running');
      scene.cluster.faults.queue({ kind: 'gone-410', times: Number.POSITIVE_INFINITY });
      scene.cluster.watches.endAll('clean');
      await letEnd(scene);
      await scene.skipToEnd();
      await toldOnce(scene);
    }),
  );

  board.fault(
    'F34',
    'resource versions go back after the restore of an older etcd: listed again, and the end is seen',
    scenesOn(cluster)(async (scene) => {
      await scene.boot();
      await scene.type(`${scene.pod} ${HELD}`);
      await scene.reach('running');
      scene.cluster.restoreVersions(50);
      await letEnd(scene);
      await scene.skipToEnd();
      await toldOnce(scene);
      const refused = scene.cluster.requests.find({ verb: 'watch', status: 504 });
      expect(refused.length).toBeGreaterThan(0);
    }),
  );

  board.fault('F34', 'an hour of bookmarks alone: the watch is kept, and the end after it is seen', async () => {
    const clock = new SkippingClock();
    const quiet = await startLocalCluster({ kubeletDelayMs: 0, clock });
    const scene = await ServerScene.open({ cluster: quiet, clock });
    try {
      await scene.boot();
      await scene.type(`${scene.pod} ${HELD.replace(' --', ' --timeout=30m --')}`);
      await scene.reach('running');
      const asked = (verb: string) => quiet.requests.find({ verb, resource: 'pods' }).length;
      const lists = asked('list');
      const watches = asked('watch');
      const untilMs = clock.now() + 25 * 60_000;
      await scene.skipUntil(async () => clock.now() >= untilMs, 10_000);
      // Each lasts five to ten minutes; nothing else made it begin anew.
      expect(asked('watch') - watches).toBeLessThanOrEqual(5);
      expect(asked('list')).toBe(lists);
      await letEnd(scene);
      await scene.settle();
      await toldOnce(scene);
    } finally {
      await scene.close();
      await quiet.stop();
    }
  });
}

const nextWatch = { match: { verb: 'watch' } } as const;

const MISHAPS: readonly (readonly [string, Mishap, number])[] = [
  ['is closed cleanly', async ({ cluster }) => cluster.watches.endAll('clean'), SOON_MS],
  ['is reset', async ({ cluster }) => cluster.watches.endAll('reset'), SOON_MS],
  ['is half-open: silent for ever', async ({ cluster }) => cluster.watches.endAll('silence'), AT_WORST_MS],
  [
    'says garbage',
    async ({ cluster }) => {
      cluster.faults.queue({ kind: 'garbage-watch-line', ...nextWatch });
      cluster.watches.endAll('clean');
    },
    SOON_MS,
  ],
  [
    'tells of a type that nobody knows',
    async ({ cluster }) => {
      const line = JSON.stringify({ type: 'RENAMED', object: { kind: 'Pod', metadata: { name: 'x' } } });
      cluster.faults.queue({ kind: 'watch-line', line, ...nextWatch });
      cluster.watches.endAll('clean');
    },
    SOON_MS,
  ],
  [
    'brings an event of 10 MB',
    async ({ cluster, pod }) => {
      const name = `${pod}-large`;
      cluster.addPod({ namespace: 'shop', name, annotations: { large: 'x'.repeat(10 * MEGABYTES) } });
      cluster.deletePod('shop', name, 0);
    },
    SOON_MS,
  ],
  [
    'brings a line without an end',
    async ({ cluster }) => {
      cluster.faults.queue({ kind: 'watch-line', line: 'x'.repeat(20 * MEGABYTES), ...nextWatch });
      cluster.watches.endAll('clean');
    },
    SOON_MS,
  ],
];
