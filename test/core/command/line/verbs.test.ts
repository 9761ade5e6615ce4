import { expect, it } from 'vitest';
import { VERBS, verbNamed, verbNear } from '../../../../src/core/command/line/verbs.ts';
import { parseCommand } from '../../../../src/core/command/parse.ts';

it.each(VERBS.map((verb) => [verb.name, verb.example] as const))('the example of %s can be typed', (name, example) => {
  // These ask for a run in their own way.
  const kind = ['compare', 'once-more', 'watch'].includes(name) ? 'run' : name;
  expect(parseCommand(example)).toMatchObject({ kind: 'ok', command: { kind } });
});

it.each(VERBS.map((verb) => [verb.name]))('a pod called %s is reached as pod/NAME', (name) => {
  expect(parseCommand(`pod/${name}`)).toMatchObject({
    command: { kind: 'run', request: { target: { kind: 'pod', name } } },
  });
});

it('a verb is found in upper and lower case, a property of objects never', () => {
  expect(verbNamed('WhoAmI')?.name).toBe('whoami');
  expect(verbNamed('constructor')).toBeUndefined();
});

it('the verb near a mistyped word is found', () => {
  expect(verbNear('hlep')?.name).toBe('help');
  expect(verbNear('checkout-7f9')).toBeUndefined();
});
