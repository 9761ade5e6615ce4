import { expect, it } from 'vitest';
import { parseCommand } from '../../../src/core/command/parse.ts';
import { unwrapWhole } from '../../../src/core/command/pasted.ts';

const requestOf = (text: string): unknown => {
  const parsed = parseCommand(text);
  return parsed.kind === 'ok' ? parsed.command : parsed.error;
};

it.each([
  '`web-1 --image=debian -n shop`',
  '```web-1 --image=debian -n shop```',
  '```\nweb-1 --image=debian -n shop\n```',
  '*web-1 --image=debian -n shop*',
  '_web-1 --image=debian -n shop_',
  '*`web-1 --image=debian -n shop`*',
  '"web-1 --image=debian -n shop"',
  '“web-1 —image=debian —n shop”',
  "'web-1 --image=debian -n shop'",
  '`web-1` --image=debian -n shop',
  '*web-1* --image=debian -n shop',
  '_web-1_ --image=debian -n shop',
  '~web-1~ --image=debian -n shop',
  'web-1 `--image=debian` -n shop',
  'web-1 --image=`debian` -n `shop`',
  'web-1 `--image=debian -n shop`',
  'web-1 *--image=debian -n shop*',
  '```web-1``` --image=debian -n shop',
  '`/kdebug web-1 --image=debian -n shop`',
  '/kdebug `web-1 --image=debian -n shop`',
])('%j is read without its marks', (typed) => {
  expect(requestOf(typed)).toEqual(requestOf('web-1 --image=debian -n shop'));
});

it.each([
  ['web-1 -- `ls -l /tmp`', ['ls', '-l', '/tmp']],
  ['web-1 -- `ls`', ['ls']],
  ['web-1 `--image=debian -- ls -l`', ['ls', '-l']],
  ['web-1 -- ```sh -c "echo hi"```', ['sh', '-c', 'echo hi']],
  // Words of the user's own.
  ['web-1 -- echo `date`', ['echo', '`date`']],
  ['web-1 -- `date` `time`', ['`date`', '`time`']],
  ['web-1 -- *x* _y_', ['*x*', '_y_']],
  ["web-1 -- '`ls`'", ['`ls`']],
  ['web-1 -- "`ls`"', ['`ls`']],
  ['web-1 -- \\`ls\\`', ['`ls`']],
])('of the command in %j only a pair around all of it goes', (typed, command) => {
  expect(requestOf(typed)).toMatchObject({ request: { command } });
});

it.each(['*', '`', '``', '_ _', '"web-1"', '`a` `b`', '"a b" "c d"', 'plain words', '```a``` b'])(
  '%j has nothing around all of it',
  (text) => {
    expect(unwrapWhole(text)).toBe(text);
  },
);

it('a variable that begins and ends with _ stays one', () => {
  expect(requestOf('web-1 --image=debian --env _A=b_')).toMatchObject({
    request: { env: [{ name: '_A', value: 'b_' }] },
  });
});

it.each([
  ['--env _A=b --env C=d_', ['_A=b', 'C=d_']],
  ['--env _A=b --env _C=d_', ['_A=b', '_C=d_']],
  ['--env _JAVA_OPTIONS=-Xmx1g --reason keep_', ['_JAVA_OPTIONS=-Xmx1g']],
  ['--env _A=`b` --env C=d', ['_A=`b`', 'C=d']],
])('nor does one that begins with _ open italics for a word after it: %s', (flags, env) => {
  const command = requestOf(`web-1 --image=debian ${flags}`) as {
    request?: { env: { name: string; value: string }[] };
  };
  expect(command.request?.env.map(({ name, value }) => `${name}=${value}`)).toEqual(env);
});

it('a wrong word is pointed at with the marks that are left around it', () => {
  expect(parseCommand('`Web` --image=debian')).toMatchObject({
    error: { code: 'name_invalid', hint: 'Did you mean web?' },
  });
});
