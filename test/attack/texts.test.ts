import { expect } from 'vitest';
import { attack } from './support/attack.ts';
import { found, PEM_KEY, SECRETS } from './support/secrets.ts';

const OPS = { channel: 'C0OPS' };
const LOOK = '--image=debian --profile=general';

attack(3, 'what a failed command printed last is no less redacted than its log', async ({ open }) => {
  const world = await open();
  const [password, token] = ['correct-horse-battery', 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl'];
  const pod = world.podThatHolds('web-1', `DB_PASSWORD=${password}\n${token}`);
  const told = await world.ask(`${pod} ${LOOK} -- sh -c 'cat /proc/1/environ; exit 3'`, OPS);
  expect(told.text).toContain('exit code 3');
  expect(found(await world.everything(), [password, token])).toEqual([]);
});

attack(3, 'a termination message that a program wrote itself is redacted', async ({ open }) => {
  const world = await open();
  const pod = await world.pod('web-1');
  const write = `printf 'password=hunter2%s' secret99 > /dev/termination-log; exit 1`;
  const told = await world.ask(`${pod} ${LOOK} -- sh -c "${write}"`, OPS);
  expect(told.text).toContain('exit code 1');
  expect(found(await world.everything(), ['hunter2secret99'])).toEqual([]);
});

attack(
  3,
  'a batch shows no secret of a termination message, in its dashboard, its table or its file',
  async ({ open }) => {
    const world = await open();
    for (const name of ['web-1', 'web-2']) world.podThatHolds(name, `${PEM_KEY}\npassword=hunter2secret99`);
    await world.slack.deliver.command({
      user: 'U0ROY',
      channel: OPS.channel,
      text: `--all -n shop ${LOOK} -- sh -c 'cat /proc/1/environ; exit 3'`,
    });
    await world.slack.until(() => world.slack.files().length > 0, 30_000);
    const shown = await world.everything();
    expect(found(shown, ['exit code 3']), 'the control').toHaveLength(1);
    expect(found(shown, ['hunter2secret99', ...PEM_KEY.split('\n').slice(1, 3)])).toEqual([]);
  },
);

attack(13, 'the secrets that the review found in logs are redacted', async ({ open }) => {
  const world = await open();
  const pod = world.podThatHolds('web-1', SECRETS.map(({ line }) => line).join('\n'));
  expect(await world.ask(`${pod} ${LOOK} -- cat /proc/1/environ`, OPS)).toMatchObject({ kind: 'ran' });
  const shown = await world.everything();
  expect(found(shown, ['the-end-of-the-list']), 'the control').toHaveLength(1);
  expect(SECRETS.filter(({ secret }) => shown.includes(secret)).map(({ line }) => line)).toEqual([]);
});

attack(17, 'a secret that was typed in a private command stands nowhere in the channel', async ({ open }) => {
  const world = await open();
  const pod = await world.pod('web-1');
  const typed = [
    `${pod} --image=debian --no-target --profile=restricted --env=DB_PASSWORD=typed-by-roy-1 -- id`,
    `${pod} --image=debian --no-target --profile=restricted -- sh -c 'id --password=typed-by-roy-2'`,
    // One that would wait for an approval: refused, because its approver could not see all of it.
    `${pod} --image=debugger --profile=sysadmin --env=API_TOKEN=typed-by-roy-3 -- id`,
  ];
  const answers: string[] = [];
  for (const words of typed) answers.push((await world.ask(words)).kind);
  expect(answers).toEqual(['ran', 'ran', 'private']);
  const shown = JSON.stringify([...(world.slack.state.messages.get('C0SHOP')?.values() ?? [])]);
  expect(shown, 'the control').toContain('web-1');
  expect(shown.match(/typed-by-roy-\d/g)).toBeNull();
});
