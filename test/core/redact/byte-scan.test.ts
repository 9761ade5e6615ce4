import fc from 'fast-check';
import { expect, it } from 'vitest';
import { characterBoundary, countNewlines, firstUnplain } from '../../../src/core/redact/byte-scan.ts';

it('finds the first byte that is not plain, at any alignment', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(7), (bytes, offset) => {
      const plain = Array.from(bytes, (byte) => (byte % 3 === 0 ? byte : 0x20 + (byte % 0x5f)));
      const buffer = Buffer.from([...Buffer.alloc(offset, 1), ...plain]).subarray(offset);
      const expected = buffer.findIndex((byte) => byte > 0x7e || (byte < 0x20 && byte !== 9 && byte !== 10));
      expect(firstUnplain(buffer, 0, buffer.length)).toBe(expected === -1 ? buffer.length : expected);
    }),
  );
});

it.each([0x7f, 0x1f, 0x00, 0x80, 0xff])('does not miss %i between others', (byte) => {
  for (let at = 0; at < 16; at++) {
    const bytes = Buffer.alloc(16, ' ');
    bytes[at] = byte;
    expect(firstUnplain(bytes, 0, 16)).toBe(at);
    expect(firstUnplain(bytes, at + 1, 16)).toBe(16);
  }
});

it('moves a cut to the start of the character it would split', () => {
  const bytes = Buffer.from('a日😀b');
  expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((at) => characterBoundary(bytes, at))).toEqual([
    0, 1, 1, 1, 4, 4, 4, 4, 8, 9,
  ]);
  expect(characterBoundary(bytes.subarray(0, 6), 6)).toBe(4);
});

it('counts newlines', () => {
  expect(countNewlines(Buffer.from('\na\n\nb'))).toBe(3);
});
