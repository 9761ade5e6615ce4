import { script } from './script.ts';

/**
 * Saves a new run and leases it, unless its dedupe key is known or a quota is full.
 *
 *   KEYS[1]  run:<id>
 *   KEYS[2]  dedupe:<HMAC of the dedupe key>
 *   KEYS[3…] one sorted set a quota: window:<ms>:<HMAC> (score: ms of creation), count:<HMAC> or pending:<HMAC> (score:
 *            µs), members are run ids; a pending one is only noted, for the save that makes the run wait
 *   ARGV[5]  id            ARGV[6]  owner          ARGV[7]  lease, ms       ARGV[8]  the sealed record
 *   ARGV[9]  class         ARGV[10] grant, 0 or 1  ARGV[11] parked until, ms; 0: not parked
 *   ARGV[12] HMAC of the channel                   ARGV[13] HMAC of the dedupe key
 *   ARGV[14] retention, ms ARGV[15] most settled runs
 *   ARGV[16…] the quotas' bounds, in the order of their keys
 *   result   created, now, fence | duplicate, now, id of the first | taken, now (another request has this id)
 *            | limited, now, index of the quota from 0, ms when there is room (0: unknown), how many there are
 *   repeat   by the same owner while it holds the run: the same fence
 */
export const CREATE = script(
  'create',
  `
local id, owner, leaseMs = ARGV[5], ARGV[6], tonumber(ARGV[7])
local known = call('GET', KEYS[2])
if known then
  local held = call('HMGET', runKey(known), 'owner', 'fence')
  if known == id and held[1] == owner then return {'created', nowMs, tonumber(held[2])} end
  return {'duplicate', nowMs, known}
end
if call('EXISTS', KEYS[1]) == 1 then return {'taken', nowMs} end

-- The first write takes memory: of a script's writes Redis, short of it, refuses only the first.
call('SET', KEYS[2], id, 'PX', text(KEEP_MS))
-- How long a quota remembers a creation; nil: as long as the run is open.
local function windowOf(name) return tonumber(string.match(name, '^window:(%d+):') or '') end
local quotas, bounds = {}, {}
for i = 3, #KEYS do
  local name, max = string.sub(KEYS[i], #prefix + 1), tonumber(ARGV[13 + i])
  quotas[#quotas + 1] = name
  bounds[#bounds + 1] = ARGV[13 + i]
  local window = windowOf(name)
  call('ZREMRANGEBYSCORE', KEYS[i], '-inf', text(window and nowMs - window or nowUs - KEEP_MS * 1000))
  local count = call('ZCARD', KEYS[i])
  if count >= max and string.sub(name, 1, 8) ~= 'pending:' then
    local oldest = window and max > 0 and call('ZRANGE', KEYS[i], count - max, count - max, 'WITHSCORES')[2]
    call('DEL', KEYS[2])
    return {'limited', nowMs, i - 3, oldest and tonumber(oldest) + window or 0, count}
  end
end
for i = 3, #KEYS do
  local window = windowOf(quotas[i - 2])
  if window then
    call('ZADD', KEYS[i], text(nowMs), id)
    call('PEXPIRE', KEYS[i], text(window))
  end
end

local run = { born = string.format('%016.0f', nowUs), class = ARGV[9], grant = ARGV[10], channel = ARGV[12],
  dedupe = ARGV[13], quotas = table.concat(quotas, ' '), bounds = table.concat(bounds, ' ') }
call('HSET', KEYS[1], 'data', ARGV[8], 'key', keyId, 'schema', text(schema), 'born', run.born, 'class', run.class,
  'grant', run.grant, 'parked', ARGV[11], 'channel', run.channel, 'dedupe', run.dedupe, 'quotas', run.quotas,
  'bounds', run.bounds)
call('PEXPIRE', KEYS[1], text(KEEP_MS))
local fence = lease(id, run.born, owner, leaseMs, 0)
place(id, run, tonumber(ARGV[14]), tonumber(ARGV[15]))
return {'created', nowMs, fence}
`,
);

/**
 * Replaces the record if the fence is the newest. A lease then starts anew: after `saved` the caller holds the run for
 * a full lease, even if the old one had lapsed unclaimed.
 *
 *   KEYS[1]  run:<id>
 *   ARGV[5]  id             ARGV[6]  fence         ARGV[7]  writer (a store's own name)   ARGV[8]  number of the save
 *   ARGV[9]  sealed record  ARGV[10] class         ARGV[11] grant, 0 or 1
 *   ARGV[12] parked until, ms; 0: not parked       ARGV[13] retention, ms                 ARGV[14] most settled runs
 *   ARGV[15] lease, ms
 *   result   saved, now | stale, now | limited, now (a quota is full of runs that wait for an approval; nothing changed)
 *   repeat   of the same number: saved, and nothing changes; the same for a save that a later one of the same writer overtook
 */
