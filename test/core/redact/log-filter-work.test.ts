import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import { LineRedactor } from '../../../src/core/redact/line-redactor.ts';
import { createLogFilter } from '../../../src/core/redact/log-filter.ts';
import { problemOfPatterns } from '../../../src/lib/patterns/linear-pattern.ts';
import { inFullOr } from '../../support/sample.ts';

const PIECE_BYTES = 64 * 1024;
/** Pieces of a long log. */
const MOST = inFullOr(96, 24);
/** As the filter says: a line up to 64 KiB, and 8 KiB of a longer one. */
const HELD_BYTES = 72 * 1024;

function filtered(log: string): string {
  const filter = createLogFilter({ redact: [] });
  return Buffer.concat([filter.push(Buffer.from(log)), filter.end()]).toString();
}

afterEach(() => vi.restoreAllMocks());

it.each([
  ['α\n', 0],
  ['Сервис запущен, порт 8080\n', 0],
  ['ｓｅｒｖｉｃｅ　８０８０ 起動\n', 0],
  ['é à ü\n', 0],
  ['plain text\n', 0],
  ['ｔｏｋｅｎ: x\n', 1],
  ['α\r\n', 0],
  ['α\r\r\n', 1],
])('examines line by line only what may hold a secret: %j', (line, times) => {
  const examined = vi.spyOn(LineRedactor.prototype, 'line');

  expect(filtered(line.repeat(100))).toBe(line.replaceAll('\r', '').repeat(100));

  expect(examined).toHaveBeenCalledTimes(100 * times);
});

it('finds the same in a block of lines as in each line alone', () => {
  const lines = [
    'plain',
    'α',
    'é',
    'ｔｏｋｅｎ=abcdef1',
    'password=x9',
    'раѕѕwоrd=x9',
    'a\r',
    '\ufffd',
    'http://a:b＠c',
    'x@y',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...lines), { minLength: 1, maxLength: 12 }), (picked) => {
      const log = picked.map((line) => `${line}\n`);
      expect(filtered(log.join(''))).toBe(log.map((line) => filtered(line)).join(''));
    }),
    { numRuns: inFullOr(500, 100) },
  );
});

it('reads lines that end with a return and a newline the same in a small block and in a large one', () => {
  const parts = [
    'a',
    'é',
    '\r',
    '\r\n',
    '\n',
    '\b',
    '\x1b',
    '\x1b[0m',
    '\x1b]0;',
    '\x9b',
    '\u2764\ufe0f',
    'password=x9',
    '\t',
  ];
  const before = 'p\n'.repeat(PIECE_BYTES);
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 16 }), (picked) => {
      const log = `${picked.join('')}\r\n`;
      expect(filtered(before + log)).toBe(before + filtered(log));
    }),
    { numRuns: inFullOr(500, 100) },
  );
});

it.each([
  [PIECE_BYTES, []],
  [768, ['a[ab]{230}c']],
])(
  'reads a line with a return the same however the log is cut, about as long as the longest that is read at once: %i, with %j',
  (longest, redact) => {
    for (const length of [-4, -3, -2, -1, 0, 1].map((more) => longest + more)) {
      const log = Buffer.from(`${'a'.repeat(length - 14)} password=x9${'é\r\n'}next\r\n`);
      const read = (...at: readonly number[]): string => {
        const filter = createLogFilter({ redact });
        const parts = [0, ...at].map((from, index) => filter.push(log.subarray(from, at[index])));
        return Buffer.concat([...parts, filter.end()]).toString();
      };
      expect(read(99) === read(), `${length}`).toBe(true);
      expect(read(longest) === read(), `${length}`).toBe(true);
    }
  },
);

it.each([
  ['one line', 'abcdefgh '],
  ['empty lines', '\n'],
  ['short lines', 'a line of a log\n'],
  ['short lines of other letters', 'αβγ éàü\n'],
  ['one line of other letters', 'α'],
])('holds back at most one line of a long log: %s', (_name, text) => {
  const filter = createLogFilter({ redact: [] });
  const piece = Buffer.from(text.repeat(PIECE_BYTES / 2 / text.length));
  let held = 0;
  for (let count = 0; count < MOST; count++) {
    held += piece.length - filter.push(piece).length;
    expect(held).toBeLessThanOrEqual(HELD_BYTES);
  }
  expect(filter.end()).toHaveLength(held);
});

it.each([
  ['one line of secrets', 'password=x token=abcdef1 '],
  ['one unfinished escape', '\x1b]52;c;'],
  ['one secret without an end', 'password="'],
  ['a private key without an end', `-----BEGIN ${'PRIVATE'} KEY-----\n`],
  ['one line of rewrites', 'a\r'],
  ['lines of escapes', '\x1b[31ma\x1b[0m\n'],
])('holds no more of a long log than of a short one, also where less comes out than went in: %s', (_name, text) => {
  const restOf = (pieces: number): number => {
    const filter = createLogFilter({ redact: [] });
    for (let count = 0; count < pieces; count++) filter.push(Buffer.alloc(PIECE_BYTES, text));
    return filter.end().length;
  };

  for (const pieces of [1, 2, 16, MOST]) expect(restOf(pieces)).toBeLessThanOrEqual(HELD_BYTES);
});

/** Of accepted patterns: small and usual, as large as one may be, and one that reads far beyond each of its matches. */
const PATTERNS = ['ticket-(?:[a-z]|[a-z0-9])+;', '[ab]{80}c', 'a[ab]{230}c', '(?:a|b[^z]*z)'];
const letters = (length: number): string =>
  Array.from({ length }, (_, at) => 'ab'[((at * at * 7 + at) % 3) % 2]).join('');

it.each(PATTERNS.flatMap((pattern) => [50, 300, 1_000, 5_000].map((length) => [pattern, length] as const)))(
  'takes a bounded number of steps for each push, with %s and lines of %i characters',
  (pattern, length) => {
    expect(problemOfPatterns([pattern])).toBeUndefined();
    const filter = createLogFilter({ redact: [pattern] });
    // Where a line of the block matches, each is read by itself.
    const block = Buffer.from(
      `ticket-;c${letters(length)}\n`.repeat(Math.ceil(6_000 / length)).concat(`${'a'.repeat(231)}c\nbz\n`),
    );
    const most = filter.bytesAtOnce ?? block.length;
    let worst = 0;
    for (let from = 0; from < block.length; from += most) {
      const before = filter.steps;
      filter.push(block.subarray(from, from + most));
      worst = Math.max(worst, filter.steps - before);
    }
    expect(filter.steps).toBeGreaterThan(0);
    // Some 30 ms: a line that is held back, and what is read again after its matches.
    expect(worst).toBeLessThanOrEqual(3 * 1024 * 1024);
  },
);

it('needs no small pieces without patterns of the policy', () => {
  expect(createLogFilter({ redact: [] }).bytesAtOnce).toBeUndefined();
});
