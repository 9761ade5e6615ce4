import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { crashFaults } from './crash-faults.ts';
import { environmentFaults } from './environment-faults.ts';
import { kubernetesFaults } from './kubernetes-faults.ts';
import { logFaults } from './log-faults.ts';
import { raceFaults } from './race-faults.ts';
import { slackFaults } from './slack-faults.ts';
import { storeFaults } from './store-faults.ts';
import { Board } from './support/board.ts';
import { pairs, singles } from './support/enumerate.ts';
import { PortScene } from './support/port-scene.ts';
import { serverSingles } from './support/server-singles.ts';
import { SERVER_STORIES } from './support/server-stories.ts';
import { STORIES } from './support/stories.ts';

/** The fault matrix of performance-reliability.md, section 4.3, in one place, so that one line can be printed of it. */
const board = new Board();
/** `KDEBUG_FAULTS=all` plays every pair by itself, instead of one of those that leave the world in the same state. */
const LIMIT_MS = process.env.KDEBUG_FAULTS === 'all' ? 3_600_000 : 120_000;
let cluster: LocalCluster;

beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 0 });
});

afterAll(async () => {
  await cluster.stop();
  process.stdout.write(`\n${board.report()}\n`);
});

describe('every external effect, before and after', () => {
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
      expect(found.broken).toEqual([]);
    });
    board.fault(
      'F12',
      `a crash in ${story.name} and another while it is recovered from lose nothing and double nothing`,
      async () => {
        const found = await pairs(story);
        board.count('pairs', found);
        expect(found.broken).toEqual([]);
      },
      LIMIT_MS,
    );
  }
  for (const story of process.env.KDEBUG_FAULTS === 'all' ? SERVER_STORIES : SERVER_STORIES.slice(0, 2)) {
    board.fault(
      'F11',
      `any one crash in ${story.name} loses nothing and doubles nothing, by what the servers recorded`,
      async () => {
        const found = await serverSingles(cluster, story);
        board.count('crashPoints', found);
        expect(found.broken).toEqual([]);
      },
      LIMIT_MS,
    );
  }
});

describe('crashes', () => crashFaults(board, () => cluster));
describe('races', () => raceFaults(board));
describe('Slack', () => slackFaults(board, () => cluster));
describe('Kubernetes', () => kubernetesFaults(board, () => cluster));
describe('logs', () => logFaults(board, () => cluster));
describe('the store', () => storeFaults(board, () => cluster));
describe('the environment', () => environmentFaults(board, () => cluster));

it('speaks of every fault of the matrix', () => {
  expect(board.missing).toEqual([]);
});
