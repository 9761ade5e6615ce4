import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { expect } from 'vitest';
import type { LocalCluster } from '../../play/cluster/index.ts';
import { KdebugError } from '../../src/core/errors.ts';
import { hasRedis, RedisServer, until } from '../adapters/store/redis/redis-server.ts';
import { aStore } from '../adapters/store/redis/stores.ts';
import type { Board } from './support/board.ts';
import { judge } from './support/check.ts';
import { PortScene } from './support/port-scene.ts';
import { type RedisReplica, RedisScene } from './support/redis-scene.ts';
import { MAIN } from './support/stories.ts';

const HONEST = 'cannot reach its store';
/** How long Redis stands still; the whole half minute of the issue when all is asked for. */
const FROZEN_MS = process.env.KDEBUG_FAULTS === 'all' ? 30_000 : 3_000;

/** F48 to F52 of the matrix: a real redis-server that loses, refuses, freezes and forgets. */
export function storeFaults(board: Board, cluster: () => LocalCluster): void {
  const fault = (id: string, sentence: string, tell: (scene: RedisScene) => Promise<void>): void => {
    if (hasRedis) board.fault(id, sentence, () => RedisScene.with(cluster(), tell));
    else board.pending(id, 'no redis-server on this machine');
  };

  forgetting(fault, cluster);
  refusing(fault);
  board.fault(
    'F51',
    'the store is gone for a minute under the whole flow: nothing is lost, nothing is twice',
    partition,
  );
  lostAnswers(fault);
}

type Fault = (id: string, sentence: string, tell: (scene: RedisScene) => Promise<void>) => void;

