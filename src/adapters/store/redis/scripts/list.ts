import { script } from './script.ts';

/**
 * The newest runs of some sorted sets (score: born), newest first. Runs that are gone, or are not for us, are left out.
 *
 *   KEYS     the sorted sets: open:<channel>, history:<channel>, grants:<channel>
 *   ARGV[5]  at most so many
 *   result   runs, now, then for each: id, sealed record
 *   work     in proportion to the limit
 */
export const LIST = script(`
local limit = tonumber(ARGV[5])
local found = {}
for _, key in ipairs(KEYS) do
  local members = redis.call('ZRANGE', key, 0, 2 * limit - 1, 'REV', 'WITHSCORES')
  for i = 1, #members, 2 do found[#found + 1] = { id = members[i], born = tonumber(members[i + 1]) } end
end
table.sort(found, function(a, b) return a.born > b.born or (a.born == b.born and a.id > b.id) end)

local answer = {'runs', nowMs}
for _, one in ipairs(found) do
  if #answer >= 2 + 2 * limit then break end
  local run = redis.call('HMGET', runKey(one.id), 'key', 'schema', 'data')
  if run[3] and fits(run[1], run[2]) then
    answer[#answer + 1] = one.id
    answer[#answer + 1] = run[3]
  end
end
return answer
`);
