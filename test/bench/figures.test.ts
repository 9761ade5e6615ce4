import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLeast, atMost, median, percentile, rowText, shown, spreadOf } from '../../bench/figures.ts';

const someNumbers = fc.array(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), { minLength: 1 });

describe('percentile', () => {
  it.each([
    [[15, 20, 35, 40, 50], 0.05, 15],
    [[15, 20, 35, 40, 50], 0.3, 20],
    [[15, 20, 35, 40, 50], 0.4, 20],
    [[50, 15, 40, 20, 35], 0.5, 35],
    [[15, 20, 35, 40, 50], 1, 50],
    [[7], 0.99, 7],
    [[3, 1], 0, 1],
  ])('of %j at %d is %d: the nearest rank, whatever the order', (values, share, expected) => {
    expect(percentile(values, share)).toBe(expected);
  });

  it('is one of the values, and enough of them are not above it', () => {
    fc.assert(
      fc.property(someNumbers, fc.double({ noNaN: true, min: 0, max: 1 }), (values, share) => {
        const found = percentile(values, share);
        expect(values).toContain(found);
        expect(values.filter((value) => value <= found).length).toBeGreaterThanOrEqual(share * values.length);
      }),
    );
  });

  it('leaves the values as they were', () => {
    const values = [3, 1, 2];
    percentile(values, 0.5);
    expect(values).toEqual([3, 1, 2]);
  });

  it('is no number when nothing was measured', () => {
    expect([percentile([], 0.5), median([]), spreadOf([]).max]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
  });
});

describe('spreadOf', () => {
  it('needs more than a hundred values to tell the 99th percentile from the greatest', () => {
    const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
    expect(spreadOf(upTo(50))).toEqual({ count: 50, p50: 25, p99: 50, max: 50 });
    expect(spreadOf(upTo(200))).toEqual({ count: 200, p50: 100, p99: 198, max: 200 });
  });
});

describe('a target', () => {
  it('is met at its limit, missed beyond it, and not compared without a figure', () => {
    expect([atMost(50, 50), atMost(50.1, 50), atMost(Number.NaN, 50)]).toEqual([true, false, undefined]);
    expect([atLeast(10, 10), atLeast(9.9, 10), atLeast(Number.NaN, 10)]).toEqual([true, false, undefined]);
  });

  it('is printed below the figures with its verdict', () => {
    const targets = [
      { text: 'fast', met: true },
      { text: 'small', met: false },
      { text: 'cheap', met: undefined },
    ];
    expect(rowText({ name: 'row', figures: { a: '1 ms', long: '2 ms' }, targets }).split('\n')).toEqual([
      'row',
      '  a     1 ms',
      '  long  2 ms',
      '  met          fast',
      '  NOT met      small',
      '  not compared cheap',
      '',
    ]);
  });
});

describe('shown', () => {
  it.each([
    [1.234, '1.23 ms'],
    [12.34, '12.3 ms'],
    [1234.5, '1235 ms'],
    [Number.NaN, 'not measured'],
  ])('writes %d as %s', (value, text) => {
    expect(shown(value, 'ms')).toBe(text);
  });
});