/** F48, F49, F50: what Redis had taken is gone. */
function forgetting(fault: Fault, cluster: () => LocalCluster): void {
  fault(
    'F48',
    'Redis is killed, and comes back without its last second: the rest is in cluster and Slack',
    async (scene) => {
      const directory = mkdtempSync(join(tmpdir(), 'kdebug-aof-'));
      const redis = await RedisServer.start(['--appendonly', 'yes', '--appendfsync', 'everysec', '--dir', directory]);
      try {
        const replicas = [await scene.boot(redis.url), await scene.boot(redis.url)];
        await scene.ask({ lines: 100 });
        await scene.told();
        await scene.ask({ lines: 100, before: 'sleep 2;' });
        await launched(scene, 2);
        const kept = `${directory}-kept`;
        cpSync(directory, kept, { recursive: true });
        await scene.ask({ lines: 100, before: 'sleep 2;' });
        await launched(scene, 3);
        await redis.kill();
        rmSync(directory, { recursive: true });
        cpSync(kept, directory, { recursive: true });
        rmSync(kept, { recursive: true });
        await redis.start();
        await Promise.all(replicas.map(answers));
        await scene.ask();
        await scene.told();
        expect(scene.judge().broken).toEqual([]);
      } finally {
        await redis.stop();
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );

  fault('F49', 'a failover to a Redis that misses the last writes: the rest is in cluster and Slack', async (scene) => {
    const next = await RedisServer.start();
    const client = next.client();
    try {
      const replicas = [await scene.boot(), await scene.boot()];
      await client.replicaof('127.0.0.1', scene.redis.port);
      await until(async () => (await client.info('replication')).includes('master_link_status:up'));
      await scene.ask({ lines: 100, before: 'sleep 2;' });
      await launched(scene, 1);
      await client.replicaof('NO', 'ONE');
      await scene.ask({ lines: 100, before: 'sleep 2;' });
      await launched(scene, 2);
      await scene.redis.kill();
      for (const { middle } of replicas) middle.targetPort = next.port;
      await Promise.all(replicas.map(answers));
      await scene.ask();
      await scene.told();
      expect(scene.judge().broken).toEqual([]);
    } finally {
      client.disconnect();
      await next.stop();
    }
  });

  fault('F50', 'Redis is emptied under runs in every stage: each is told once', async (scene) => {
    await scene.boot();
    await scene.boot();
    const emptied = emptier(scene);
    await scene.ask({ lines: 100 });
    await scene.told();
    for (const before of ['sleep 2;', 'sleep 1;', '']) await scene.ask({ lines: 100, before });
    await scene.ask({ image: 'missing' });
    await launched(scene, 5);
    for (let times = 0; times < 3; times += 1) {
      await emptied();
      await scene.ask({ lines: 100, before: times === 1 ? 'sleep 1;' : '' });
    }
    await scene.told();
    expect(scene.judge().broken).toEqual([]);
  });

  fault(
    'F50',
    'Redis is emptied and the replica that held the run is killed: the next one finds it in the cluster',
    async (scene) => {
      const first = await scene.boot();
      await scene.ask({ lines: 100, before: 'sleep 2;' });
      await scene.ask({ lines: 100, before: 'sleep 1;' });
      await launched(scene, 2);
      scene.kill(first);
      await emptier(scene)();
      await scene.boot();
      await scene.told();
      expect(scene.judge().broken).toEqual([]);
      expect(cluster().pod('shop', scene.servers.pod)?.spec.ephemeralContainers).toHaveLength(2);
    },
  );
}

/** F51: what Redis will not do. */
function refusing(fault: Fault): void {
  fault('F51', 'Redis is out of reach: an honest private answer in time, nothing half accepted', async (scene) => {
    const replica = await scene.boot();
    await scene.ask({ lines: 100, before: 'sleep 1;' });
    await launched(scene, 1);
    replica.middle.refusing = true;
    replica.middle.cut();
    for (let tries = 0; tries < 3; tries += 1) await refused(scene);
    replica.middle.refusing = false;
    await answers(replica);
    await scene.ask();
    await scene.told();
    expect(scene.judge().broken).toEqual([]);
  });

  fault(
    'F51',
    `Redis stands still for ${FROZEN_MS / 1_000} s: an honest private answer in time to commands and clicks, and none of them is carried out later`,
    async (scene) => {
      const replica = await scene.boot();
      await scene.ask({ lines: 100, before: 'sleep 1;' });
      await scene.ask({ image: 'debugger', user: 'U0THURSTON', flags: '--profile=sysadmin' });
      const { slack } = scene.servers;
      const card = await slack.until(() =>
        scene.servers.posts('anchor').find(({ text }) => /Approval needed/.test(text)),
      );
      await launched(scene, 1);
      scene.redis.freeze();
      const thawAtMs = performance.now() + FROZEN_MS;
      do {
        await refused(scene);
        const { error } = await scene.servers.press('U0BOB', 'approve', card.ts);
        expect(error).toBeUndefined();
      } while (performance.now() < thawAtMs);
      expect(JSON.stringify(slack.ephemerals('U0BOB'))).toContain(HONEST);
      scene.redis.thaw();
      await answers(replica);
      // The card may have been posted in the moment before, and not be on record yet: then a person presses again.
      await until(async () => {
        await scene.servers.press('U0BOB', 'approve', card.ts).catch(() => undefined);
        return scene.containers === 2;
      });
      await slack.until(() => scene.servers.posts('result').length === 2);
      await scene.told();
      expect(scene.judge().broken).toEqual([]);
    },
  );

  for (const [what, spoil, fix] of [
    [
      'has become a read-only replica',
      (redis: Redis) => redis.replicaof('127.0.0.1', '9'),
      (redis: Redis) => redis.replicaof('NO', 'ONE'),
    ],
    [
      'is out of memory',
      (redis: Redis) => redis.config('SET', 'maxmemory', '1'),
      (redis: Redis) => redis.config('SET', 'maxmemory', '0'),
    ],
    [
      'has its rights taken from us',
      (redis: Redis) => redis.acl('SETUSER', 'default', '-evalsha', '-eval'),
      (redis: Redis) => redis.acl('SETUSER', 'default', '+@all'),
    ],
  ] as const)
    fault('F51', `Redis ${what}: an honest private answer in time, and all goes on afterwards`, async (scene) => {
      const redis = scene.redis.client();
      const replica = await scene.boot();
      await scene.ask({ lines: 100, before: 'sleep 1;' });
      await launched(scene, 1);
      await spoil(redis);
      for (let tries = 0; tries < 2; tries += 1) await refused(scene);
      await fix(redis);
      redis.disconnect();
      await answers(replica);
      await scene.ask();
      await scene.told();
      expect(scene.judge().broken).toEqual([]);
    });

  fault('F51', 'Redis holds something else under a key of ours: it is dropped, and the work goes on', async (scene) => {
    const redis = scene.redis.client();
    await scene.boot();
    await scene.ask({ lines: 100, before: 'sleep 1;' });
    await redis.set('{kdebug}:leases', 'not a sorted set');
    const { answer } = await scene.ask();
    expect(answer).toBe('');
    await scene.told();
    expect(await redis.type('{kdebug}:leases')).not.toBe('string');
    redis.disconnect();
    expect(scene.judge().broken).toEqual([]);
  });

  fault('F51', 'Redis forgets its scripts again and again: nobody notices', async (scene) => {
    const redis = scene.redis.client();
    await scene.boot();
    let flushed = 0;
    const stop = scene.servers.slack.watchRequests(() => {
      flushed += 1;
      void redis.script('FLUSH');
    });
    await scene.ask({ lines: 100, before: 'sleep 1;' });
    await scene.told();
    stop();
    redis.disconnect();
    expect(flushed).toBeGreaterThan(2);
    expect(scene.judge().broken).toEqual([]);
  });

  for (const [args, why] of [
    [['--maxmemory-policy', 'allkeys-lru'], 'set it to noeviction'],
    [['--replicaof', '127.0.0.1 9'], 'name the primary'],
    [['--requirepass', 'secret'], 'NOAUTH'],
  ] as const)
    fault('F51', `a Redis with ${args.join(' ')} is refused at the start, and the reason is named`, async () => {
      const redis = await RedisServer.start(args);
      try {
        const detail = expect.stringContaining(why);
        await expect(aStore(redis.url)).rejects.toMatchObject({ code: 'store_misconfigured', detail });
      } finally {
        await redis.stop();
      }
    });
}

/** F52: the command was carried out, and its answer is lost. */
function lostAnswers(fault: Fault): void {
  for (const word of ['created', 'leased', 'saved', 'renewed', 'released', 'claimed'])
    fault('F52', `the answer "${word}" of Redis is lost, and the command sent again: it counts once`, async (scene) => {
      const replica = await scene.boot();
      const cuts = { left: 3 };
      replica.middle.onReply = (piece) => {
        if (!piece.includes(word) || cuts.left === 0) return piece;
        cuts.left -= 1;
        return 'cut';
      };
      const { answer } = await scene.ask({
        image: 'debugger',
        user: 'U0THURSTON',
        flags: '--profile=sysadmin',
        lines: 100,
        before: word === 'renewed' ? 'sleep 2;' : '',
      });
      expect(answer).toBe('');
      const { slack } = scene.servers;
      const card = await slack.until(() =>
        scene.servers.posts('anchor').find(({ text }) => /Approval needed/.test(text)),
      );
      await scene.servers.press('U0BOB', 'approve', card.ts);
      await slack.until(() => scene.servers.posts('result').length > 0 && cuts.left < 3);
      await scene.told();
      expect(scene.judge().broken).toEqual([]);
      expect(scene.servers.audit.entries.filter(({ step }) => step === 'vote')).toHaveLength(1);
    });
}

/** The store does not answer for a minute, from every moment of a run on; nothing of that is seen in Slack in the end. */
async function partition(): Promise<void> {
  const quiet = new PortScene(MAIN);
  await quiet.play();
  const saves = quiet.effects.of(0).filter((effect) => effect.startsWith('store.save:'));
  expect(saves.length).toBeGreaterThan(6);
  for (const [index, effect] of saves.entries()) {
    const scene = new PortScene(MAIN);
    const { store, clock } = scene;
    const state = { saves: 0, untilMs: 0 };
    scene.store = new Proxy(store, {
      get:
        (target, key) =>
        async (...args: readonly unknown[]) => {
          if (key === 'save') state.saves += 1;
          if (state.saves === index + 1 && state.untilMs === 0) state.untilMs = clock.now() + 60_000;
          if (clock.now() < state.untilMs) throw new KdebugError('store_unreachable');
          return Reflect.apply(Reflect.get(target, key), target, args);
        },
    });
    scene.boot();
    await scene.type();
    await clock.advance(70_000);
    await scene.goOn();
    expect({ effect, broken: (await judge(scene, MAIN)).broken }).toEqual({ effect, broken: [] });
  }
}

/**
 * A command that is answered honestly while Slack waits for it, and starts nothing. That the store lets go within two seconds
 * is judged where a slow machine cannot change it: redis-faults.test.ts.
 */
async function refused(scene: RedisScene): Promise<void> {
  const { answer } = await scene.ask();
  expect(answer).toContain(HONEST);
}

/** Until the cluster holds so many containers of ours. */
const launched = (scene: RedisScene, count: number): Promise<void> => until(() => scene.containers >= count);

const answers = ({ store }: RedisReplica): Promise<void> =>
  until(() =>
    store.check().then(
      () => true,
      () => false,
    ),
  );

function emptier(scene: RedisScene): () => Promise<void> {
  return async () => {
    const redis = scene.redis.client();
    await redis.flushall();
    redis.disconnect();
  };
}
