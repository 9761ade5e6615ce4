import type { VerdictFinding } from '../facts/verdict.ts';

/** The lines that stacks and profile write when they open an inspector, and when it is closed again. */
const OPENED =
  /^The inspector of process (\d{1,7}) is open until ([01]\d|2[0-3]):([0-5]\d):([0-5]\d) UTC at the latest\.$/;
const CLOSED = /^The inspector of process (\d{1,7}) is closed\.$/;

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
/** No image keeps one open for longer. */
const MAX_OPEN_MS = 30 * 60_000;
const MAX_NAMED = 3;

/**
 * The inspectors that a look may have left open in its target: opened in this log and not closed in it, until a time
 * after `endedAtMs`, the end of the look. Undefined: none. The log is foreign text, so this may only warn.
 */
export function openInspector(log: string, endedAtMs: number): VerdictFinding | undefined {
  const open = new Map<string, number>();
  for (const line of log.split('\n')) {
    const [, opened, hours, minutes, seconds] = OPENED.exec(line) ?? [];
    if (opened !== undefined)
      open.set(opened, msAfter(endedAtMs, Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)));
    const closed = CLOSED.exec(line)?.[1];
    if (closed !== undefined) open.delete(closed);
  }
  const left = [...open].filter(([, ms]) => ms <= MAX_OPEN_MS);
  if (left.length === 0) return undefined;
  const until = new Date(endedAtMs + Math.max(...left.map(([, ms]) => ms))).toISOString().slice(11, 19);
  const ids = left.map(([id]) => id).slice(-MAX_NAMED);
  const [are, closes, is] =
    ids.length === 1
      ? ['inspector of process', 'It closes', 'it is']
      : ['inspectors of processes', 'They close', 'they are'];
  return {
    text: `The ${are} ${ids.join(', ')} may be open until ${until} UTC`,
    next: `${closes} without help by then. Run stacks again after that to see that ${is} closed.`,
    rank: 2,
  };
}

/** From a moment to the next time that the clock shows these seconds of the day. */
function msAfter(momentMs: number, secondOfDay: number): number {
  const whole = Math.floor(momentMs / SECOND_MS) * SECOND_MS;
  return (secondOfDay * SECOND_MS - (whole % DAY_MS) + DAY_MS) % DAY_MS;
}
