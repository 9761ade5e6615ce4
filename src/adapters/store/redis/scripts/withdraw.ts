import { script } from './script.ts';

/**
 * Takes back a creation whose answer never came: whoever asked was told that nothing was started. A run that somebody has
 * worked on since stays.
 *
 *   KEYS[1]  run:<id>
 *   ARGV[5]  id         ARGV[6]  owner that created it
 *   result   withdrawn, now | kept, now
 *   repeat   nothing changes
 */
export const WITHDRAW = script(`
local run = redis.call('HMGET', KEYS[1], 'owner', 'by')
if run[1] ~= ARGV[6] or run[2] then return {'kept', nowMs} end
forget(ARGV[5])
return {'withdrawn', nowMs}
`);
