import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { attack } from './support/attack.ts';

const OPS = { channel: 'C0OPS' };
const HARMLESS = '--image=debian --no-target --profile=restricted';

attack(12, "one person's runs leave room in a pod for others", async ({ open }) => {
  const world = await open();
  const pod = await world.pod('web-1');
  for (let at = 0; at < 10; at += 1) await world.ask(`${pod} ${HARMLESS} -- id`);
  expect(world.containersOf(pod).length, 'the control').toBeGreaterThan(0);
  expect(await world.ask(`${pod} ${HARMLESS} -- id`, { user: 'U0GINGER' })).toMatchObject({ kind: 'ran' });
});

attack(12, "one person's requests for approval leave room in the channel for others", async ({ open }) => {
  const world = await open();
  const pod = await world.pod('web-1');
  const words = `${pod} --image=debugger --profile=sysadmin -- id`;
  expect(await world.ask(words), 'the control').toMatchObject({ kind: 'card' });
  for (let at = 0; at < 24; at += 1) await world.ask(words);
  expect(await world.ask(words, { user: 'U0GINGER' })).toMatchObject({ kind: 'card' });
  expect(await world.ask(`${pod} ${HARMLESS} -- id`, { user: 'U0GINGER' })).toMatchObject({ kind: 'ran' });
});

attack(12, "one person's long runs leave room in the channel for others", async ({ open }) => {
  const world = await open();
  const pods = await Promise.all(Array.from({ length: 24 }, (_, at) => world.pod(`web-${at}`)));
  for (const pod of pods)
    await world.slack.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: `${pod} ${HARMLESS} -- sleep 60` });
  await pause(2_000);
  expect(world.slack.messages('C0SHOP').length, 'the control').toBeGreaterThan(0);
  const pod = await world.pod('other');
  expect(await world.ask(`${pod} ${HARMLESS} -- id`, { user: 'U0GINGER' })).toMatchObject({ kind: 'ran' });
});

attack(12, "one person's batches leave room in every pod for others", async ({ open }) => {
  const world = await open();
  const pods = [await world.pod('web-1'), await world.pod('web-2')];
  for (let at = 0; at < 10; at += 1) await world.ask(`--all -n shop --parallelism=2 ${HARMLESS} -- id`);
  for (const pod of pods)
    expect(await world.ask(`${pod} ${HARMLESS} -- id`, { user: 'U0GINGER' })).toMatchObject({ kind: 'ran' });
});

attack('S-i', 'a guest who asks again and again does not fill the audit log', async ({ open }) => {
  const world = await open();
  const send = () => world.slack.deliver.command({ user: 'U0GUEST', channel: 'C0SHOP', text: 'web-1 -- id' });
  await send();
  await expect.poll(() => world.audit().some((line) => line.includes('U0GUEST')), { message: 'the control' }).toBe(true);
  for (let at = 0; at < 10; at += 1) await Promise.all(Array.from({ length: 30 }, send));
  await pause(500);
  expect(world.audit().filter((line) => line.includes('U0GUEST')).length).toBeLessThan(100);
});
