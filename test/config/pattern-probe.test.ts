import { beforeEach, expect, it, vi } from 'vitest';
import { slowProbe } from '../../src/config/pattern-probe.ts';

/**
 * A machine that gives the processor to others: so many runs in a row miss their deadline. `othersHaveTime` keeps the real load of this
 * machine out of it: a run that may end gets ten seconds.
 */
const busy = vi.hoisted(() => ({ each: 0, runs: 0, othersHaveTime: false }));
vi.mock('node:vm', async (actual) => {
  const vm = await actual<typeof import('node:vm')>();
  const runInContext: typeof vm.runInContext = (...args) => {
    busy.runs += 1;
    if (busy.each > 0 && busy.runs % (busy.each + 1) !== 0) throw new Error('Script execution timed out.');
    return busy.othersHaveTime ? vm.runInContext(args[0], args[1], { timeout: 10_000 }) : vm.runInContext(...args);
  };
  return { ...vm, runInContext };
});

beforeEach(() => {
  busy.each = 0;
  busy.othersHaveTime = false;
});

it.each([
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

it.each([
  'CUST-\\d{6}',
  '\\b[A-Z]{2}\\d{20}\\b',
  'card=\\d{12,19}',
  'acme_[A-Za-z0-9]{20,40}',
  '(?:a|b){1,9}c{2}',
  'id: \\S+',
])('lets %s through', (source) => {
  expect(slowProbe(source)).toBeUndefined();
});

it.each([1, 2])('refuses no good pattern where the machine is busy for %i runs of each', (each) => {
  busy.each = each;
  busy.othersHaveTime = true;

  expect(slowProbe('acme_[A-Za-z0-9]{20,40}')).toBeUndefined();
  expect(slowProbe('\\w{1,64}=\\S+')).toBeUndefined();
});

it('finds a slow pattern where the machine is busy', () => {
  busy.each = 2;

  expect(slowProbe('\\w+;')).toBeDefined();
});
