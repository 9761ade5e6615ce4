import { expect, it } from 'vitest';
import { present } from '../../../../src/core/command/line/request.ts';
import { parseCommand } from '../../../../src/core/command/parse.ts';

it('a request holds what was typed and no default but the profile', () => {
  expect(parseCommand('web')).toEqual({
    kind: 'ok',
    command: {
      kind: 'run',
      request: {
        target: { kind: 'pod', name: 'web' },
        env: [],
        profile: 'auto',
        command: [],
        argumentsOnly: false,
        dryRun: false,
        batch: { canary: false },
      },
    },
  });
});

it('fields without a value are left out, others stay whatever they are', () => {
  expect(Object.keys(present({ a: undefined, b: 0, c: false, d: '' }))).toEqual(['b', 'c', 'd']);
});
