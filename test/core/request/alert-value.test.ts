import { describe, expect, it } from 'vitest';
import { alertTarget } from '../../../src/core/request/alert-value.ts';

describe('the value of a button on an alert', () => {
  it.each([
    ['shop/web-1', { namespace: 'shop', pod: 'web-1' }],
    ['prod/shop/web-1', { cluster: 'prod', namespace: 'shop', pod: 'web-1' }],
    ['/shop/web-1', { namespace: 'shop', pod: 'web-1' }],
    ['prod/shop/deployment/web', { cluster: 'prod', namespace: 'shop', pod: 'deployment/web' }],
    [' prod / shop / web-1 ', { cluster: 'prod', namespace: 'shop', pod: 'web-1' }],
  ])('names its target: %s', (value, target) => {
    expect(alertTarget(value)).toEqual(target);
  });

  it.each([
    ['prod/shop/', { cluster: 'prod', namespace: 'shop' }],
    ['//', {}],
    ['/', {}],
    ['prod/shop//', { cluster: 'prod', namespace: 'shop' }],
    ['prod/shop/deployment/', { cluster: 'prod', namespace: 'shop' }],
  ])('may lack what the alerts of a group do not share: %s', (value, target) => {
    expect(alertTarget(value)).toEqual(target);
  });

  it.each(['', 'web-1', 'a/b/c/d/e', 'prod/shop/--image=x/web', 'prod/shop/secret/web', `a/${'b'.repeat(1_000)}`])(
    'has no other shape: %s',
    (value) => {
      expect(alertTarget(value)).toBeUndefined();
    },
  );
});
