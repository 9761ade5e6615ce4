import { setTimeout as pause } from 'node:timers/promises';
import { CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { expect } from 'vitest';
import { containerName } from '../../src/core/container/build.ts';
import { asRunId } from '../../src/core/ids.ts';
import { attack } from './support/attack.ts';
import { policyOf } from './support/policy.ts';
import { type AttackWorld, hasButton } from './support/world.ts';

const SYSADMIN = '--image=debugger --profile=sysadmin';

/** A card that asks for an approval. @throws Error when the answer is another */
async function card(world: AttackWorld, words: string, user = 'U0THURSTON') {
  const answered = await world.ask(words, { user });
  if (answered.kind !== 'card') throw new Error(`no approval was asked for: ${answered.text}`);
  return answered;
}

/** Thurston's run, which Bob approved with "the same for 30 min"; the card's `ts`. */
async function granted(world: AttackWorld, words: string): Promise<string> {
  const { ts } = await card(world, words);
  await world.press('U0BOB', 'approve-grant', ts);
  await world.told(ts);
  return ts;
}

const OTHERS = [
  ['another person', 'U0ROY', 'web-0', `${SYSADMIN} -- cat /proc/1/status`],
  ['another pod', 'U0THURSTON', 'payments-db-0', `${SYSADMIN} -- cat /proc/1/status`],
  ['another command', 'U0THURSTON', 'web-0', `${SYSADMIN} -- sh -c id`],
  ['another image', 'U0THURSTON', 'web-0', '--image=audit --profile=sysadmin'],
] as const;

for (const [kind, user, pod, words] of OTHERS)
  attack(
    6,
    `a grant to Thurston for one command in one pod covers not ${kind}`,
    async ({ open, nothingMoreLaunched }) => {
      const world = await open();
      for (const name of ['web-0', 'payments-db-0']) await world.pod(name);
      const same = `web-0 ${SYSADMIN} -- cat /proc/1/status`;
      await granted(world, same);
      expect(await world.ask(same, { user: 'U0THURSTON' }), 'the control').toMatchObject({ kind: 'ran' });
      const before = world.containersOf(pod).length;
      const answered = await world.ask(`${pod} ${words}`, { user });
      nothingMoreLaunched(world, pod, before);
      expect(answered.kind).toBe('card');
    },
  );

attack(6, 'where the rule does not say that it allows grants, no card offers one', async ({ open }) => {
  const world = await open({ policy: policyOf({ approval: '{ from: [sre], count: 1, expires: 15m }' }) });
  const { ts } = await card(world, `${await world.pod('web-0')} ${SYSADMIN} -- id`);
  await expect(world.press('U0BOB', 'approve-grant', ts)).rejects.toThrow('nothing to press');
});

/** Whether somebody can read all of it before the approval: on the card, in its thread, or in a file there. */
async function isReadable(world: AttackWorld, ts: string, words: readonly string[]): Promise<boolean> {
  await pause(1_500);
  const messages = [world.slack.message('C0SHOP', ts), ...world.slack.thread('C0SHOP', ts)];
  const files = messages.flatMap((message) => message?.files ?? []);
  const contents = world.slack.files().filter(({ id }) => files.includes(id));
  const text = [
    ...messages.map((message) => world.scene.textOf(message)),
    ...(await Promise.all(contents.map(async (file) => String(await file.content())))),
  ].join('\n');
  return words.every((word) => text.includes(word));
}

const UNSEEN = {
  'the end of a long command': `-- sh -c '${'echo all is well; '.repeat(500)} rm -rf /the-end'`,
  'the end of a long variable': `--env=SCRIPT=${'all-is-well-'.repeat(400)}rm-rf-/the-end -- sh -c id`,
};

for (const [part, words] of Object.entries(UNSEEN))
  attack(9, `nobody approves what he cannot read: ${part}`, async ({ open, nothingLaunched }) => {
    const world = await open();
    const pod = await world.pod('web-0');
    const answered = await world.ask(`${pod} ${SYSADMIN} ${words}`, { user: 'U0THURSTON' });
    if (answered.kind !== 'card') return nothingLaunched(world, pod);
    if (await isReadable(world, answered.ts, ['/the-end'])) return;
    await world.press('U0BOB', 'approve', answered.ts);
    await pause(1_500);
    nothingLaunched(world, pod);
  });

attack(9, 'the card shows where one word of a command ends', async ({ open }) => {
  const world = await open();
  const pod = await world.pod('web-0');
  const runs = async (command: string): Promise<string> => {
    const { ts } = await card(world, `${pod} ${SYSADMIN} -- ${command}`);
    const text = world.scene.textOf(world.slack.message('C0SHOP', ts));
    // The line that quotes what was typed is not the plan.
    return text
      .split('\n')
      .filter((line) => line.includes('rm -rf') && !line.includes('Asked by'))
      .join('\n');
  };
  expect(await runs(`sh -c 'true; rm -rf /data'`)).not.toBe(await runs(`sh -c 'true; rm' -rf /data`));
});

attack(
  16,
  'a grant that was ended stays ended when an older record is put back into Redis',
  async ({ open, nothingMoreLaunched }) => {
    const world = await open({ store: 'redis' });
    const words = `${await world.pod('web-0')} ${SYSADMIN} -- id`;
    const ts = await granted(world, words);
    const redis = world.scene.redis?.client();
    if (!redis) throw new Error('no Redis');
    try {
      const keys = (await redis.keys('*')) as string[];
      const older = await Promise.all(
        keys.map(async (key) => [key, await redis.dumpBuffer(key), await redis.pttl(key)] as const),
      );
      await world.press('U0BOB', 'end-grant', ts);
      await world.slack.until(() => !JSON.stringify(world.slack.message('C0SHOP', ts)?.blocks).includes('end-grant'));
      // A replica that saw the end knows better; docs/adr/0008 says what one that was restarted since believes.
      await redis.flushall();
      for (const [key, value, ttl] of older) if (value) await redis.restore(key, Math.max(ttl, 0), value, 'REPLACE');
      await pause(1_500);
    } finally {
      redis.disconnect();
    }
    const before = world.containersOf('web-0').length;
    const answered = await world.ask(words, { user: 'U0THURSTON' });
    nothingMoreLaunched(world, 'web-0', before);
    expect(answered.kind).not.toBe('ran');
  },
);

attack('S-e', "a container that somebody put under a run's name is not told as that run's", async ({ open }) => {
  const world = await open();
  const pod = await world.pod('web-0');
  const { ts, text } = await card(world, `${pod} ${SYSADMIN} -- sh -c 'echo genuine'`);
  const runId = /run ([a-z0-9]{10})/.exec(text)?.[1] ?? '';
  const uid = world.cluster.pod('shop', pod)?.metadata.uid ?? '';
  await plant(world, pod, {
    name: containerName(asRunId(runId), uid),
    image: 'debian:12-slim',
    command: ['echo', 'forged-output'],
    env: [{ name: 'KDEBUG_RUN', value: runId }],
    targetContainerName: 'app',
  });
  await world.press('U0BOB', 'approve', ts);
  await pause(2_000);
  expect(world.slack.transcript('C0SHOP')).not.toContain('forged-output');
});

/** With nothing but the right to patch ephemeral containers. */
async function plant(world: AttackWorld, pod: string, container: object): Promise<void> {
  const config = new KubeConfig();
  config.loadFromString(world.cluster.kubeconfig);
  const body = { spec: { ephemeralContainers: [container] } };
  const merge = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
  await config
    .makeApiClient(CoreV1Api)
    .patchNamespacedPodEphemeralcontainers({ namespace: 'shop', name: pod, body }, merge);
}

attack('S-h', 'who runs a request again gives a reason of their own', async ({ open }) => {
  const world = await open({
    policy: policyOf({ approval: '{ from: [sre], count: 1, expires: 15m, reason: required }' }),
  });
  for (const name of ['web-0', 'web-1']) await world.pod(name);
  const { ts } = await card(world, `--all -n shop ${SYSADMIN} --reason="the words of Thurston" -- sh -c 'exit 3'`);
  await world.press('U0BOB', 'approve', ts);
  await world.slack.until(() => hasButton(world.slack.message('C0SHOP', ts), 'rerun-failed'));
  const before = world.slack.messages('C0SHOP').length;
  await world.press('U0ALICE', 'rerun-failed', ts);
  await pause(2_000);
  const asked = world.slack
    .messages('C0SHOP')
    .slice(before)
    .map((message) => world.scene.textOf(message));
  expect(asked.filter((text) => text.includes('the words of Thurston'))).toEqual([]);
});
