import { expect, it } from 'vitest';
import { auditKey, type Link } from '../../../src/core/audit/chain.ts';
import { HEAD_BYTES, type Head, headSlot, readHead } from '../../../src/core/audit/head.ts';
import { verifyFile } from '../../../src/core/audit/verify-file.ts';
import { aChain, fileOf, KEY, someHappenings, textOf } from './chain-of.ts';

const { lines, link } = aChain(someHappenings(5));
const LOG = textOf(lines);
const NEW: Link = { chain: 'bot-1', seq: -1, mac: '' };
const HEAD: Head = { generation: 1, last: link, bytes: LOG.length, upTo: LOG.length };
const FOUR = aChain(someHappenings(3));
const OLD: Head = { ...HEAD, last: FOUR.link, bytes: textOf(FOUR.lines).length, upTo: textOf(FOUR.lines).length };

const problem = async (log: Buffer, heads: readonly (Head | undefined)[], mustHold: readonly Link[] = []) => {
  const left = [...heads, heads.at(-1)];
  const file = { lines: fileOf(log), head: async () => left.shift() };
  return (await verifyFile(KEY, file, mustHold)).defect?.problem;
};

it('a log and its head that belong together are right', async () => {
  expect(await problem(LOG, [HEAD])).toBeUndefined();
});

it('a log without a head that is signed with the key is wrong', async () => {
  expect(await problem(LOG, [undefined])).toBe('no-head');
  expect(await problem(Buffer.alloc(0), [undefined])).toBe('no-head');
});

it('a log that was cut off, by one record, by many or wholly, is wrong', async () => {
  expect(await problem(textOf(lines.slice(0, -1)), [HEAD])).toBe('cut-off');
  expect(await problem(textOf(lines.slice(0, 1)), [HEAD])).toBe('cut-off');
  expect(await problem(Buffer.alloc(0), [HEAD])).toBe('cut-off');
});

it('an old head put back is wrong', async () => {
  expect(await problem(LOG, [OLD])).toBe('old-head');
});

it('a log put back with its head is found out by a head that was noted elsewhere', async () => {
  expect(await problem(textOf(FOUR.lines), [OLD])).toBeUndefined();
  expect(await problem(textOf(FOUR.lines), [OLD], [link])).toBe('cut-off');
});

it('a log may stand anywhere in a batch that its writer died in', async () => {
  const writing = { ...OLD, upTo: LOG.length };
  expect(await problem(LOG, [writing])).toBeUndefined();
  expect(await problem(textOf(lines.slice(0, -1)), [writing])).toBeUndefined();
  expect(await problem(textOf(lines.slice(0, -3)), [writing])).toBe('cut-off');
});

it('a log that grows while it is read is right', async () => {
  expect(await problem(LOG, [OLD, HEAD])).toBeUndefined();
});

it('a log whose first record is not written yet has nothing in it', async () => {
  expect(await problem(Buffer.alloc(0), [{ ...HEAD, last: NEW, bytes: 0 }])).toBe('nothing');
});

it('of the two slots of a head the newer whole one counts', () => {
  const file = Buffer.alloc(HEAD_BYTES);
  const put = (head: Head, key = KEY) => {
    const { position, text } = headSlot(key, head);
    return file.write(text, position);
  };
  expect(readHead(KEY, file)).toBeUndefined();
  put(OLD);
  expect(readHead(KEY, file)).toMatchObject(OLD);
  expect(put({ ...HEAD, generation: 2 })).toBe(HEAD_BYTES / 2);
  expect(readHead(KEY, file)).toMatchObject(HEAD.last ? { last: link, generation: 2 } : {});
  put({ ...HEAD, generation: 3 }, auditKey(Buffer.alloc(32)));
  expect(readHead(KEY, file)?.generation).toBe(2);
  file.write('9', file.indexOf('"seq":') + 6);
  expect(readHead(KEY, file)).toBeUndefined();
});

it('the longest name of a chain fits into a slot', () => {
  const last = { chain: 'c'.repeat(80), seq: Number.MAX_SAFE_INTEGER, mac: link.mac };
  const head = { generation: 2 ** 40, last, bytes: Number.MAX_SAFE_INTEGER, upTo: Number.MAX_SAFE_INTEGER };
  expect(headSlot(KEY, head).text).toHaveLength(HEAD_BYTES / 2);
});
