import { expect, test } from 'vitest';
import { slowProbe } from '../../src/config/pattern-probe.ts';

test.each([
  '(?:a|a)+$',
  '(?:[a-z]|[a-z0-9])+;',
  '(?:\\w{1,9}){1,99}!',
  '\\w+;',
  'x*x*y',
  '(a|ab|b)*c',
  '\\s+$',
  '=.*=.*;',
])('finds a text that is slow for %s', (source) => {
  expect(slowProbe(source)).toBeDefined();
});

test.each([
  'CUST-\\d{6}',
  '\\b[A-Z]{2}\\d{20}\\b',
  'card=\\d{12,19}',
  'acme_[A-Za-z0-9]{20,40}',
  '(?:a|b){1,9}c{2}',
  'id: \\S+',
])('lets %s through', (source) => {
  expect(slowProbe(source)).toBeUndefined();
});
