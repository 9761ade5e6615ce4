import { describe, expect, it } from 'vitest';
import {
  isCatalogueName,
  isDnsLabel,
  isDnsSubdomain,
  isEnvName,
  nearestName,
} from '../../../src/core/container/names.ts';

const HOSTILE = [
  '',
  '.',
  '..',
  '../x',
  'a/b',
  'a%2fb',
  'a?b',
  'a#b',
  'a b',
  'a\n',
  'A',
  '-a',
  'a-',
  'a_b',
  'раyments',
  'a\u200b',
  'ａ',
  'é',
  '__proto__',
];

it.each(HOSTILE)('%j is neither a label nor a subdomain', (text) => {
  expect(isDnsLabel(text)).toBe(false);
  expect(isDnsSubdomain(text)).toBe(false);
});

it('a label has at most 63 characters and no dot', () => {
  expect(isDnsLabel('a'.repeat(63))).toBe(true);
  expect(isDnsLabel('a'.repeat(64))).toBe(false);
  expect(isDnsLabel('a.b')).toBe(false);
  expect(isDnsLabel('0-a')).toBe(true);
});

it('a subdomain has at most 253 characters and no empty part', () => {
  expect(isDnsSubdomain('a'.repeat(253))).toBe(true);
  expect(isDnsSubdomain('a'.repeat(254))).toBe(false);
  expect(isDnsSubdomain('web-1.shop')).toBe(true);
  expect(isDnsSubdomain('a..b')).toBe(false);
  expect(isDnsSubdomain('a.-b')).toBe(false);
});

it.each([
  ['DEBUG', true],
  ['_x.y-z', true],
  ['1A', false],
  ['', false],
  ['.', false],
  ['..', false],
  ['..x', false],
  ['A B', false],
  ['A=B', false],
  ['Ä', false],
  ['A'.repeat(254), false],
])('%j as the name of a variable: %s', (text, isValid) => {
  expect(isEnvName(text)).toBe(isValid);
});

it('names of the catalogue are those that the policy file allows', () => {
  expect(isCatalogueName('prod_eu.1')).toBe(true);
  expect(isCatalogueName('../prod')).toBe(false);
  expect(isCatalogueName('Prod')).toBe(false);
});

describe('the nearest name', () => {
  it.each([
    ['Nginx-Pod', 'nginx-pod'],
    ['my_pod', 'my-pod'],
    ['web-1,', 'web-1'],
    ['web', undefined],
    ['a/b', undefined],
    ['A'.repeat(300), undefined],
  ])('of %j is %s', (text, name) => {
    expect(nearestName(text, isDnsSubdomain)).toBe(name);
  });
});
