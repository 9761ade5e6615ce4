import { createContext, runInContext } from 'node:vm';

/** Texts this long are as long as a line that the filter looks at in one piece may be; half of it, so that two fit. */
const PROBE_LENGTH = 30_000;
/** A linear pattern takes about a millisecond; a quadratic one looks at 450 million characters. */
const DEADLINE_MS = 150;
/** A text so much shorter tells how long a linear pattern takes: it is done before anybody else gets the processor. */
const SHORTER = 16;
/** The fastest of so many runs counts: the others had to wait for somebody. Each may take its deadline, so they are few. */
const RUNS = 3;
/** How far the whole text may be beyond what the short one says. A quadratic pattern is sixteen times beyond it. */
const SLACK = 4;
/** However long the short one takes. */
const MAX_DEADLINE_MS = 2 * DEADLINE_MS;
const MAX_LETTERS = 24;
/** One of every kind of character that classes name. */
const KINDS = ['a', 'Z', '0', '_', ' ', '-', '.', '!'];

/** The letters that the pattern names itself come first: what is slow is slow over those. */
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

/** How long the pattern takes over a text, in milliseconds; undefined when it had to be interrupted. */
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

/** The least of several runs; undefined when all of them were interrupted. */
function leastMs(run: () => number | undefined): number | undefined {
  const times: number[] = [];
  for (let count = 0; count < RUNS; count++) times.push(run() ?? Number.POSITIVE_INFINITY);
  const least = Math.min(...times);
  return Number.isFinite(least) ? least : undefined;
}

/** Whether it is the pattern that takes long, and not a busy machine: by how its time grows with the text, and tried again. */
function isSlow(timed: Timed, text: string): boolean {
  const short = text.slice(0, PROBE_LENGTH / SHORTER);
  const shortMs = leastMs(() => timed(short, DEADLINE_MS));
  if (shortMs === undefined) return true;
  const deadlineMs = Math.min(MAX_DEADLINE_MS, Math.max(DEADLINE_MS, Math.ceil(shortMs * SHORTER * SLACK)));
  for (let count = 0; count < RUNS; count++) if (timed(text, deadlineMs) !== undefined) return false;
  return true;
}

/**
 * A text over which the pattern takes far longer than linear time (it begins so), or `undefined`. Every probe has a hard
 * deadline: the engine is interrupted. What was interrupted is looked at again before it counts, so a busy machine refuses nothing.
 * @throws SyntaxError when it is no pattern
 */
export function slowProbe(source: string): string | undefined {
  const timed = timer(new RegExp(source, 'g'));
  for (const text of probesOf(source)) {
    if (timed(text, DEADLINE_MS) === undefined && isSlow(timed, text)) return text.slice(0, 12);
  }
  return undefined;
}
