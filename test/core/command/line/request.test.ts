import { expect, it } from 'vitest';
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
