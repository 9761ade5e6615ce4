import { expect } from 'vitest';
import { tagOf } from '../../play/app/our-posts.ts';
import type { LocalCluster } from '../../play/cluster/index.ts';
import type { LoggedCall } from '../../play/slack/serve/request-log.ts';
import { isSettled } from '../../src/core/run/life-cycle.ts';
import { inFullOr } from '../support/sample.ts';
import type { Board } from './support/board.ts';
import { scenesOn } from './support/in-scene.ts';
import type { ServerScene } from './support/server-scene.ts';

/** A thousand runs take minutes of computing; a few of them show the same. */
const RUNS = process.env.KDEBUG_FAULTS === 'all' ? 1_000 : inFullOr(60, 26);
const CHANNELS = ['C0SHOP', 'C0OPS'] as const;
/** Runs that share a pod: below its cap of ephemeral containers. */
const PER_POD = 25;
const OUTAGE_MINUTES = 10;
/** In ten minutes, with the waits between its tries. */
const MAX_TRIES = 30;
const SAYING = ['chat.postMessage', 'chat.update', 'conversations.history', 'conversations.replies'];

/** F23 of the matrix: Slack is away for ten minutes while runs finish. */
export function slackOutage(board: Board, cluster: () => LocalCluster): void {
  board.fault(
    'F23',
    `Slack is down for ten minutes while ${RUNS} runs finish: all are told afterwards, within Slack's limits`,
    scenesOn(cluster)(async (scene) => {
      await scene.boot();
      for (const method of SAYING)
        scene.slack.faults.queue({ method, kind: 'http_503', times: Number.POSITIVE_INFINITY });
      await askFor(scene, RUNS);
      await scene.skipUntil(async () => (await runsOf(scene)).every(({ state }) => state === 'finished'), 100);
      const askedBefore = scene.slack.requests().length;
      for (let second = 0; second < OUTAGE_MINUTES * 60; second += 5) await passed(scene, 5_000);
      expect(scene.posts('anchor')).toEqual([]);
      // Each run keeps one try going, however long the outage is.
      expect(scene.slack.requests().length - askedBefore).toBeLessThan(MAX_TRIES * RUNS);
      scene.slack.faults.clear();
      const backAtMs = scene.clock.now();
      await scene.skipUntil(async () => (await runsOf(scene)).every(isSettled), 1_000);
      const ids = (await runsOf(scene)).map(({ id }) => id).sort();
      expect(ids).toHaveLength(RUNS);
      for (const kind of ['anchor', 'result'] as const) expect(idsOf(scene, kind)).toEqual(ids);
      expectNoBurst(scene.slack.requests().filter(({ atMs }) => atMs >= backAtMs));
    }),
  );
}

async function askFor(scene: ServerScene, runs: number): Promise<void> {
  for (let n = 0; n < runs; n += 1) {
    const name = `${scene.pod}-${Math.floor(n / PER_POD)}`;
    if (n % PER_POD === 0) scene.cluster.addPod({ namespace: 'shop', name });
    const { status } = await scene.type(`${name} -n shop -- echo ${n}`, 'U0ROY', CHANNELS[n % CHANNELS.length]);
    expect(status).toBe(200);
  }
}

const runsOf = async (scene: ServerScene) =>
  (await Promise.all(CHANNELS.map((channel) => scene.store.recent(channel, RUNS)))).flat();

/** Time goes by, and what the servers are asked meanwhile is answered. */
async function passed(scene: ServerScene, ms: number): Promise<void> {
  let due = true;
  scene.clock.after(ms, () => {
    due = false;
  });
  await scene.skipUntil(async () => !due, ms);
}

const idsOf = (scene: ServerScene, kind: 'anchor' | 'result'): string[] =>
  scene
    .posts(kind)
    .map((message) => tagOf(scene.slack.state, message)?.run ?? '')
    .sort();

/**
 * The local Slack refuses what is above Slack's documented rates: it had hardly anything to refuse. (A call that was sent in time
 * arrives late when time is skipped under way, so that now and then one of the next minute is unexpected.)
 */
function expectNoBurst(calls: readonly LoggedCall[]): void {
  expect(calls.length).toBeGreaterThanOrEqual(2 * RUNS);
  expect(calls.filter(({ status }) => status === 429).length).toBeLessThanOrEqual(calls.length / 50);
}
