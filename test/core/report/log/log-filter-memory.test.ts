import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createLogFilter } from '../../../../src/core/report/log/log-filter.ts';

const PIECE_BYTES = 64 * 1024;
const PIECES = 96;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function keptBytes(): number {
  collectGarbage();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

it.each([
  ['one line', 'abcdefgh '],
  ['one line of secrets', 'password=x token=abcdef1 '],
  ['one unfinished escape', '\x1b]52;c;'],
  ['empty lines', '\n'],
  ['short lines', 'a line of a log\n'],
])('keeps no more of a long log than of a short one: %s', (_name, text) => {
  const filter = createLogFilter({ redact: [] });
  const push = (pieces: number): void => {
    for (let count = 0; count < pieces; count++) filter.push(Buffer.alloc(PIECE_BYTES, text));
  };
  push(16);
  const before = keptBytes();
  push(PIECES);
  expect(keptBytes() - before).toBeLessThan((PIECES * PIECE_BYTES) / 4);
  expect(filter.end().length).toBeLessThan(80 * 1024);
});
