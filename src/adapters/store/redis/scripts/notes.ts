import { script } from './script.ts';

/**
 * Leaves a note for the holder of a run.
 *
 *   KEYS[1]  notes:<id>, a sorted set (score: µs) of at most 100; expires a minute after the last note
 *   ARGV[5]  the note, sealed
 *   result   left, now
 *   repeat   nothing changes but its time
 */
export const LEAVE_NOTE = script(
  'leave_note',
  `
call('ZADD', KEYS[1], text(nowUs), ARGV[5])
call('ZREMRANGEBYRANK', KEYS[1], 0, -101)
call('PEXPIRE', KEYS[1], 60000)
return {'left', nowMs}
`,
);

/**
 * Reads and removes the notes, the oldest first.
 *
 *   KEYS[1]  notes:<id>
 *   result   notes, now, then each of them
 *   repeat   none: they are removed
 */
export const READ_NOTES = script(
  'read_notes',
  `
local notes = call('ZRANGE', KEYS[1], 0, -1)
if #notes > 0 then call('DEL', KEYS[1]) end
return {'notes', nowMs, unpack(notes)}
`,
);
