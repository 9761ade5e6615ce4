import { expect, it } from 'vitest';
import { matchesSelector, parseSelector, printSelector } from '../../../src/core/request/selector.ts';

function printed(text: string): string | undefined {
  const selector = parseSelector(text);
  return selector && printSelector(selector);
}

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
  expect(printed(text)).toBe(selector);
});

it('the canonical spelling stays as it is', () => {
  const once = printed('a==b,c in (d, e), !f, g!=h, i>1') ?? '';
  expect(printed(once)).toBe(once);
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
  '==',
  'app=we b',
  '-x',
  `${'a'.repeat(64)}=b`,
  `a=${'b'.repeat(64)}`,
  `a=${'b,a='.repeat(300)}c`,
])('%j is refused', (text) => {
  expect(parseSelector(text)).toBeUndefined();
});

const LABELS = { app: 'web', tier: 'front', size: '5', 'example.com/team': 'a' };

it.each([
  ['app=web', true],
  ['app==web', true],
  ['app=api', false],
  ['app!=api', true],
  ['app!=web', false],
  ['missing!=x', true],
  ['app', true],
  ['missing', false],
  ['!missing', true],
  ['!app', false],
  ['app in (web,api)', true],
  ['app in (api,db)', false],
  ['app notin (api,db)', true],
  ['missing notin (a)', true],
  ['missing in (a)', false],
  ['size>4', true],
  ['size>5', false],
  ['size<6', true],
  ['app>1', false],
  ['missing>1', false],
  ['example.com/team=a,app in (web,api),!legacy', true],
  ['app=web,tier=back', false],
  ['toString', false],
])('%j matches: %s', (selector, matches) => {
  expect(matchesSelector(parseSelector(selector) ?? [], LABELS)).toBe(matches);
});

it('the empty selector matches every pod', () => {
  expect(matchesSelector([], LABELS)).toBe(true);
});
