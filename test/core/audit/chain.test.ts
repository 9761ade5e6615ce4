import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  AuditCheck,
  type AuditRecord,
  auditKey,
  headOf,
  readAuditLine,
  sealRecord,
} from '../../../src/core/audit/chain.ts';

const KEY = auditKey(Buffer.alloc(32, 1));

function aChain(length: number): readonly AuditRecord[] {
  const records: AuditRecord[] = [];
  for (let seq = 0; seq < length; seq += 1) {
    const prev = records.at(-1)?.mac ?? '';
    records.push(
      sealRecord(
        {
          v: 1,
          chain: 'c',
          seq,
          at: '2026-11-21T00:00:00.000Z',
          step: 'vote',
          run: 'r',
          channel: 'C',
          actor: 'U',
          facts: { n: seq },
          prev,
        },
        KEY,
      ),
    );
  }
  return records;
}

function problemsOf(records: readonly AuditRecord[], whole: readonly AuditRecord[]): number {
  const check = new AuditCheck(KEY);
  records.forEach((record, index) => {
    check.add(index + 1, record);
  });
  const last = whole.at(-1);
  return check.finish(last ? [headOf(last, KEY)] : []).problems.length;
}

test('a chain as it was written has no problem', () => {
  expect(problemsOf(aChain(7), aChain(7))).toBe(0);
});

test('any one change of any record is noticed', () => {
  const chain = aChain(6);
  const field = fc.constantFrom('at', 'step', 'run', 'channel', 'actor', 'prev', 'mac', 'chain');
  fc.assert(
    fc.property(fc.nat(5), field, fc.string(), (index, name, value) => {
      const original = chain[index];
      const changed = chain.map((record, at) => (at === index ? { ...record, [name]: value } : record));
      fc.pre(original !== undefined && JSON.stringify(changed[index]) !== JSON.stringify(original));
      expect(problemsOf(changed, chain)).toBeGreaterThan(0);
    }),
  );
});

test('any records taken away, doubled or put in another order are noticed', () => {
  const chain = aChain(6);
  fc.assert(
    fc.property(fc.array(fc.nat(5), { maxLength: 8 }), (order) => {
      fc.pre(order.join() !== '0,1,2,3,4,5');
      expect(
        problemsOf(
          order.flatMap((index) => chain[index] ?? []),
          chain,
        ),
      ).toBeGreaterThan(0);
    }),
  );
});

test.each([
  ['', undefined],
  ['{"v":1', undefined],
  ['[]', undefined],
  ['{"message":"ready"}', false],
  ['{"message":"audit","audit":{"v":1}}', undefined],
])('the line %j is read as %j', (line, expected) => {
  expect(readAuditLine(line)).toBe(expected);
});
