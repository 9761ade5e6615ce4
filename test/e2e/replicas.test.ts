import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { hasRedis } from '../adapters/store/redis/redis-server.ts';
import type { BotProcess } from '../support/program/bot-process.ts';
import { type BuiltProgram, buildProgram } from '../support/program/built-program.ts';
import { manyChannels, policyOfChannels, withChannels } from '../support/program/many-channels.ts';
import { ProgramScene } from '../support/program/program-scene.ts';
import { itInFull, sampleOf } from '../support/sample.ts';

const CHANNELS = manyChannels(12);

const POLICY = policyOfChannels(CHANNELS);

describe.skipIf(!hasRedis)('several processes', () => {
  let cluster: LocalCluster;
  let program: BuiltProgram;
  let scene: ProgramScene;
  let pods = 0;

  beforeAll(async () => {
    [cluster, program] = await Promise.all([startLocalCluster({ kubeletDelayMs: 0 }), buildProgram()]);
  });

  afterAll(async () => {
    await cluster?.stop();
    program?.remove();
  });

  afterEach(() => scene.close());

  const open = async (transport: 'http' | 'socket', store: 'redis' | 'memory' = 'redis'): Promise<void> => {
    const { kubeconfig } = cluster;
    const slack = { team: withChannels(CHANNELS) };
    scene = await ProgramScene.open({ program, kubeconfig, policy: POLICY, transport, store, slack });
  };

  const aPod = (): string => {
    pods += 1;
    const name = `web-${pods}`;
    cluster.addPod({ namespace: 'shop', name });
    return name;
  };

  const told = (count: number, withinMs = 20_000) =>
    scene.slack.until(() => scene.posts('result').length >= count, withinMs);

  /** Every process in peace; nothing is under way afterwards. */
  const stopAll = async (): Promise<void> => {
    const ends = await Promise.all(scene.bots.map((bot) => bot.stop()));
    expect(ends.every(({ code }) => code === 0)).toBe(true);
  };

  const expectOnce = (asked: readonly string[]): void => {
    expect(scene.posts('anchor')).toHaveLength(asked.length);
    expect(scene.posts('result')).toHaveLength(asked.length);
    expect(new Set(scene.posts('result').map(({ threadTs }) => threadTs)).size).toBe(asked.length);
    for (const pod of asked) expect(cluster.pod('shop', pod)?.spec.ephemeralContainers, pod).toHaveLength(1);
    expect(scene.slack.unknown).toEqual([]);
    expect(scene.bots.map(({ errors }) => errors)).toEqual(scene.bots.map(() => ''));
  };

  /** Who holds the only run; nobody: ''. */
  const ownerOf = async (): Promise<string | null | undefined> => {
    const redis = scene.redis?.client();
    const [key] = (await redis?.keys('{kdebug}:run:*')) ?? [];
    const owner = await redis?.hget(key ?? '', 'owner');
    redis?.disconnect();
    return owner;
  };

  const ended = (bot: BotProcess): number => bot.log.filter(({ message }) => message === 'run ended').length;

  describe.each(sampleOf('transports of several processes', ['http', 'socket'] as const, 1))('over %s', (transport) => {
    it('answer every command once, whoever gets it and however often', async () => {
      await open(transport);
      const bots = await Promise.all([scene.boot(), scene.boot()]);
      if (transport === 'socket') expect(scene.slack.sockets.count).toBe(4);
      const asked: string[] = [];
      for (const [index, channel] of CHANNELS.entries()) {
        const pod = aPod();
        asked.push(pod);
        const [one, other] = index % 2 === 0 ? bots : bots.toReversed();
        if (one) scene.sendTo(one);
        const first = await scene.type(`${pod} -n shop -- echo hello`, channel);
        expect(first).toMatchObject({ status: 200, body: '' });
        if (other) scene.sendTo(other);
        // Slack gives Socket Mode's connections their turns: every third delivery is a repeated one, so that all get commands.
        if (index % 2 === 1) continue;
        const again = { retry: { attempt: 1, reason: 'timeout' } };
        expect(await scene.slack.deliver.again(first, again)).toMatchObject({ status: 200, body: '' });
      }
      await told(asked.length);
      await stopAll();
      expectOnce(asked);
      for (const bot of bots) expect(ended(bot)).toBeGreaterThan(0);
    });
  });

  it('over http: one that is told to go is not ready at once, says so politely, and hands over what it cannot end', async () => {
    await open('http');
    const [going, staying] = await Promise.all([scene.boot(), scene.boot()]);
    scene.sendTo(going);
    const pod = aPod();
    await scene.type(`${pod} -n shop -- sleep 6`, CHANNELS[0]);
    await scene.slack.until(() => scene.posts('anchor').length === 1);
    expect((await going.readiness()).status).toBe(200);

    const holder = await ownerOf();
    expect(holder).not.toBe('');
    going.signal('SIGTERM');
    await going.says('stopping');
    expect(await going.readiness()).toMatchObject({
      status: 503,
      body: expect.stringContaining('[-] pipeline failed: shutting_down'),
    });
    const refused = aPod();
    const late = await scene.type(`${refused} -n shop -- echo too late`, CHANNELS[1]);
    expect(late).toMatchObject({ status: 200, body: { response_type: 'ephemeral' } });
    expect(JSON.stringify(late.body)).toMatch(/kdebug is restarting.*Nothing was started/i);
    going.signal('SIGTERM');
    going.signal('SIGINT');
    expect(await going.exited).toEqual({ code: 0, signal: null });
    // Given back, not left to lapse.
    expect(await ownerOf()).not.toBe(holder);

    await staying.says('run adopted');
    await told(1);
    await staying.says('run ended');
    await stopAll();
    expectOnce([pod]);
    expect(cluster.pod('shop', refused)?.spec.ephemeralContainers ?? []).toEqual([]);
  });

  it('over socket: while one goes, the commands that keep coming are taken by the other', async () => {
    await open('socket');
    const [going, staying] = await Promise.all([scene.boot(), scene.boot()]);
    const asked = [aPod()];
    await scene.type(`${asked[0]} -n shop -- sleep 4`, CHANNELS[0]);
    await scene.slack.until(() => scene.posts('anchor').length === 1);

    going.signal('SIGTERM');
    // Its two connections are closed first of all; what was on its way by them in this moment gets Slack's own error.
    await scene.slack.until(() => scene.slack.sockets.count === 2);
    const left = going.exited.then(() => 'left');
    for (const channel of CHANNELS.slice(1)) {
      const pod = aPod();
      asked.push(pod);
      const { error, body } = await scene.type(`${pod} -n shop -- echo hello`, channel);
      expect({ error, body }).toEqual({ error: undefined, body: '' });
      await Promise.race([left, pause(100)]);
    }
    expect(await going.exited).toEqual({ code: 0, signal: null });
    await told(asked.length);
    expect((await staying.readiness()).status).toBe(200);
    await staying.says('run ended');
    await stopAll();
    expectOnce(asked);
  });

  it('whose Redis is emptied: give back what they hold, and end it once', async () => {
    await open('http');
    const [holder] = await Promise.all([scene.boot(), scene.boot()]);
    scene.sendTo(holder);
    const pod = aPod();
    await scene.type(`${pod} -n shop -- sleep 4`, CHANNELS[0]);
    await scene.slack.until(() => scene.posts('anchor').length === 1);
    const redis = scene.redis?.client();
    await redis?.flushall();
    redis?.disconnect();
    await told(1);
    expect(scene.textOf(scene.posts('result')[0])).not.toContain('lost its record');
    await stopAll();
    expectOnce([pod]);
  });

  itInFull('alone and without Redis: the next one finds what was launched, and ends its thread', async () => {
    await open('http', 'memory');
    const first = await scene.boot();
    const pod = aPod();
    await scene.type(`${pod} -n shop -- sleep 12`, CHANNELS[0]);
    await scene.slack.until(() => scene.posts('anchor').length === 1);
    expect(await first.stop()).toEqual({ code: 0, signal: null });
    expect(scene.posts('result')).toEqual([]);

    await scene.boot();
    await told(1);
    expect(scene.textOf(scene.posts('result')[0])).toContain('restarted during this run');
    await stopAll();
    expectOnce([pod]);
  });
});
