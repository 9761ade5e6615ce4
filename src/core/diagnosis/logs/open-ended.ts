import { readLogLine } from './log-line.ts';

/** Redis shows the line of its configuration that it does not take, and then says why. */
const REDIS_CONFIG = /^\*\*\* FATAL CONFIG FILE ERROR/;
const REDIS_LINE = /^>>> '/;
/** Pydantic counts what is wrong; each field follows, and below it what is wrong with it. */
const PYDANTIC = /\b\d{1,4} validation errors? for \w{1,80}$/;
/** Pydantic also shows what it was given, which may be all variables. */
const PYDANTIC_INPUT = / \[type=.*/;
const MAX_LINES = 6;

/**
 * The line that says why, with the lines behind it that it leaves open: where it ends in a colon, and where a program
 * first says that something is wrong and then what.
 */
export function completed(line: string, following: readonly string[]): string {
  const next = following
    .slice(0, MAX_LINES)
    .map((each) => readLogLine(each).text.trim())
    .filter((each) => each !== '');
  if (REDIS_CONFIG.test(line)) {
    const at = next.findIndex((each) => REDIS_LINE.test(each));
    return at === -1 ? line : [next[at + 1], next[at]].filter(Boolean).join(': ');
  }
  if (PYDANTIC.test(line)) return [line, ...next.slice(0, 2)].join(': ').replace(PYDANTIC_INPUT, '');
  return line.endsWith(':') && next[0] !== undefined ? `${line} ${next[0]}` : line;
}
