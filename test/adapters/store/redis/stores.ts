import type { Redis } from 'ioredis';
import { createSeal } from '../../../../src/adapters/seal/index.ts';
import { openRedisRunStore } from '../../../../src/adapters/store/index.ts';
import { deriveKey } from '../../../../src/core/hash.ts';
import type { LogFields, Metrics } from '../../../../src/flow/ports/machine.ts';

/** What a store logged, in order. */
export class Lines {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: LogFields | undefined }[] = [];
  readonly debug = this.#of('debug');
  readonly info = this.#of('info');
  readonly warn = this.#of('warn');
  readonly error = this.#of('error');

  /** Without the standing remark that Debian's Redis deserves. */
  get messages(): readonly string[] {
    return this.lines.map(({ message }) => message).filter((message) => !message.includes('CVE'));
  }

  #of(level: string) {
    return (message: string, fields?: LogFields): void => {
      this.lines.push({ level, message, fields });
    };
  }
}

export const HOUR_MS = 3_600_000;

export interface Over {
  readonly caFile?: string;
  readonly keyPrefix?: string;
  readonly key?: Buffer;
  readonly leaseMs?: number;
  readonly retentionMs?: number;
  readonly maxSettled?: number;
  readonly log?: Lines;
  readonly metrics?: Metrics;
}

/** A store as the composition root makes it. */
export function aStore(url: string, over: Over = {}) {
  const { key = Buffer.alloc(32, 1), log = new Lines(), retentionMs = HOUR_MS, ...rest } = over;
  return openRedisRunStore({
    url,
    keyPrefix: 'kdebug',
    leaseMs: 30_000,
    sealer: createSeal(deriveKey(key, 'records')),
    indexKey: deriveKey(key, 'index'),
    retentionMs: () => retentionMs,
    log,
    ...rest,
  });
}

/** Lets time pass for what stands in Redis: every moment that is kept there moves into the past, every TTL shrinks. */
export const age = (redis: Redis, ms: number): Promise<unknown> => redis.eval(AGE, 0, ms);

const AGE = `
local ms = tonumber(ARGV[1])
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind = string.match(key, '^{.-}:(%w+)')
  local micros = kind == 'open' or kind == 'grants' or kind == 'count' or kind == 'pending' or kind == 'history'
    or kind == 'awaiting'
  if redis.call('TYPE', key).ok == 'zset' then
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
      redis.call('ZINCRBY', key, string.format('%.0f', micros and -ms * 1000 or -ms), member)
    end
  elseif kind == 'run' then
    local parked = tonumber(redis.call('HGET', key, 'parked'))
    if parked > 0 then redis.call('HSET', key, 'parked', string.format('%.0f', parked - ms)) end
  end
  local ttl = redis.call('PTTL', key)
  if ttl >= 0 and ttl <= ms then redis.call('DEL', key) elseif ttl >= 0 then redis.call('PEXPIRE', key, ttl - ms) end
end
return 1`;
