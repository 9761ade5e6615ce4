import { script } from './script.ts';

/**
 * Extends leases, each only while its fence is the newest.
 *
 *   KEYS[1]  leases
 *   ARGV[5]  lease, ms
 *   ARGV[6…] for each: id, fence
 *   result   renewed, now, then the ids that another owner has, or that are gone
 *   repeat   extends again
 */
export const RENEW = script(`
local endsMs = text(nowMs + tonumber(ARGV[5]))
local answer = {'renewed', nowMs}
for i = 6, #ARGV, 2 do
  local run = redis.call('HMGET', runKey(ARGV[i]), 'fence', 'born')
  if run[1] == ARGV[i + 1] then
    redis.call('ZADD', KEYS[1], 'XX', endsMs, run[2] .. '.' .. ARGV[i])
  else
    answer[#answer + 1] = ARGV[i]
  end
end
return answer
`);
