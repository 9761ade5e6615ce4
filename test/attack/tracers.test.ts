import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { attack } from './support/attack.ts';
import { SUITE_POLICY } from './support/policy.ts';
import { type AttackWorld, hasButton } from './support/world.ts';

const OPS = { channel: 'C0OPS' };
const IMAGE = 'registry.example.com/kdebug/blackbox:1';
const traces = `{ image: "${IMAGE}", class: intrusive, traces: true, diagnostic: true }`;

/** In C0OPS the rule `poke` has the class of the tracer, batches and no approval: only the right to seize is missing. */
const policyWith = (right: '' | 'traces: true, '): string =>
  SUITE_POLICY.replace('images:\n', `images:\n  blackbox: ${traces}\n  watch: ${traces}\n`).replace(
    '{ id: poke, ',
    `{ id: poke, ${right}`,
  );

/** A pod of which one container has crashed and runs again. */
async function crashed(world: AttackWorld, name: string): Promise<string> {
  const pod = await world.pod(name);
  const status = () => world.cluster.pod('shop', pod)?.status.containerStatuses?.[0];
  await world.slack.until(() => status()?.state?.running);
  world.cluster.killContainer('shop', pod, 'app', { exitCode: 139, reason: 'Error' });
  await world.slack.until(() => (status()?.restartCount ?? 0) > 0 && status()?.state?.running);
  return pod;
}

attack(
  21,
  'a rule for its class launches no tracer, by whichever name, profile and number',
  async ({ open, nothingLaunched }) => {
    const world = await open({ policy: policyWith('') });
    const pod = await world.pod('traced');
    expect(await world.ask(`${pod} --image=autodiagnose --dry-run`, OPS), 'the control').toMatchObject({
      text: expect.stringContaining('poke'),
    });
    const answers: string[] = [];
    for (const image of ['blackbox', 'watch', IMAGE])
      for (const target of [pod, `${pod} --profile=general`, `${pod} --no-target`, `-l app=${pod} --replicas=1`]) {
        answers.push((await world.ask(`${target} --image=${image}`, OPS)).text);
        nothingLaunched(world, pod);
      }
    // Nor may somebody approve it: the card would say less than a rule.
    answers.push((await world.ask(`${pod} --image=blackbox --reason=crash`)).text);
    nothingLaunched(world, pod);
    expect(answers.filter((text) => !text.includes('seizes its target'))).toEqual([]);
  },
);

attack(
  21,
  'neither a rerun nor the button of a crash launches a tracer for which the rule has lost the right',
  async ({ open, nothingMoreLaunched }) => {
    const world = await open({ policy: policyWith('traces: true, ') });
    const pod = await crashed(world, 'crashing');
    const looked = await world.ask(pod, OPS);
    const traced = await world.ask(`${pod} --image=blackbox`, OPS);
    expect([looked.kind, traced.kind], 'the control').toEqual(['ran', 'ran']);
    if (looked.kind === 'private' || traced.kind === 'private') return;
    expect(hasButton(world.slack.message('C0OPS', looked.ts), 'next-image'), 'the button of the crash').toBe(true);

    world.scene.writePolicy(policyWith(''));
    const mayTrace = async () => (await world.ask(`can-i ${pod} --image=blackbox`, OPS)).text.includes('Allowed');
    for (let tries = 0; tries < 25 && (await mayTrace()); tries += 1) await pause(200);
    const before = world.containersOf(pod).length;
    const told = world.slack.ephemerals('U0ROY').length;
    await world.press('U0ROY', 'rerun', traced.ts, 'C0OPS');
    await world.press('U0ROY', 'next-image', looked.ts, 'C0OPS');
    const refusals = await world.slack.until(() => {
      const after = world.slack.ephemerals('U0ROY').slice(told);
      return after.length >= 2 && after.map((message) => world.scene.textOf(message));
    });
    nothingMoreLaunched(world, pod, before);
    for (const text of refusals) expect(text).toContain('seizes its target');
  },
);
