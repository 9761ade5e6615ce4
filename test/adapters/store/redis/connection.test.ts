import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisConnection } from '../../../../src/adapters/store/redis/connection.ts';
import { hasRedis, RedisServer } from './redis-server.ts';
import { Lines } from './stores.ts';

/** Timers may fire a moment early, but not each time: enough tries for both. */
const TRIES = 12;

describe.skipIf(!hasRedis)('a connection to Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('is used on after an answer that was too late, for nothing would ever say that it is back', async () => {
    const log = new Lines();
    const connection = new RedisConnection({ url: server.url }, log);
    await connection.opened(5_000);
    const other = server.client();
    for (let tries = 0; tries < TRIES; tries += 1) {
      const late = connection.call('blpop', (redis) => redis.blpop('nothing', 0), performance.now() + 40);
      await expect(late).rejects.toMatchObject({ code: 'store_unreachable', facts: { maybeDone: true } });
      // The answer comes only now, however slow this machine is.
      await other.rpush('nothing', 'late');
      await expect(connection.call('ping', (redis) => redis.ping())).resolves.toBe('PONG');
    }
    expect(log.messages).toEqual([]);
    connection.close();
    other.disconnect();
  });
});
