import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeRunStore } from '../run-store.conformance.ts';
import { hasRedis, RedisServer } from './redis-server.ts';
import { age, aStore } from './stores.ts';

describe.skipIf(!hasRedis)('with a real Redis', () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  describeRunStore('RedisRunStore', async () => {
    await redis.flushall();
    return {
      store: await aStore(server.url),
      second: await aStore(server.url),
      leaseMs: 30_000,
      now: () => Date.now(),
      elapse: async (ms) => {
        await age(redis, ms);
      },
    };
  });
});
