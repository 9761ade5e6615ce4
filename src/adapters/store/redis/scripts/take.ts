import { script } from './script.ts';

/**
 * Leases one run, unless another owner holds it.
 *
 *   KEYS[1]  run:<id>   KEYS[2]  leases   KEYS[3]  waiting
 *   ARGV[5]  id         ARGV[6]  owner    ARGV[7]  lease, ms
 *   result   leased, now, fence, sealed record | none, now | foreign, now (sealed with another key, or of a newer schema)
 *   repeat   by the same owner: a new lease; the older fence is stale
 */
export const TAKE = script(`
local id, owner = ARGV[5], ARGV[6]
local run = redis.call('HMGET', KEYS[1], 'fence', 'owner', 'class', 'born', 'key', 'schema', 'data')
if not run[1] or run[3] == 'settled' then return {'none', nowMs} end
if not fits(run[5], run[6]) then return {'foreign', nowMs} end
local endsMs = redis.call('ZSCORE', KEYS[2], run[4] .. '.' .. id)
if endsMs and tonumber(endsMs) > nowMs and run[2] ~= owner then return {'none', nowMs} end
return {'leased', nowMs, lease(id, run[4], owner, tonumber(ARGV[7]), tonumber(run[1])), run[7]}
`);
