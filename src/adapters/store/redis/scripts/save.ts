import { script } from './script.ts';

/**
 * Replaces the record if the fence is the newest; then the lease, if there is one, begins anew: who was told `saved` still has the run
 * for as long, even when the lease had lapsed and nobody had claimed it.
 *
 *   KEYS[1]  run:<id>
 *   ARGV[5]  id             ARGV[6]  fence         ARGV[7]  writer (a store's own name)   ARGV[8]  number of the save
 *   ARGV[9]  sealed record  ARGV[10] class         ARGV[11] grant, 0 or 1
 *   ARGV[12] parked until, ms; 0: not parked       ARGV[13] retention, ms                 ARGV[14] most settled runs
 *   ARGV[15] lease, ms
 *   result   saved, now | stale, now | limited, now (a quota has no room for one more that waits for an approval; nothing changed)
 *   repeat   of the same number: saved, and nothing changes; so does a save that a later one of the same writer overtook
 */
export const SAVE = script(`
local id = ARGV[5]
local run = redis.call('HMGET', KEYS[1], 'fence', 'by', 'born', 'class', 'grant', 'channel', 'dedupe', 'quotas', 'bounds')
if run[1] ~= ARGV[6] then return {'stale', nowMs} end
local writer, number = string.match(run[2] or '', '^(.*):(%d+)$')
if writer == ARGV[7] and tonumber(number) >= tonumber(ARGV[8]) then return {'saved', nowMs} end

local class = run[4] == 'settled' and run[4] or ARGV[10]
if class == 'pending' and run[4] ~= 'pending' and isFull('pending:', run[8], run[9] or '') then return {'limited', nowMs} end
redis.call('HSET', KEYS[1], 'data', ARGV[9], 'schema', text(schema), 'key', keyId, 'by', ARGV[7] .. ':' .. ARGV[8],
  'class', class, 'grant', ARGV[11], 'parked', ARGV[12])
if run[4] == 'settled' then return {'saved', nowMs} end
if redis.call('ZSCORE', leases, run[3] .. '.' .. id) then due(leases, nowMs + tonumber(ARGV[15]), run[3] .. '.' .. id) end
redis.call('PEXPIRE', KEYS[1], text(KEEP_MS))
redis.call('PEXPIRE', prefix .. 'dedupe:' .. run[7], text(KEEP_MS))
local member = run[3] .. '.' .. id
if redis.call('ZSCORE', waiting, member) then due(waiting, tonumber(ARGV[12]), member) end
if class ~= run[4] or ARGV[11] ~= run[5] then
  place(id, { born = run[3], class = class, grant = ARGV[11], channel = run[6], dedupe = run[7], quotas = run[8] },
    tonumber(ARGV[13]), tonumber(ARGV[14]))
end
return {'saved', nowMs}
`);
