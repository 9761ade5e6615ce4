import { expect } from 'vitest';
import type { LocalCluster } from '../../play/cluster/index.ts';
import type { Board } from './support/board.ts';
import { pairs, singles } from './support/enumerate.ts';
import { PortScene } from './support/port-scene.ts';
import { serverSingles } from './support/server-singles.ts';
import { SERVER_STORIES } from './support/server-stories.ts';
import { STORIES } from './support/stories.ts';

/** F11 and F12 of the matrix: a crash before and after every external effect, and another while it is recovered from. */
export function effectFaults(board: Board, cluster: () => LocalCluster): void {
  board.fault('F11', 'every call of every port is an effect, and has two sides', async () => {
    for (const story of STORIES) {
      const scene = new PortScene(story);
      await scene.play();
      const effects = scene.effects.of(0);
      const named = (pattern: RegExp) => effects.filter((effect) => pattern.test(effect)).length;
      expect(named(/^slack\./)).toBe(scene.thread.calls.length);
      expect(named(/^cluster\.(?!pods|watch|check|collectLog)/)).toBe(scene.cluster.calls.length);
      expect(named(/^audit\./)).toBe(scene.audit.entries.length);
      expect(scene.effects.marks(0)).toHaveLength(2 * effects.length);
    }
  });
  for (const story of STORIES) {
    board.fault('F11', `any one crash in ${story.name} loses nothing and doubles nothing`, async () => {
      const found = await singles(story);
      board.count('crashPoints', found);
      expect(found.broken, found.broken.join('\n')).toEqual([]);
    });
    board.fault(
      'F12',
      `a crash in ${story.name} and another while it is recovered from lose nothing and double nothing`,
      async () => {
        const found = await pairs(story);
        board.count('pairs', found);
        expect(found.broken, found.broken.join('\n')).toEqual([]);
      },
    );
  }
  for (const story of process.env.KDEBUG_FAULTS === 'all' ? SERVER_STORIES : SERVER_STORIES.slice(0, 2)) {
    board.fault(
      'F11',
      `any one crash in ${story.name} loses nothing and doubles nothing, by what the servers recorded`,
      async () => {
        const found = await serverSingles(cluster(), story);
        board.count('crashPoints', found);
        expect(found.broken, found.broken.join('\n')).toEqual([]);
      },
    );
  }
}
