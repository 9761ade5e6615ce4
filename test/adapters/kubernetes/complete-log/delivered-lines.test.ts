import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DeliveredLines } from '../../../../src/adapters/kubernetes/complete-log/delivered-lines.ts';

const line = fc.record({ seconds: fc.nat(3), nanos: fc.nat(3), hash: fc.integer({ min: -2, max: 2 }) });
const key = ({ seconds, nanos, hash }: { seconds: number; nanos: number; hash: number }) =>
  `${seconds}/${nanos}/${hash}`;

it('each delivered line is recognised as often as it was delivered, and no other', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 3_000 }), fc.array(line), (delivered, asked) => {
      const lines = new DeliveredLines();
      const counts = new Map<string, number>();
      for (const one of delivered) {
        lines.push(one);
        counts.set(key(one), (counts.get(key(one)) ?? 0) + 1);
      }
      const set = lines.toSet();
      for (const one of asked) {
        const left = counts.get(key(one)) ?? 0;
        expect(set.has(one)).toBe(left > 0);
        expect(set.remove(one)).toBe(left > 0);
        counts.set(key(one), Math.max(0, left - 1));
        expect(lines.has(one)).toBe(delivered.some((other) => key(other) === key(one)));
      }
    }),
    { numRuns: 50 },
  );
});

it('what was forgotten counts as delivered, and memory is bounded', () => {
  const lines = new DeliveredLines();
  for (let nanos = 0; nanos < 1_500_000; nanos += 1) lines.push({ seconds: 7, nanos, hash: 1 });

  expect(lines.has({ seconds: 7, nanos: 0, hash: 99 })).toBe(true);
  expect(lines.has({ seconds: 7, nanos: 1_499_999, hash: 1 })).toBe(true);
  expect(lines.has({ seconds: 7, nanos: 1_499_999, hash: 2 })).toBe(false);
  expect(lines.has({ seconds: 8, nanos: 0, hash: 1 })).toBe(false);
});
