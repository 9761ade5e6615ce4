import { script } from './script.ts';

/**
 * Leases runs that nobody holds and that may be worked on now. Of those whose lease lapsed first, the oldest first.
 *
 *   KEYS[1]  leases     KEYS[2]  waiting
 *   ARGV[5]  owner      ARGV[6]  lease, ms   ARGV[7]  at most so many
 *   result   claimed, now, then for each: id, fence, sealed record
 *   repeat   gives other runs; a lease whose answer was lost is not renewed by anybody, and lapses
 *   work     in proportion to the limit: at most twice as many runs are looked at
 */
export const CLAIM = script(`
local owner, leaseMs, limit = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local found = {}
for _, key in ipairs(KEYS) do
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', text(nowMs), 'LIMIT', 0, limit)) do
    found[#found + 1] = member
  end
end
table.sort(found)

local answer = {'claimed', nowMs}
local left = limit
for _, member in ipairs(found) do
  if left == 0 then break end
  local id = string.sub(member, 18)
  local run = redis.call('HMGET', runKey(id), 'fence', 'born', 'parked', 'key', 'schema', 'data')
  local putOffMs = run[1] and tonumber(run[3]) or 0
  -- For who has the key, or is new enough: looked at again in a second.
  if run[1] and not fits(run[4], run[5]) then putOffMs = nowMs + 1000 end
  if not run[1] then
    redis.call('ZREM', leases, member)
    redis.call('ZREM', waiting, member)
  elseif putOffMs > nowMs then
    redis.call('ZREM', leases, member)
    due(waiting, putOffMs, member)
  else
    left = left - 1
    answer[#answer + 1] = id
    answer[#answer + 1] = lease(id, run[2], owner, leaseMs, tonumber(run[1]))
    answer[#answer + 1] = run[6]
  end
end
return answer
`);
