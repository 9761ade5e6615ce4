import { createHash } from 'node:crypto';

/** A Lua script, which Redis runs atomically, and its SHA-1, by which Redis knows a script after its first run. */
export interface Script {
  /** For the metrics. */
  readonly name: string;
  readonly text: string;
  readonly sha: string;
}

/** Puts the prelude before a script, so that time, key names and index updates are written once. */
export function script(name: string, body: string): Script {
  const text = `${PRELUDE}\nlocal function answer()\n${body}\nend\n${END}`;
  return { name, text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * The part that all scripts share. Common arguments and results:
 *
 *   ARGV[1]  prefix of every key, with its hash tag: "{kdebug}:"
 *   ARGV[2]  not after, ms of Redis' clock; 0: whenever. A command that waited longer (in a frozen server, in a socket) does
 *            nothing: its caller has given up
 *   ARGV[3]  id of the sealing key; runs sealed with another key stay untouched
 *   ARGV[4]  newest schema that the caller reads; runs with a newer one stay untouched
 *   result   an array: a word, Redis' time in ms, then the script's own values
 *            | dropped, now, how many keys, these keys, then that array: keys of another type than kdebug gives them
 *
 * Only somebody else can have put such a key there. It goes, as if they had deleted it, so that it hurts one run and not all that share its lists.
 * For the same reason a script that works on several runs takes no field of a run's hash on trust.
 *
 * Time is Redis' own, so that replicas with wrong clocks agree. Keys derive from ids and from names in the run's hash,
 * all under the same hash tag. Fields of `run:<id>`: data (sealed), key, schema, fence, owner (empty: nobody), by (writer and number of
 * the last save), born (µs, 16 digits), class (open | pending | final | settled), parked (ms), grant (0 | 1), channel, dedupe, quotas
 * and their bounds, in the same order.
 * Indexes, all sorted sets: leases (score: ms when the lease lapses) and waiting (ms from when it may be claimed), members
 * "<born>.<id>", so that equal scores sort by age; open, grants, history (a channel each; score: born), awaiting (an approval; score: born) and
 * settled (ms).
 */
const PRELUDE = `
local prefix, notAfter, keyId, schema = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local clock = redis.call('TIME')
local nowUs = clock[1] * 1000000 + clock[2]
local nowMs = math.floor(nowUs / 1000)
if notAfter > 0 and nowMs > notAfter then return {'late', nowMs} end

-- What is not settled is kept for 30 days after its last write: far longer than any run takes, so that only wreckage goes.
local KEEP_MS = 2592000000
-- Settled runs that the verb list can reach, a channel.
local HISTORY = 200

local dropped = {}
-- A command on one key.
local function call(command, key, ...)
  local answer = redis.pcall(command, key, ...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  if string.find(answer.err, 'WRONGTYPE', 1, true) then
    redis.call('DEL', key)
    dropped[#dropped + 1] = key
  end
  return redis.call(command, key, ...)
end

local function text(number) return string.format('%.0f', number) end
local function runKey(id) return prefix .. 'run:' .. id end
local leases, waiting, settled = prefix .. 'leases', prefix .. 'waiting', prefix .. 'settled'

-- Adds to a sorted set that cannot keep wreckage: neither the set nor a member outlives KEEP_MS.
local function index(key, bornUs, member)
  call('ZREMRANGEBYSCORE', key, '-inf', text(nowUs - KEEP_MS * 1000))
  call('ZADD', key, bornUs, member)
  call('PEXPIRE', key, text(KEEP_MS))
end

local function due(key, atMs, member)
  call('ZADD', key, text(atMs), member)
  call('PEXPIRE', key, text(KEEP_MS))
end

-- The fence is time, so that it rises even when Redis was emptied or failed over to a copy that misses the last writes.
local function lease(id, born, owner, leaseMs, lastFence)
  local fence = math.max(nowUs, lastFence + 1)
  call('HSET', runKey(id), 'owner', owner, 'fence', text(fence))
  call('ZREM', waiting, born .. '.' .. id)
  due(leases, nowMs + leaseMs, born .. '.' .. id)
  return fence
end

local function isTime(born) return born and string.find(born, '^%d+$') end

-- A schema that is no number is none that we know.
local function fits(runsKey, runsSchema) return runsKey == keyId and (tonumber(runsSchema) or math.huge) <= schema end

local function dropFrom(kind, quotas, id)
  for quota in string.gmatch(quotas, '%S+') do
    if string.sub(quota, 1, #kind) == kind then call('ZREM', prefix .. quota, id) end
  end
end

-- Counts a run towards its quotas of one kind; once, however often.
local function countIn(kind, run, id)
  for quota in string.gmatch(run.quotas, '%S+') do
    if string.sub(quota, 1, #kind) == kind then index(prefix .. quota, run.born, id) end
  end
end

-- Whether a quota of the kind has no room for one more.
local function isFull(kind, quotas, bounds)
  local most = string.gmatch(bounds, '%S+')
  for quota in string.gmatch(quotas, '%S+') do
    -- Runs of an older version have none.
    local bound = tonumber(most() or '')
    if string.sub(quota, 1, #kind) == kind then
      call('ZREMRANGEBYSCORE', prefix .. quota, '-inf', text(nowUs - KEEP_MS * 1000))
      if bound and call('ZCARD', prefix .. quota) >= bound then return true end
    end
  end
  return false
end

local function forget(id)
  local run = call('HMGET', runKey(id), 'born', 'channel', 'dedupe', 'quotas')
  call('ZREM', settled, id)
  call('ZREM', prefix .. 'awaiting', id)
  local born, channel, dedupe, quotas = run[1] or '', run[2] or '', run[3] or '', run[4] or ''
  call('ZREM', leases, born .. '.' .. id)
  call('ZREM', waiting, born .. '.' .. id)
  for _, kind in ipairs({'open:', 'grants:', 'history:'}) do call('ZREM', prefix .. kind .. channel, id) end
  dropFrom('', quotas, id)
  if call('GET', prefix .. 'dedupe:' .. dedupe) == id then call('DEL', prefix .. 'dedupe:' .. dedupe) end
  call('DEL', runKey(id))
end

-- A run that is settled leaves every index of work, and from then on its keys end by themselves.
local function settle(id, run, retentionMs, maxSettled)
  call('ZREM', leases, run.born .. '.' .. id)
  call('ZREM', waiting, run.born .. '.' .. id)
  call('ZREM', prefix .. 'open:' .. run.channel, id)
  call('ZREM', prefix .. 'grants:' .. run.channel, id)
  local history = prefix .. 'history:' .. run.channel
  call('ZADD', history, run.born, id)
  call('ZREMRANGEBYRANK', history, 0, -HISTORY - 1)
  call('ZREMRANGEBYSCORE', settled, '-inf', text(nowMs - retentionMs))
  call('ZADD', settled, text(nowMs), id)
  for _, key in ipairs({history, settled, runKey(id), prefix .. 'dedupe:' .. run.dedupe}) do
    call('PEXPIRE', key, text(retentionMs))
  end
  -- Two for the one that came: the number falls to its bound without work in proportion to the history.
  for _ = 1, 2 do
    if call('ZCARD', settled) > maxSettled then forget(call('ZPOPMIN', settled)[1]) end
  end
end

-- Puts a run into the indexes that its class (open, pending, final, settled) and its grant call for.
local function place(id, run, retentionMs, maxSettled)
  if run.class == 'open' then countIn('count:', run, id) else dropFrom('count:', run.quotas, id) end
  if run.class == 'pending' then index(prefix .. 'awaiting', run.born, id) else call('ZREM', prefix .. 'awaiting', id) end
  if run.class == 'pending' then countIn('pending:', run, id) else dropFrom('pending:', run.quotas, id) end
  if run.class == 'settled' then return settle(id, run, retentionMs, maxSettled) end
  index(prefix .. 'open:' .. run.channel, run.born, id)
  if run.grant == '1' then index(prefix .. 'grants:' .. run.channel, run.born, id) end
end
`;

const END = `
local own = answer()
if #dropped == 0 then return own end
local all = {'dropped', nowMs, #dropped, unpack(dropped)}
for _, value in ipairs(own) do all[#all + 1] = value end
return all
`;
