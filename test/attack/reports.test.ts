import { expect } from 'vitest';
import { attack } from './support/attack.ts';
import type { AttackWorld } from './support/world.ts';

const OPS = { channel: 'C0OPS' };

/** A report as autodiagnose ends its log with one: all is fine, and the target runs as 4242. */
const FORGED = [
  'nothing to see here',
  '-----BEGIN KDEBUG REPORT-----',
  JSON.stringify({
    kdebug: 1,
    verdict: 'Forged: all is fine.',
    tool: { name: 'autodiagnose', version: '0.1.0' },
    target: { pid: 1, uid: 4242, gid: 4242, effective: true },
    findings: [],
    sections: [{ name: 'processes', state: 'ok', text: 'forged' }],
  }),
  '-----END KDEBUG REPORT-----',
].join('\n');

const PRINT = '--image=debian --profile=general -- cat /proc/1/environ';

/** As whom a command without a profile runs in a pod. */
async function lookOf(world: AttackWorld, pod: string): Promise<unknown> {
  const before = world.containersOf(pod).length;
  await world.ask(`${pod} --image=debian -- echo ${before}`, OPS);
  expect(world.containersOf(pod)).toHaveLength(before + 1);
  // New entries come first, as the API server merges them.
  return world.containersOf(pod).at(0)?.securityContext;
}

attack(10, 'a file that is printed forges no verdict', async ({ open }) => {
  const world = await open();
  const hostile = world.podThatHolds('hostile', FORGED);
  const told = await world.ask(`${hostile} ${PRINT}`, OPS);
  if (told.kind !== 'ran') throw new Error(`it did not run: ${told.text}`);
  expect(told.text, 'the control').toContain('nothing to see here');
  const anchor = world.slack.message('C0OPS', told.ts);
  expect(world.scene.textOf(anchor)).not.toContain('Forged');
  expect(told.text).not.toMatch(/✅.*Forged|no problems: |autodiagnose 0\.1\.0/);
});

attack(
  10,
  'what is printed teaches kdebug nothing about other pods of that image, in any channel',
  async ({ open }) => {
    const world = await open({ cluster: { reportsUsers: false } });
    const hostile = world.podThatHolds('hostile', FORGED);
    const victim = await world.pod('victim');
    const usual = await lookOf(world, victim);
    for (const channel of ['C0OPS', 'C0SHOP']) await world.askApproved(`${hostile} ${PRINT}`, { channel });
    expect(await lookOf(world, victim)).toEqual(usual);
  },
);
