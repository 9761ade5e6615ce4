import { expect, it } from 'vitest';
import { parseSelector } from '../../src/core/selector.ts';

it.each([
  ['app=web', 'app=web'],
  ['app==web', 'app=web'],
  ['app!=web', 'app!=web'],
  [' app = web , tier in ( a , b ) ', 'app=web,tier in (a,b)'],
  ['tier notin (a)', 'tier notin (a)'],
  ['tier in(a,b)', 'tier in (a,b)'],
  ['app', 'app'],
  ['!app', '!app'],
  ['! app,web', '!app,web'],
  ['app=', 'app='],
  ['app=,web', 'app=,web'],
  ['size>3,size<9', 'size>3,size<9'],
  ['app.kubernetes.io/name=Web_1.2', 'app.kubernetes.io/name=Web_1.2'],
  ['in in (in)', 'in in (in)'],
])('%j is the selector %j', (text, selector) => {
  expect(parseSelector(text)).toBe(selector);
});

it('the canonical spelling stays as it is', () => {
  const once = parseSelector('a==b,c in (d, e), !f, g!=h, i>1') ?? '';
  expect(parseSelector(once)).toBe(once);
});

it.each([
  '',
  ' ',
  ',',
  'app=web,',
  ',app',
  'a b',
  'a=b=c',
  'a in',
  'a in (',
  'a in ()',
  'a in (b',
  'a in (b,)',
  'a in (,b)',
  'a in (b c)',
  '!',
  '!!a',
  '=web',
  'a>b',
  'a>',
  'a in b',
  'a=*',
  '*',
  'a=b&c',
  'a=b%2c',
  '/a',
  'a/',
  'A.example/a',
  'ä=b',
  'a=ä',
  'a=-b',
  'a(b)',
  `${'a'.repeat(64)}=b`,
  `a=${'b'.repeat(64)}`,
  `a=${'b,a='.repeat(300)}c`,
])('%j is refused', (text) => {
  expect(parseSelector(text)).toBeUndefined();
});
