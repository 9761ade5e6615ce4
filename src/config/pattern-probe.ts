import { createContext, runInContext } from 'node:vm';

/** Texts this long are as long as a line that the filter looks at in one piece may be; half of it, so that two fit. */
const PROBE_LENGTH = 30_000;
/** A linear pattern takes about a millisecond; a quadratic one looks at 450 million characters. */
const DEADLINE_MS = 150;
const MOST_LETTERS = 24;
/** One of every kind of character that classes name. */
const KINDS = ['a', 'Z', '0', '_', ' ', '-', '.', '!'];

/** The letters that the pattern names itself come first: what is slow is slow over those. */
function lettersOf(source: string): readonly string[] {
  const named = source.replace(/\\[a-zA-Z]/g, '').match(/[\w\-=:;,.@/ "'!#%&~]/g) ?? [];
  return [...new Set([...named, ...KINDS])].slice(0, MOST_LETTERS);
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

/**
 * A text over which the pattern takes far longer than linear time (it begins so), or `undefined`. Every probe has a hard
 * deadline: the engine is interrupted. @throws SyntaxError when it is no pattern
 */
export function slowProbe(source: string): string | undefined {
  const pattern = new RegExp(source, 'g');
  const context = createContext({ pattern, text: '' });
  for (const text of probesOf(source)) {
    context.text = `${text}\u0000`;
    try {
      runInContext('for (const _ of text.matchAll(pattern));', context, { timeout: DEADLINE_MS });
    } catch {
      return text.slice(0, 12);
    }
  }
  return undefined;
}