export const SAVE = script(
  'save',
  `
local id = ARGV[5]
local run = call('HMGET', KEYS[1], 'fence', 'by', 'born', 'class', 'grant', 'channel', 'dedupe', 'quotas', 'bounds')
if run[1] ~= ARGV[6] then return {'stale', nowMs} end
-- Spoilt from outside: as if the run were gone.
if not (isTime(run[3]) and run[6] and run[7] and run[8]) then return {'stale', nowMs} end
local writer, number = string.match(run[2] or '', '^(.*):(%d+)$')
if writer == ARGV[7] and tonumber(number) >= tonumber(ARGV[8]) then return {'saved', nowMs} end

local class = run[4] == 'settled' and run[4] or ARGV[10]
if class == 'pending' and run[4] ~= 'pending' and isFull('pending:', run[8], run[9] or '') then return {'limited', nowMs} end
call('HSET', KEYS[1], 'data', ARGV[9], 'schema', text(schema), 'key', keyId, 'by', ARGV[7] .. ':' .. ARGV[8],
  'class', class, 'grant', ARGV[11], 'parked', ARGV[12])
if run[4] == 'settled' then return {'saved', nowMs} end
if call('ZSCORE', leases, run[3] .. '.' .. id) then due(leases, nowMs + tonumber(ARGV[15]), run[3] .. '.' .. id) end
call('PEXPIRE', KEYS[1], text(KEEP_MS))
call('PEXPIRE', prefix .. 'dedupe:' .. run[7], text(KEEP_MS))
local member = run[3] .. '.' .. id
if call('ZSCORE', waiting, member) then due(waiting, tonumber(ARGV[12]), member) end
if class ~= run[4] or ARGV[11] ~= run[5] then
  place(id, { born = run[3], class = class, grant = ARGV[11], channel = run[6], dedupe = run[7], quotas = run[8] },
    tonumber(ARGV[13]), tonumber(ARGV[14]))
end
return {'saved', nowMs}
`,
);

/**
 * The newest runs of some sorted sets (score: born), newest first. Omits deleted runs and those of another key or schema.
 *
 *   KEYS     the sorted sets: open:<channel>, history:<channel>, grants:<channel>
 *   ARGV[5]  at most so many   ARGV[6]  leave out so many of the newest, readable or not
 *   result   runs, now, then for each: id, sealed record
 *   work     O(keys * (skip + limit)) of ids, and `limit` records
 */
export const LIST = script(
  'list',
  `
local limit, skip = tonumber(ARGV[5]), tonumber(ARGV[6])
local found = {}
for _, key in ipairs(KEYS) do
  local members = call('ZRANGE', key, 0, skip + 2 * limit - 1, 'REV', 'WITHSCORES')
  for i = 1, #members, 2 do found[#found + 1] = { id = members[i], born = tonumber(members[i + 1]), key = key } end
end
table.sort(found, function(a, b) return a.born > b.born or (a.born == b.born and a.id > b.id) end)

local answer = {'runs', nowMs}
for i = skip + 1, #found do
  local one = found[i]
  if #answer >= 2 + 2 * limit then break end
  local run = call('HMGET', runKey(one.id), 'key', 'schema', 'data')
  if not run[3] then call('ZREM', one.key, one.id) end
  if run[3] and fits(run[1], run[2]) then
    answer[#answer + 1] = one.id
    answer[#answer + 1] = run[3]
  end
end
return answer
`,
);

/**
 * The runs that wait for an approval, of every key and schema.
 *
 *   KEYS[1]  awaiting
 *   result   pending, now, how many, age of the oldest in ms (0 without any)
 */
export const PENDING = script(
  'pending',
  `
local oldest = call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
local ageMs = oldest and math.max(0, math.floor((nowUs - tonumber(oldest)) / 1000)) or 0
return {'pending', nowMs, call('ZCARD', KEYS[1]), ageMs}
`,
);

/**
 * Withdraws a creation without an answer: its requester saw an error. A run that somebody has worked on since stays.
 *
 *   KEYS[1]  run:<id>
 *   ARGV[5]  id         ARGV[6]  owner that created it
 *   result   withdrawn, now | kept, now
 *   repeat   nothing changes
 */
export const WITHDRAW = script(
  'withdraw',
  `
local run = call('HMGET', KEYS[1], 'owner', 'by')
if run[1] ~= ARGV[6] or run[2] then return {'kept', nowMs} end
forget(ARGV[5])
return {'withdrawn', nowMs}
`,
);
