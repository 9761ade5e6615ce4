import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { attack } from './support/attack.ts';
import type { AttackWorld } from './support/world.ts';

const HARMLESS = '--image=debian --no-target --profile=restricted';

const type = (world: AttackWorld, text: string, user = 'U0ROY') =>
  world.slack.deliver.command({ user, channel: 'C0SHOP', text });

/** Who asked for the containers of a pod. */
const requesters = (world: AttackWorld, pod: string) => world.containersOf(pod).map(({ requester }) => requester);

attack(12, "one person's runs leave room in a pod for others", async ({ open }) => {
  const world = await open();
  const pod = await world.pod('web-1');
  for (let at = 0; at < 10; at += 1) await type(world, `${pod} ${HARMLESS} -- echo ${at}`);
  await expect.poll(() => world.containersOf(pod).length, { message: 'the control' }).toBeGreaterThan(0);
  await pause(2_000);
  await type(world, `${pod} ${HARMLESS} -- id`, 'U0GINGER');
  await expect.poll(() => requesters(world, pod), { timeout: 5_000 }).toContain('U0GINGER');
});

attack(12, "one person's requests for approval leave room in the channel for others", async ({ open }) => {
  const world = await open();
  const pod = await world.pod('web-1');
  const words = `${pod} --image=debugger --profile=sysadmin -- id`;
  expect(await world.ask(words), 'the control').toMatchObject({ kind: 'card' });
  for (let at = 0; at < 24; at += 1) await type(world, words);
  expect(await world.ask(words, { user: 'U0GINGER' })).toMatchObject({ kind: 'card' });
  await type(world, `${pod} ${HARMLESS} -- id`, 'U0GINGER');
  await expect.poll(() => requesters(world, pod), { timeout: 5_000 }).toContain('U0GINGER');
});

attack(12, "one person's long runs leave room in the channel for others", async ({ open }) => {
  const world = await open();
  const pods = await Promise.all(Array.from({ length: 24 }, (_, at) => world.pod(`web-${at}`)));
  for (const pod of pods) await type(world, `${pod} ${HARMLESS} -- sleep 60`);
  await pause(2_000);
  expect(requesters(world, 'web-0'), 'the control').toContain('U0ROY');
  const pod = await world.pod('other');
  await type(world, `${pod} ${HARMLESS} -- id`, 'U0GINGER');
  await expect.poll(() => requesters(world, pod), { timeout: 5_000 }).toContain('U0GINGER');
});

attack(12, "one person's batches leave room in every pod for others", async ({ open }) => {
  const world = await open();
  const pods = [await world.pod('web-1'), await world.pod('web-2')];
  for (let at = 0; at < 10; at += 1) await type(world, `--all -n shop --parallelism=2 ${HARMLESS} -- id`);
  await expect.poll(() => requesters(world, 'web-2'), { message: 'the control' }).toContain('U0ROY');
  await pause(2_000);
  for (const pod of pods) {
    await type(world, `${pod} ${HARMLESS} -- id`, 'U0GINGER');
    await expect.poll(() => requesters(world, pod), { timeout: 5_000 }).toContain('U0GINGER');
  }
});

attack('S-i', 'a guest who asks again and again does not fill the audit log', async ({ open }) => {
  const world = await open();
  const send = () => world.slack.deliver.command({ user: 'U0GUEST', channel: 'C0SHOP', text: 'web-1 -- id' });
  await send();
  await expect
    .poll(() => world.audit().some((line) => line.includes('U0GUEST')), { message: 'the control' })
    .toBe(true);
  for (let at = 0; at < 10; at += 1) await Promise.all(Array.from({ length: 30 }, send));
  await pause(500);
  expect(world.audit().filter((line) => line.includes('U0GUEST')).length).toBeLessThan(100);
});
