import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import { LineRedactor } from '../../../../src/core/report/log/line-redactor.ts';
import { createLogFilter } from '../../../../src/core/report/log/log-filter.ts';
import { LinearPattern } from '../../../../src/lib/patterns/linear-pattern.ts';

const PIECE_BYTES = 64 * 1024;
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
    { numRuns: 500 },
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
    { numRuns: 500 },
  );
});

it('reads a line with a return the same however the log is cut, about as long as the longest that is read at once', () => {
  for (const length of [-4, -3, -2, -1, 0, 1].map((more) => PIECE_BYTES + more)) {
    const log = Buffer.from(`${'a'.repeat(length - 14)} password=x9${'é\r\n'}next\r\n`);
    const cut = createLogFilter({ redact: [] });
    const parts = [cut.push(log.subarray(0, 99)), cut.push(log.subarray(99)), cut.end()];
    expect(Buffer.concat(parts).toString() === filtered(log.toString()), `${length}`).toBe(true);
  }
});

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
  for (let count = 0; count < 96; count++) {
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

  for (const pieces of [1, 2, 16, 96]) expect(restOf(pieces)).toBeLessThanOrEqual(HELD_BYTES);
});

it('lets large patterns of the policy read no more of a line at once than 16 KiB and what is held back', () => {
  const read = vi.spyOn(LinearPattern.prototype, 'isIn');
  const line = Buffer.from(`${'ab'.repeat(31_000)}c\n`);
  const filter = createLogFilter({ redact: ['acme-\\w{20,200}', 'x.{100}c'] });
  const out: Buffer[] = [];
  for (let from = 0; from < line.length; from += 16 * 1024)
    out.push(filter.push(line.subarray(from, from + 16 * 1024)));

  expect(Buffer.concat(out).equals(line)).toBe(true);
  expect(Math.max(...read.mock.calls.map(([text]) => text.length))).toBeLessThanOrEqual(25 * 1024);
});
