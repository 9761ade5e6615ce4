import { script } from './script.ts';

/**
 * Tries every command that the scripts use, on keys of its own, so that a missing right is named at start, not in the middle of a run.
 *
 *   KEYS[1…3]  probe:hash, probe:set, probe:text; removed at the end
 *   result     fine, now | refused, now, the command, Redis' own words
 *   repeat     the same
 */
export const PROBE = script(`
local hash, set, words = KEYS[1], KEYS[2], KEYS[3]
local steps = {
  {'HSET', hash, 'field', '1'}, {'HMGET', hash, 'field'}, {'EXISTS', hash},
  {'ZADD', set, 1, 'a', 2, 'b'}, {'ZSCORE', set, 'a'}, {'ZCARD', set}, {'ZRANGE', set, 0, 1, 'REV'},
  {'ZRANGEBYSCORE', set, '-inf', '5'}, {'ZPOPMIN', set}, {'ZREMRANGEBYSCORE', set, '-inf', '0'},
  {'ZREMRANGEBYRANK', set, 5, 6}, {'ZREM', set, 'b'},
  {'SET', words, '1', 'PX', 1000}, {'GET', words}, {'PEXPIRE', words, 1000},
  {'DEL', hash, set, words},
}
for _, step in ipairs(steps) do
  local answer = redis.pcall(unpack(step))
  if type(answer) == 'table' and answer.err then
    for _, key in ipairs(KEYS) do redis.pcall('PEXPIRE', key, 1) end
    return {'refused', nowMs, step[1], answer.err}
  end
end
return {'fine', nowMs}
`);
