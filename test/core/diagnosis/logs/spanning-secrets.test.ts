import { describe, expect, it } from 'vitest';
import { ErrorShapes } from '../../../../src/core/diagnosis/logs/error-shapes.ts';
import { LogTail, lastWordsOf } from '../../../../src/core/diagnosis/logs/last-words.ts';
import { START_MS } from '../../../support/builders.ts';
import { SPANNING } from '../../redact/secret-corpus.ts';

/** The lines that an answer may choose from a log, by each of the ways in which kdebug reads one. */
function chosenOf(lines: readonly string[]): string {
  const shapes = new ErrorShapes([]);
  for (const [index, text] of lines.entries()) shapes.add({ atMs: START_MS + index, text });
  return JSON.stringify([shapes.result(), lastWordsOf(lines, [])]);
}

/** Those, and the newest lines as they are. */
function quotedOf(lines: readonly string[]): string {
  const tail = new LogTail([]);
  for (const line of lines) tail.add(line);
  return chosenOf(lines) + JSON.stringify(tail.result());
}

const calm = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `step ${index} done`);
const wordsOf = (secret: string): readonly string[] => secret.split('\n');

describe.each(SPANNING)('a secret over several lines: $name', ({ log, secret }) => {
  const lines = log.split('\n');
  const expectHidden = (shown: string, where: string) => {
    for (const word of wordsOf(secret)) expect(shown, where).not.toContain(word);
  };

  it('is not quoted, whichever of its lines is the last one of the log', () => {
    for (const [index, line] of lines.entries())
      expectHidden(quotedOf([...calm(3), ...lines.slice(0, index + 1)]), line);
  });

  it('is not quoted where it stands further up, or in color', () => {
    for (const behind of [1, 60, 300]) expectHidden(quotedOf([...lines, ...calm(behind)]), `${behind}`);
    const colored = lines.map((line) => `\u001b[31m${line}\u001b[0m`);
    expectHidden(quotedOf(colored), 'colored');
  });

  // Without an indentation, and below a sentence, only a word alone is taken for a value.
  const isMarked = lines.every((line, index) => index === 0 || /^\s|[A-Za-z0-9+/]{32}|^-|^next|^$|^after/.test(line));
  const end = isMarked && !/\bfor user\b/.test(log) ? ' failed' : '';
  if (end !== '')
    it('is not quoted where one of its lines is the only error', () => {
      for (const [index, line] of lines.entries()) {
        const failing = lines.with(index, index === 0 ? line : `${line}${end}`);
        expectHidden(quotedOf(['ready', ...failing, ...calm(300)]), line);
        expectHidden(quotedOf(['ready', ...failing.slice(0, index + 1)]), line);
      }
    });

  it('is not quoted of a record that holds it in one field', () => {
    for (const field of ['msg', 'error', 'stack_trace']) {
      const record = { level: 'error', msg: 'cannot start', [field]: `settings:\n${log}${end}\n` };
      expectHidden(chosenOf([JSON.stringify(record)]), field);
    }
  });
});

describe('what one line of an answer hides', () => {
  const VALUE = 'hunter2Secret99';

  it('is hidden in all of it, also where nothing names it', () => {
    for (const lines of [
      [`ERROR login failed: password=${VALUE}`, `ERROR retry with ${VALUE} failed`],
      [`retrying with ${VALUE}`, `FATAL: DB_PASSWORD=${VALUE} is refused`],
      ['FATAL: DB_PASSWORD:', `  ${VALUE}`],
      ['the password of the database is:', VALUE],
    ])
      expect(quotedOf(lines), lines[0]).not.toContain(VALUE);
  });

  it('is hidden elsewhere only if it is no ordinary word', () => {
    expect(quotedOf(['ERROR password=postgres', 'ERROR postgres is not ready'])).toContain('postgres is not ready');
  });
});
