import { script } from './script.ts';

/**
 * Keeps a new run and leases it, unless its dedupe key is known or a quota is full.
 *
 *   KEYS[1]  run:<id>
 *   KEYS[2]  dedupe:<HMAC of the dedupe key>
 *   KEYS[3…] one sorted set a quota: minute:<HMAC> (score: ms of creation), count:<HMAC> or pending:<HMAC> (score: µs), members are run
 *            ids; a pending one is only noted, for the save that makes the run wait
 *   ARGV[5]  id            ARGV[6]  owner          ARGV[7]  lease, ms       ARGV[8]  the sealed record
 *   ARGV[9]  class         ARGV[10] grant, 0 or 1  ARGV[11] parked until, ms; 0: not parked
 *   ARGV[12] HMAC of the channel                   ARGV[13] HMAC of the dedupe key
 *   ARGV[14] retention, ms ARGV[15] most settled runs
 *   ARGV[16…] the quotas' bounds, in the order of their keys
 *   result   created, now, fence | duplicate, now, id of the first | taken, now (the id is another request's)
 *            | limited, now, index of the quota from 0, ms when there is room (0: unknown), how many there are
 *   repeat   by the same owner while it holds the run: the same fence
 */
export const CREATE = script(`
local id, owner, leaseMs = ARGV[5], ARGV[6], tonumber(ARGV[7])
local known = redis.call('GET', KEYS[2])
if known then
  local held = redis.call('HMGET', runKey(known), 'owner', 'fence')
  if known == id and held[1] == owner then return {'created', nowMs, tonumber(held[2])} end
  return {'duplicate', nowMs, known}
end
if redis.call('EXISTS', KEYS[1]) == 1 then return {'taken', nowMs} end

-- The first write takes memory: of a script's writes Redis, short of it, refuses only the first.
redis.call('SET', KEYS[2], id, 'PX', text(KEEP_MS))
local quotas, bounds = {}, {}
for i = 3, #KEYS do
  local name, max = string.sub(KEYS[i], #prefix + 1), tonumber(ARGV[13 + i])
  quotas[#quotas + 1] = name
  bounds[#bounds + 1] = ARGV[13 + i]
  local isMinute = string.sub(name, 1, 7) == 'minute:'
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', text(isMinute and nowMs - 60000 or nowUs - KEEP_MS * 1000))
  local count = redis.call('ZCARD', KEYS[i])
  if count >= max and string.sub(name, 1, 8) ~= 'pending:' then
    local oldest = isMinute and max > 0 and redis.call('ZRANGE', KEYS[i], count - max, count - max, 'WITHSCORES')[2]
    redis.call('DEL', KEYS[2])
    return {'limited', nowMs, i - 3, oldest and tonumber(oldest) + 60000 or 0, count}
  end
end
for i = 3, #KEYS do
  if string.sub(quotas[i - 2], 1, 7) == 'minute:' then
    redis.call('ZADD', KEYS[i], text(nowMs), id)
    redis.call('PEXPIRE', KEYS[i], 60000)
  end
end

local run = { born = string.format('%016.0f', nowUs), class = ARGV[9], grant = ARGV[10], channel = ARGV[12],
  dedupe = ARGV[13], quotas = table.concat(quotas, ' '), bounds = table.concat(bounds, ' ') }
redis.call('HSET', KEYS[1], 'data', ARGV[8], 'key', keyId, 'schema', text(schema), 'born', run.born, 'class', run.class,
  'grant', run.grant, 'parked', ARGV[11], 'channel', run.channel, 'dedupe', run.dedupe, 'quotas', run.quotas,
  'bounds', run.bounds)
redis.call('PEXPIRE', KEYS[1], text(KEEP_MS))
local fence = lease(id, run.born, owner, leaseMs, 0)
place(id, run, tonumber(ARGV[14]), tonumber(ARGV[15]))
return {'created', nowMs, fence}
`);
