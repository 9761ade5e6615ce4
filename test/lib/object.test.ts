import { expect, it } from 'vitest';
import { defined } from '../../src/lib/object.ts';

it('leaves out keys without a value and keeps falsy ones', () => {
  expect(Object.keys(defined({ a: undefined, b: 0, c: false, d: '' }))).toEqual(['b', 'c', 'd']);
});
