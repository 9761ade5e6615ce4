import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ANY, createAnchorScan, NO_WORD } from '../../../src/core/redact/byte-scan.ts';
import { inFullOr } from '../../support/sample.ts';

it('never misses an anchor', () => {
  const letters = fc.stringMatching(/^[a-dA-D_0 -]{4,9}$/);
  fc.assert(
    fc.property(
      fc.array(letters, { minLength: 1, maxLength: 40 }),
      fc.stringMatching(/^[a-dA-D_0 -]{0,30}$/),
      fc.nat(),
      (anchors, noise, pick) => {
        const anchor = anchors[pick % anchors.length] ?? '';
        const bytes = Buffer.from(`${noise}${anchor.toUpperCase()}${noise}`);
        const found = createAnchorScan(anchors)(bytes, 0, bytes.length);
        expect(found).toBeLessThan(noise.length + anchor.length);
      },
    ),
    { numRuns: inFullOr(2_000, 400) },
  );
});

it('names no place in text without an anchor', () => {
  const bytes = Buffer.from('the quick brown fox jumps over the lazy dog');
  expect(createAnchorScan(['tokens', 'foxes', 'jumpy'])(bytes, 0, bytes.length)).toBe(bytes.length);
});

it('knows open places in an anchor, also before the first byte', () => {
  const scan = createAnchorScan([`${NO_WORD}sk-`, `eyJ${ANY}`]);
  const find = (text: string): boolean => scan(Buffer.from(text), 0, text.length) < text.length;
  expect(['sk-', ' sk-', '"sk-x', 'eyJ1', 'x eyJ.'].map(find)).toEqual([true, true, true, true, true]);
  expect(['task-x', 'sk+x', 'ey1x'].map(find)).toEqual([false, false, false]);
});
