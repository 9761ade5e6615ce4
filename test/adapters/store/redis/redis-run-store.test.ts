import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../../../../src/adapters/metrics/index.ts';
import { asRunId } from '../../../../src/core/ids.ts';
import { samplesOf } from '../../../support/metric-lines.ts';
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

  it('counts its calls by script or command, and by result', async () => {
    const metrics = createMetrics({ clock: { now: Date.now }, ofProcess: false });
    const store = await aStore(server.url, { metrics });
    await store.read(asRunId('zzzzzzzzzz'));
    await store.pending();
    await store.close();
    await expect(store.pending()).rejects.toMatchObject({ code: 'store_unreachable' });
    const counted = await samplesOf(metrics, 'api_call_seconds_count');
    for (const call of ['method="hmget",result="ok"', 'method="pending",result="ok"', 'method="probe",result="ok"'])
      expect(counted).toContain(`api_call_seconds_count{api="redis",${call}} 1`);
    expect(counted).toContain('api_call_seconds_count{api="redis",method="pending",result="store_unreachable"} 1');
  });
});
