import { expect, it } from 'vitest';
import { shortLog } from '../../../src/flow/log/short-log.ts';

const END = 'goroutine 99 [select]:\n';

function logOf(bytes: number, read: () => AsyncIterable<Uint8Array>) {
  const spool = { write: () => {}, finish: async () => '', bytes, read, remove: async () => {} };
  return { log: { bytes }, end: END, spool };
}

async function* dump(): AsyncIterable<Uint8Array> {
  yield Buffer.from('panic: no table\n');
  yield Buffer.from(END);
}

it('is whole where more than its end is known', async () => {
  expect(await shortLog(logOf(60_000, dump))).toBe(`panic: no table\n${END}`);
});

it.each([
  ['so long that reading it would cost more than it tells', 2 ** 20 + 1],
  ['no longer than its end', END.length],
])('is the end of a log %s', async (_, bytes) => {
  expect(await shortLog(logOf(bytes, dump))).toBe(END);
});

it('is the end of a log that the disk does not give back', async () => {
  const broken = async function* (): AsyncIterable<Uint8Array> {
    yield Buffer.from('panic');
    throw new Error('EIO');
  };
  expect(await shortLog(logOf(60_000, broken))).toBe(END);
});
