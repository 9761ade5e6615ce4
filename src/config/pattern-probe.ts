import { createContext, runInContext } from 'node:vm';

/** Half the longest line that the filter checks at once, so that two fit. */
const PROBE_LENGTH = 30_000;
/** A linear pattern takes about a millisecond; a quadratic one checks 450 million characters. */
const DEADLINE_MS = 150;
/**
 * A text this many times shorter measures a linear pattern, which finishes before the scheduler switches to other work.
 */
const SHORTER = 16;
/**
 * The fastest of these runs counts, because a busy machine delays others. Each may take its deadline, so there are few.
 */
const RUNS = 3;
/** Tolerance of the whole text over the projection from the short one. A quadratic pattern exceeds it sixteenfold. */
const SLACK = 4;
/** Applies however long the short text takes. */
const MAX_DEADLINE_MS = 2 * DEADLINE_MS;
const MAX_LETTERS = 24;
/** One of each kind of character that classes name. */
const KINDS = ['a', 'Z', '0', '_', ' ', '-', '.', '!'];

/** Letters of the pattern itself come first: a slow pattern is slow on those. */
function lettersOf(source: string): readonly string[] {
  const named = source.replace(/\\[a-zA-Z]/g, '').match(/[\w\-=:;,.@/ "'!#%&~]/g) ?? [];
  return [...new Set([...named, ...KINDS])].slice(0, MAX_LETTERS);
}

function* probesOf(source: string): Generator<string> {
  const letters = lettersOf(source);
  const literal = source.replace(/\\(\W)/g, '$1').replace(/[\\^$()[\]{}|*+?]/g, '');
  const units = [
    ...letters,
    ...letters.map((letter, index) => letter + (letters[index + 1] ?? letters[0])),
    ...(literal === '' ? [] : [literal]),
  ];
  for (const unit of units) yield unit.repeat(Math.ceil(PROBE_LENGTH / unit.length));
}

/** The time of the pattern over a text, in milliseconds; undefined after an interruption. */
type Timed = (text: string, deadlineMs: number) => number | undefined;

function timer(pattern: RegExp): Timed {
  const context = createContext({ pattern, text: '' });
  return (text, deadlineMs) => {
    context.text = `${text}\u0000`;
    const startMs = performance.now();
    try {
      runInContext('for (const _ of text.matchAll(pattern));', context, { timeout: deadlineMs });
      return performance.now() - startMs;
    } catch {
      return undefined;
    }
  };
}

/** The fastest of several runs; undefined if all were interrupted. */
function leastMs(run: () => number | undefined): number | undefined {
  const times: number[] = [];
  for (let count = 0; count < RUNS; count++) times.push(run() ?? Number.POSITIVE_INFINITY);
  const least = Math.min(...times);
  return Number.isFinite(least) ? least : undefined;
}

/** Whether the pattern is slow, not just the machine: checks how its time grows with the text, and retries. */
function isSlow(timed: Timed, text: string): boolean {
  const short = text.slice(0, PROBE_LENGTH / SHORTER);
  const shortMs = leastMs(() => timed(short, DEADLINE_MS));
  if (shortMs === undefined) return true;
  const deadlineMs = Math.min(MAX_DEADLINE_MS, Math.max(DEADLINE_MS, Math.ceil(shortMs * SHORTER * SLACK)));
  for (let count = 0; count < RUNS; count++) if (timed(text, deadlineMs) !== undefined) return false;
  return true;
}

/**
 * The beginning of a text that takes the pattern far longer than linear time, or `undefined`. A deadline interrupts the
 * engine in every probe. An interrupted probe must fail again before it counts, so a busy machine refuses nothing.
 * @throws SyntaxError if the source is not a pattern
 */
export function slowProbe(source: string): string | undefined {
  const timed = timer(new RegExp(source, 'g'));
  for (const text of probesOf(source)) {
    if (timed(text, DEADLINE_MS) === undefined && isSlow(timed, text)) return text.slice(0, 12);
  }
  return undefined;
}
