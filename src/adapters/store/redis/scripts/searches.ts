import { script } from './script.ts';

/**
 * Claims a turn to search Slack for a run that the store does not know.
 *
 *   KEYS[1]  searching:<id>, until the turn ends
 *   KEYS[2]  searches, a sorted set (score: ms) of the turns of the last minute
 *   ARGV[5]  id   ARGV[6]  most turns a minute   ARGV[7]  how long the turn lasts, ms
 *   result   yours, now | held, now | none-left, now, ms until a turn is free
 *   repeat   held: whoever lost the answer waits for the end of the turn
 */
export const CLAIM_TURN = script(
  'claim_turn',
  `
local id, most = ARGV[5], tonumber(ARGV[6])
if call('EXISTS', KEYS[1]) == 1 then return {'held', nowMs} end
call('ZREMRANGEBYSCORE', KEYS[2], '-inf', text(nowMs - 60000))
local count = call('ZCARD', KEYS[2])
if count >= most then
  local mustEnd = call('ZRANGE', KEYS[2], count - most, count - most, 'WITHSCORES')[2]
  return {'none-left', nowMs, tonumber(mustEnd) + 60000 - nowMs}
end
call('SET', KEYS[1], '', 'PX', ARGV[7])
call('ZADD', KEYS[2], text(nowMs), text(nowUs) .. '.' .. id)
call('PEXPIRE', KEYS[2], 60000)
return {'yours', nowMs}
`,
);
