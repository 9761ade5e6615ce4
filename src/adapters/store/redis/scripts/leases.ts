import { script } from './script.ts';

/**
 * Leases runs without a holder that are due now. Those whose lease lapsed first come first, the oldest first.
 *
 *   KEYS[1]  leases     KEYS[2]  waiting
 *   ARGV[5]  owner      ARGV[6]  lease, ms   ARGV[7]  limit
 *   result   claimed, now, then for each: id, fence, sealed record
 *   repeat   returns other runs; nobody renews a lease whose answer was lost, so it lapses
 *   work     O(limit): reads at most twice as many runs
 */
export const CLAIM = script(
  'claim',
  `
local owner, leaseMs, limit = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local found = {}
for _, key in ipairs(KEYS) do
  for _, member in ipairs(call('ZRANGEBYSCORE', key, '-inf', text(nowMs), 'LIMIT', 0, limit)) do
    found[#found + 1] = member
  end
end
table.sort(found)

local answer = {'claimed', nowMs}
local left = limit
for _, member in ipairs(found) do
  if left == 0 then break end
  local id = string.sub(member, 18)
  local run = call('HMGET', runKey(id), 'fence', 'born', 'parked', 'key', 'schema', 'data')
  local putOffMs = tonumber(run[3]) or 0
  -- For who has the key, or is new enough: looked at again in a second.
  if not fits(run[4], run[5]) then putOffMs = nowMs + 1000 end
  -- Gone, or spoilt from outside.
  if not tonumber(run[1]) or run[2] ~= string.sub(member, 1, 16) then
    call('ZREM', leases, member)
    call('ZREM', waiting, member)
  elseif putOffMs > nowMs then
    call('ZREM', leases, member)
    due(waiting, putOffMs, member)
  else
    left = left - 1
    answer[#answer + 1] = id
    answer[#answer + 1] = lease(id, run[2], owner, leaseMs, tonumber(run[1]))
    answer[#answer + 1] = run[6]
  end
end
return answer
`,
);

/**
 * Leases one run, unless another owner holds it.
 *
 *   KEYS[1]  run:<id>   KEYS[2]  leases   KEYS[3]  waiting
 *   ARGV[5]  id         ARGV[6]  owner    ARGV[7]  lease, ms
 *   result   leased, now, fence, sealed record | held, now, fence, ms when that lease lapses | none, now
 *            | foreign, now (sealed with another key, or of a newer schema)
 *   repeat   by the same owner: a new lease; the older fence is stale
 */
export const LEASE = script(
  'lease',
  `
local id, owner = ARGV[5], ARGV[6]
local run = call('HMGET', KEYS[1], 'fence', 'owner', 'class', 'born', 'key', 'schema', 'data')
if not tonumber(run[1]) or not isTime(run[4]) or run[3] == 'settled' then return {'none', nowMs} end
if not fits(run[5], run[6]) then return {'foreign', nowMs} end
local endsMs = call('ZSCORE', KEYS[2], run[4] .. '.' .. id)
if endsMs and tonumber(endsMs) > nowMs and run[2] ~= owner then return {'held', nowMs, run[1], endsMs} end
return {'leased', nowMs, lease(id, run[4], owner, tonumber(ARGV[7]), tonumber(run[1])), run[7]}
`,
);

/**
 * Extends leases, each only while its fence is the newest.
 *
 *   KEYS[1]  leases
 *   ARGV[5]  lease, ms
 *   ARGV[6…] for each: id, fence
 *   result   renewed, now, then the ids of runs that are gone or have another owner
 *   repeat   extends again
 */
export const RENEW = script(
  'renew',
  `
local endsMs = text(nowMs + tonumber(ARGV[5]))
local answer = {'renewed', nowMs}
for i = 6, #ARGV, 2 do
  local run = call('HMGET', runKey(ARGV[i]), 'fence', 'born')
  if run[1] == ARGV[i + 1] and isTime(run[2]) then
    call('ZADD', KEYS[1], 'XX', endsMs, run[2] .. '.' .. ARGV[i])
  else
    answer[#answer + 1] = ARGV[i]
  end
end
return answer
`,
);

/**
 * Releases a lease if the fence is the newest; the run may be claimed at once, or after its parking time.
 *
 *   KEYS[1]  run:<id>   KEYS[2]  leases   KEYS[3]  waiting
 *   ARGV[5]  id         ARGV[6]  fence    ARGV[7]  claim not before, ms from now
 *   result   released, now
 *   repeat   nothing changes
 */
export const RELEASE = script(
  'release',
  `
local run = call('HMGET', KEYS[1], 'fence', 'born', 'class', 'parked', 'owner')
if run[1] ~= ARGV[6] or not isTime(run[2]) or run[3] == 'settled' or run[5] == '' then return {'released', nowMs} end
local member = run[2] .. '.' .. ARGV[5]
call('HSET', KEYS[1], 'owner', '')
call('ZREM', KEYS[2], member)
due(KEYS[3], math.max(tonumber(run[4]) or 0, tonumber(ARGV[7]) > 0 and nowMs + tonumber(ARGV[7]) or 0), member)
return {'released', nowMs}
`,
);
