import { expect, it } from 'vitest';
import { createSeal } from '../../../src/adapters/seal/index.ts';

const seal = createSeal(Buffer.alloc(32, 1));

it('what was sealed can be opened again, and looks different every time', () => {
  const first = seal.seal('C0SHOP');
  expect(seal.open(first)).toBe('C0SHOP');
  expect(seal.seal('C0SHOP')).not.toBe(first);
  expect(first).not.toContain('C0SHOP');
});

it('another key opens nothing', () => {
  expect(createSeal(Buffer.alloc(32, 2)).open(seal.seal('x'))).toBeUndefined();
});

it.each(['', 'k1.', 'k1.AAAA', 'k2.AAAA', 'nonsense'])('%j is not opened', (text) => {
  expect(seal.open(text)).toBeUndefined();
});

it('a change of any character is noticed', () => {
  const sealed = seal.seal('a longer text that is sealed');
  for (let at = 0; at < sealed.length - 1; at += 1) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    const changed = `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`;
    expect(seal.open(changed)).toBeUndefined();
  }
});
