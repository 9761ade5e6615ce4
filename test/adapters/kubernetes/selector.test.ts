import { expect, it } from 'vitest';
import { compileSelector } from '../../../src/adapters/kubernetes/selector.ts';

const LABELS = { app: 'web', tier: 'front', size: '5', 'example.com/team': 'a' };

it.each([
  ['', true],
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
  ['example.com/team=a,app in (web,api),!legacy', true],
  ['app=web,tier=back', false],
  ['toString', false],
])('%j matches: %s', (selector, matches) => {
  expect(compileSelector(selector)(LABELS)).toBe(matches);
});

it.each(['==', 'app=web,', 'app in web', 'a b', 'app=we b', '-x'])('%j is refused', (selector) => {
  expect(() => compileSelector(selector)).toThrow(expect.objectContaining({ code: 'invalid_selector' }));
});
