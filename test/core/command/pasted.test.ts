import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../src/core/command/parse.ts';
import { readPasted } from '../../../src/core/command/pasted.ts';

const commandOf = (text: string): unknown => {
  const parsed = parseCommand(text);
  return parsed.kind === 'ok' ? parsed.command : parsed.error;
};

describe('what people copy with a command is left out', () => {
  it.each([
    ['kubectl debug web-1 --image=busybox', 'web-1 --image=busybox'],
    ['kubectl  debug -n shop pod/web-1 --image=busybox', '-n shop web-1 --image=busybox'],
    ['$ kubectl debug web-1', 'web-1'],
    ['/kdebug web-1', 'web-1'],
    ['/KDEBUG web-1', 'web-1'],
    ['kdebug web-1', 'web-1'],
    ['@kdebug web-1', 'web-1'],
    ['kdebug help flags', 'help flags'],
    ['/kdebug', ''],
    ['/kdebug-staging web-1', 'web-1'],
    ['/kdebug-staging', ''],
    ['/debug_pods web-1', 'web-1'],
    ['`/debug_pods web-1 -- ls`', 'web-1 -- ls'],
    ['@kdebug-staging web-1', 'web-1'],
    ['@poddy web-1', 'web-1'],
    ['`kubectl debug web-1 -- ls`', 'web-1 -- ls'],
    ['/kdebug —image=debian web-1', '--image=debian web-1'],
  ])('%j is %j', (pasted, typed) => {
    expect(commandOf(pasted)).toEqual(commandOf(typed));
  });

  it('the document after apply is kept', () => {
    expect(readPasted('/kdebug apply -n shop\n```\nkind: EphemeralJob\n```')).toEqual({
      line: 'apply -n shop',
      yaml: 'kind: EphemeralJob',
      isTooLong: false,
    });
  });
});

it.each([
  ['kdebug', 'kdebug'],
  ['kdebug --image=debian', 'kdebug'],
  ['kdebug —image=debian', 'kdebug'],
  ['pod/kdebug', 'kdebug'],
  ['kubectl --image=debian', 'kubectl'],
  ['kdebug-1 -n shop', 'kdebug-1'],
])('%j is a pod of that name', (text, name) => {
  expect(commandOf(text)).toMatchObject({ kind: 'run', request: { target: { kind: 'pod', name } } });
});

it('another command of kubectl is named as such', () => {
  expect(commandOf('kubectl get pods')).toMatchObject({
    code: 'verb_unknown',
    message: expect.stringContaining('only debugs pods'),
  });
});

describe('flags for a terminal are left out, and the person is told why', () => {
  it.each(['-it', '-i -t', '-ti', '--stdin --tty', '--stdin=true --tty=false', '—it', '--attach'])('%s', (flags) => {
    const parsed = parseCommand(`kubectl debug web-1 --image=busybox ${flags} -- sh`);
    expect(parsed).toMatchObject({ kind: 'ok', notes: [expect.stringContaining('you cannot attach')] });
    expect(parsed).toMatchObject({ command: commandOf('web-1 --image=busybox -- sh') });
  });

  it('without them there is no note, and the command keeps its own', () => {
    expect(parseCommand('web-1 -- cat -it')).not.toHaveProperty('notes');
    expect(commandOf('web-1 -- cat -it')).toMatchObject({ request: { command: ['cat', '-it'] } });
  });

  it('a value in quotes that looks like one is a value', () => {
    expect(commandOf('web-1 --reason "-it"')).toMatchObject({ request: { reason: '-it' } });
  });
});

describe('a first word that is nearly a verb is named beside whatever else is wrong', () => {
  it.each([
    ['shwo abc', 'word_unexpected', 'Did you mean show?'],
    ['hlep!', 'name_invalid', 'Did you mean help?'],
    ['lsit!', 'name_invalid', 'Did you mean list?'],
    ['?', 'name_invalid', 'Did you mean help?'],
    ['Shop', 'name_invalid', 'Did you mean show? A pod is named like shop.'],
    ['lsit abc', 'verb_unknown', 'Did you mean list?'],
  ])('%j is %s, %s', (text, code, hint) => {
    const error = commandOf(text);
    expect(error).toMatchObject({ code });
    expect(error).toMatchObject({ hint: expect.stringContaining(hint) });
  });

  it('what else is wrong is still said', () => {
    expect(commandOf('shwo abc')).toMatchObject({
      message: 'The word "abc" is unexpected.',
      hint: expect.stringContaining('after --'),
    });
  });
});

it('a person in a reason stays an id that is known as one', () => {
  expect(commandOf('web-1 --reason="ask <@U0BOB|bob>"')).toMatchObject({ request: { reason: 'ask U0BOB' } });
});
