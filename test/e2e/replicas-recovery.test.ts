import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { hasRedis } from '../adapters/store/redis/redis-server.ts';
import { type BuiltProgram, buildProgram } from '../support/program/built-program.ts';
import { manyChannels, policyOfChannels, withChannels } from '../support/program/many-channels.ts';
import { ProgramScene } from '../support/program/program-scene.ts';

const CHANNELS = manyChannels(13);
/** More than Slack's 50 searches a minute. */
const RECENT_RUNS = 52;

const POLICY = policyOfChannels(CHANNELS);

describe.skipIf(!hasRedis)('replicas whose store has lost the runs of the last hour', () => {
  let cluster: LocalCluster;
  let program: BuiltProgram;
  let scene: ProgramScene;

  beforeAll(async () => {
    [cluster, program] = await Promise.all([startLocalCluster({ kubeletDelayMs: 0 }), buildProgram()]);
  });

  afterAll(async () => {
    await cluster?.stop();
    program?.remove();
  });

  afterEach(() => scene.close());

  const searches = (method: string, since: number): number => scene.slack.requests(method).length - since;

  /** Lets a run in a pod of its own end after its replica died, and waits until it is told. */
  async function toldAfterKill(pod: string, channel: string): Promise<void> {
    const [holder, other] = [scene.bots.at(-2), scene.bots.at(-1)];
    if (!holder || !other) throw new Error('two replicas are needed');
    scene.sendTo(holder);
    cluster.addPod({ namespace: 'shop', name: pod });
    const before = scene.posts('result').length;
    await scene.type(`${pod} -n shop -- sleep 8`, channel);
    const isRunning = () => cluster.pod('shop', pod)?.status.ephemeralContainerStatuses?.[0]?.state?.running;
    await expect.poll(isRunning, { interval: 20 }).toBeDefined();
    await holder.kill();
    const isOver = () => cluster.pod('shop', pod)?.status.ephemeralContainerStatuses?.[0]?.state?.terminated;
    await expect.poll(isOver, { interval: 20, timeout: 30_000 }).toBeDefined();
    expect(other.log.some(({ message }) => message === 'run adopted')).toBe(true);
    expect(scene.posts('result')).toHaveLength(before);
    await scene.slack.until(() => scene.posts('result').length > before, 90_000);
  }

  it('tell of a run that they adopt at once, and search for each lost run once', async () => {
    const { kubeconfig } = cluster;
    const rates = { off: true };
    scene = await ProgramScene.open({
      program,
      kubeconfig,
      policy: POLICY,
      transport: 'http',
      slack: { team: withChannels(CHANNELS), rates },
    });
    const first = await Promise.all([scene.boot(), scene.boot()]);
    for (let run = 0; run < RECENT_RUNS; run += 1) {
      cluster.addPod({ namespace: 'shop', name: `web-${run}` });
      scene.sendTo(first[run % 2]!);
      await scene.type(`web-${run} -n shop -- echo hello`, CHANNELS[run % CHANNELS.length]);
    }
    await scene.slack.until(() => scene.posts('result').length === RECENT_RUNS);
    await Promise.all(first.map((bot) => bot.says('run ended')));
    await Promise.all(first.map((bot) => bot.stop()));

    const redis = scene.redis?.client();
    await redis?.flushall();
    rates.off = false;
    const [history, replies] = ['conversations.history', 'conversations.replies'].map((m) => searches(m, 0));
    await Promise.all([scene.boot(), scene.boot()]);
    await expect
      .poll(() => scene.bots.slice(2).some(({ log }) => log.some(({ message }) => /wait for their turn/.test(message))))
      .toBe(true);

    await toldAfterKill('web-adopted', CHANNELS[0]!);
    // It did not wait for the 52 searches: at 20 a minute they had hardly begun.
    expect((await redis?.keys('{kdebug}:found:*'))?.length).toBe(20);
    const known = searches('conversations.history', history ?? 0);
    expect(known).toBeLessThanOrEqual(22);
    expect(searches('conversations.replies', replies ?? 0)).toBeLessThanOrEqual(24);
    // What was found is not searched for again by whoever starts next.
    await scene.boot();
    await toldAfterKill('web-again', CHANNELS[1]!);
    expect((await redis?.keys('{kdebug}:found:*'))?.length).toBeLessThanOrEqual(40);
    redis?.disconnect();
    expect(scene.posts('result')).toHaveLength(RECENT_RUNS + 2);
    expect(scene.slack.requests().filter(({ status }) => status === 429)).toEqual([]);
  });
});
