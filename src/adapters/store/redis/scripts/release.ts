import { script } from './script.ts';

/**
 * Gives a lease back if the fence is the newest; the run may be claimed at once, or from when it is parked until.
 *
 *   KEYS[1]  run:<id>   KEYS[2]  leases   KEYS[3]  waiting
 *   ARGV[5]  id         ARGV[6]  fence    ARGV[7]  claim not before, ms from now
 *   result   released, now
 *   repeat   nothing changes
 */
export const RELEASE = script(`
local run = redis.call('HMGET', KEYS[1], 'fence', 'born', 'class', 'parked', 'owner')
if run[1] ~= ARGV[6] or run[3] == 'settled' or run[5] == '' then return {'released', nowMs} end
local member = run[2] .. '.' .. ARGV[5]
redis.call('HSET', KEYS[1], 'owner', '')
redis.call('ZREM', KEYS[2], member)
due(KEYS[3], math.max(tonumber(run[4]), tonumber(ARGV[7]) > 0 and nowMs + tonumber(ARGV[7]) or 0), member)
return {'released', nowMs}
`);
