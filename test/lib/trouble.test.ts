import { expect, it } from 'vitest';
import { Trouble } from '../../src/lib/trouble.ts';

const LINES = { begins: 'tea is out, will retry', ends: 'there is tea again' };

function aTrouble(level?: 'warn' | 'error') {
  const said: unknown[] = [];
  const say = (name: string) => (message: string, fields?: object) => void said.push([name, message, fields]);
  let nowMs = 1_000;
  const parts = {
    clock: { elapsed: () => nowMs },
    log: { info: say('info'), warn: say('warn'), error: say('error') },
  };
  const trouble = new Trouble(parts, level ? { ...LINES, level } : LINES);
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { trouble, said, pass };
}

it('says one line when it begins and one when it ends, however often it fails', () => {
  const { trouble, said, pass } = aTrouble();
  for (let second = 0; second < 60; second += 1) {
    trouble.failed({ reason: 'kettle', second });
    pass(1_000);
  }
  expect(said).toEqual([['warn', LINES.begins, { reason: 'kettle', second: 0 }]]);
  trouble.worked();
  trouble.worked();
  expect(said.slice(1)).toEqual([
    ['info', LINES.ends, { reason: 'kettle', second: 0, lastedMs: 60_000, failures: 60 }],
  ]);
});

it('says nothing of what works', () => {
  const { trouble, said } = aTrouble();
  trouble.worked();
  expect(said).toEqual([]);
});

it('counts the next trouble from its own beginning', () => {
  const { trouble, said, pass } = aTrouble('error');
  trouble.failed();
  trouble.worked();
  pass(5_000);
  trouble.failed({ reason: 'leaves' });
  pass(2_000);
  trouble.worked();
  expect(said.slice(2)).toEqual([
    ['error', LINES.begins, { reason: 'leaves' }],
    ['info', LINES.ends, { reason: 'leaves', lastedMs: 2_000, failures: 1 }],
  ]);
});
