import { expect, it } from 'vitest';
import { nearest } from '../../src/lib/text.ts';

const WORDS = ['image', 'namespace', 'timeout', 'target', 'ttl'];

it.each([
  ['image', 'image'],
  ['imgae', 'image'],
  ['IMAGE', 'image'],
  ['img', 'image'],
  ['namspace', 'namespace'],
  ['time-out', 'timeout'],
  ['targets', 'target'],
  ['tl', 'ttl'],
  ['zzz', undefined],
  ['constructor', undefined],
  ['', undefined],
  ['image'.repeat(10), undefined],
])('the nearest to %j is %s', (word, found) => {
  expect(nearest(word, WORDS)).toBe(found);
});

it('of words that are equally near the first is taken', () => {
  expect(nearest('cat', ['bat', 'hat'])).toBe('bat');
});

it('two neighbours that were swapped count as one edit', () => {
  expect(nearest('ab', ['ba', 'xx'])).toBe('ba');
});
