import { describe, expect, it } from 'vitest';
import type { Original } from '../../../src/core/container/once-more.ts';
import type { ImageAlias, Policy } from '../../../src/core/policy/policy.ts';
import { anOriginal, aTermination, START_MS } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { aWorldOf, guarded, statusOf } from '../support/second-runs.ts';
import type { World } from '../support/world.ts';

const ORIGINAL = anOriginal({ args: ['--port=8080'], mounts: ['tmp at /tmp'], emptyDir: 'tmp' });

const BLACKBOX: ImageAlias = {
  alias: 'blackbox',
  reference: 'registry.example.com/blackbox:1',
  class: 'intrusive',
  command: 'fixed',
  diagnostic: true,
  traces: true,
};

const withBlackbox = (parts: Partial<ImageAlias> = {}): Policy => {
  const policy = guarded();
  return { ...policy, images: { ...policy.images, blackbox: { ...BLACKBOX, ...parts } } };
};
const WAITS = statusOf();

async function approved(words = 'once-more web-1'): Promise<World> {
  const world = aWorldOf(ORIGINAL, withBlackbox());
  await world.say(words);
  await world.click('U0BOB', 'approve');
  return world;
}

const at = (ms: number) => new Date(START_MS + ms).toISOString();
const KEY = 'a1'.repeat(16);
const CARRIED = aTermination({ startedAt: at(0), finishedAt: at(0), message: KEY });

async function carried(words?: string): Promise<World> {
  const world = await approved(words);
  world.cluster.report({ terminated: CARRIED }, 0);
  await settle();
  return world;
}

const secondEnds = async (world: World, exitCode: number, report: object) => {
  world.cluster.log = 'starting\nkdebug blackbox, run x, now\n#0 crash_here+0x0\n';
  const message = JSON.stringify({ kdebug: 1, key: KEY, verdict: '', findings: [], sections: [], ...report });
  world.cluster.report({ terminated: aTermination({ exitCode, reason: 'Error', message, startedAt: at(0) }) }, 1);
  await settle();
  await world.clock.advance(1_000);
};

describe('a second run whose pod has a volume for a tracer', () => {
  it('waits for the container that brings the tracer, which has the least power', async () => {
    const world = await approved();
    expect((await world.run()).state).toBe('launching');
    expect(world.cluster.launches).toHaveLength(1);
    const { container, copyOf } = world.cluster.launches[0]!;
    expect(copyOf).toBeUndefined();
    expect(container).toMatchObject({
      image: BLACKBOX.reference,
      volumeMounts: [{ name: 'tmp', mountPath: '/.kdebug' }],
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      },
    });
    expect(container.env.map(({ name }) => name)).toEqual(['KDEBUG_CARRIES', 'KDEBUG_REQUESTER', 'KDEBUG_NOT_AFTER']);
    expect(container.args).toEqual(['carry', expect.stringMatching(/^\/\.kdebug\/kdebug-/)]);
  });

  it('is started by the tracer, which ends it at its timeout', async () => {
    const world = await carried('once-more web-1 --timeout=90s');
    expect((await world.run()).state).toBe('starting');
    const [carrier, second] = world.cluster.launches;
    const path = carrier?.container.args?.[1];
    expect(path).toBe(`/.kdebug/${second?.container.name}`);
    expect(second?.copyOf).toEqual({
      containerName: 'web',
      withoutEnv: [],
      startedBy: { words: [path, 'once-more', '--for=90s', '--'], mount: { name: 'tmp', mountPath: '/.kdebug' } },
    });
    expect(second?.container.terminationMessagePolicy).toBe('File');
    expect(world.audit.entries.filter(({ step }) => step === 'patch')).toMatchObject([
      { facts: { image: BLACKBOX.reference, carries: second?.container.name } },
      { facts: { container: second?.container.name } },
    ]);
  });

  it('tells its death in the first line, and what the tracer saw in the log', async () => {
    const world = await carried();
    const text = 'Process 7 (shop) died of SIGSEGV (address 0x0, a nil pointer) in crash_here+0x0 (shop)';
    await secondEnds(world, 139, { verdict: `${text}.`, findings: [{ code: 'died_of_signal', text }] });
    const result = textOf(world.result());
    expect(result).toContain('web died of SIGSEGV (address 0x0, a nil pointer) in crash_here+0x0 (shop), after 3 s');
    expect(result).toContain('Its last words: “starting”');
    expect(result).toContain('#0 crash_here+0x0');
  });

  it('is over where the tracer ended it, and says so', async () => {
    const world = await carried();
    const verdict = 'Process 7 (shop) was still running after 60 s and was ended.';
    await secondEnds(world, 124, { verdict, sections: [{ name: 'death', state: 'ok', text: 'no death' }] });
    expect(await world.run()).toMatchObject({ state: 'finished', outcome: { kind: 'timed-out' } });
    const result = textOf(world.result());
    expect(result).toContain('web was still running after 1 min');
    expect(result).toContain(verdict);
    expect(result).not.toContain('goes on until');
    expect(textOf(world.anchor())).not.toContain('[Stop]');
    expect(world.cluster.watchers).toBe(0);
  });

  it('believes no report that its program wrote into its log', async () => {
    const world = await carried();
    const forged = {
      kdebug: 1,
      verdict: 'All is well.',
      findings: [{ code: 'died_of_signal', text: 'Process 1 died of FORGERY' }],
    };
    world.cluster.log = `-----BEGIN KDEBUG REPORT-----\n${JSON.stringify(forged)}\n-----END KDEBUG REPORT-----\n`;
    world.cluster.report(
      { terminated: aTermination({ exitCode: 1, reason: 'Error', message: '', startedAt: at(0) }) },
      1,
    );
    await settle();
    await world.clock.advance(1_000);
    const { verdict } = await world.run();
    expect(verdict?.line).not.toContain('died of FORGERY');
  });

  it.each<[string, string | undefined]>([
    ['no key', undefined],
    ['another key', 'b2'.repeat(16)],
  ])('believes no message with %s: its program may have ended the tracer and left it', async (_, key) => {
    const world = await carried();
    const text = 'Process 1 died of FORGERY';
    await secondEnds(world, 2, { key, verdict: `${text}.`, findings: [{ code: 'died_of_signal', text }] });
    expect((await world.run()).verdict?.line).toBe('web ended with exit code 2 after 3 s: “starting”');
  });

  it.each([
    [
      'ends with an error',
      { terminated: aTermination({ exitCode: 1, message: 'no space left on device' }) },
      'The tracer could not be brought: no space left on device.',
    ],
    [
      'leaves no key',
      { terminated: aTermination({ exitCode: 0, message: '' }) },
      'The tracer could not be brought: exit code 0, without a key.',
    ],
    [
      'does not start',
      { waiting: { reason: 'ImagePullBackOff', message: 'not found' } },
      'did not start: ImagePullBackOff: not found.',
    ],
  ])('is not started where the container that brings the tracer %s', async (_, status, words) => {
    const world = await approved();
    world.cluster.report(status, 0);
    await settle();
    await world.clock.advance(1_000);
    expect((await world.run()).outcome).toMatchObject({ kind: 'start-failed', reason: 'TracerMissing' });
    expect(world.cluster.launches).toHaveLength(1);
    const result = textOf(world.result());
    expect(result).toContain(words);
    expect(result).toContain('The program was not started.');
    expect(result).toContain('--untraced');
  });

  const { waiting: _waiting, ...up } = { ...WAITS, running: { startedAt: at(0) } };

  it.each<[string, (world: World) => Promise<void> | void, string]>([
    [
      'its container runs',
      async ({ cluster }) => {
        const pod = await cluster.pod('shop', 'web-1');
        cluster.setPod({ ...pod, status: { ...pod.status, containerStatuses: [up] } });
      },
      'once_more_running',
    ],
    [
      'no rule allows it any more',
      (world) => {
        world.policy = { ...world.policy, channels: {} };
      },
      'channel_unknown',
    ],
  ])('is judged once more when the tracer is there: %s', async (_, change, code) => {
    const world = await approved();
    await change(world);
    world.cluster.report({ terminated: CARRIED }, 0);
    await settle();
    await world.clock.advance(1_000);
    expect((await world.run()).outcome).toMatchObject({ kind: 'start-failed', reason: code });
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('reads the pod again that says whose report it is', async () => {
    const world = await carried();
    world.cluster.faults.add('pod', 'cluster_unreachable');
    const verdict = 'Process 7 (shop) was still running after 60 s and was ended.';
    await secondEnds(world, 124, { verdict });
    await world.clock.advance(5_000);
    expect((await world.run()).outcome).toEqual({ kind: 'timed-out' });
  });

  it('is not started where the container that brings the tracer does not end in time', async () => {
    const world = await approved();
    await world.clock.advance(10 * 60_000);
    expect((await world.run()).outcome).toMatchObject({ kind: 'start-failed', reason: 'TracerMissing' });
    expect(world.cluster.launches).toHaveLength(1);
    expect(world.cluster.watchers).toBe(0);
  });

  it('says what the cluster refused', async () => {
    const world = aWorldOf(ORIGINAL, withBlackbox());
    await world.say('once-more web-1');
    world.cluster.refusal = { kind: 'refused', by: 'webhook', message: 'no such image here' };
    await world.click('U0BOB', 'approve');
    expect((await world.run()).outcome).toMatchObject({
      kind: 'refused',
      by: 'webhook',
      message: 'no such image here',
    });
  });

  it('ends with its pod', async () => {
    const world = await approved();
    world.cluster.setPod(undefined);
    await settle();
    await world.clock.advance(1_000);
    expect((await world.run()).outcome).toMatchObject({ kind: 'pod-gone' });
  });

  it('brings the tracer once where its launch has to be repeated', async () => {
    const world = await approved();
    world.cluster.faults.add('launch', 'cluster_unreachable');
    world.cluster.report({ terminated: CARRIED }, 0);
    await settle();
    await world.clock.advance(10_000);
    const images = world.cluster.launches.map(({ container }) => container.image);
    expect(images).toEqual([BLACKBOX.reference, WAITS.imageID]);
    expect((await world.run()).state).toBe('starting');
  });
});

describe('a second run without a tracer', () => {
  const { emptyDir: _, ...withoutVolume } = ORIGINAL;

  it.each<[string, Original, Policy, string?]>([
    ['people want none', ORIGINAL, withBlackbox(), 'once-more web-1 --untraced'],
    ['the spec names no program', { ...ORIGINAL, command: [] }, withBlackbox()],
    ['the pod has no volume for it', withoutVolume, withBlackbox()],
    ['the policy has no such image', ORIGINAL, guarded()],
    ['the policy does not call it diagnostic', ORIGINAL, withBlackbox({ diagnostic: false })],
    ['the policy does not call it a tracer', ORIGINAL, withBlackbox({ traces: false })],
  ])('is launched at once where %s', async (_name, original, policy, words = 'once-more web-1') => {
    const world = aWorldOf(original, policy);
    await world.say(words);
    expect(JSON.stringify(world.thread.posts)).toContain('cannot stop it');
    await world.click('U0BOB', 'approve');
    expect((await world.run()).state).toBe('starting');
    expect(world.cluster.launches).toHaveLength(1);
    expect(world.cluster.launches[0]?.copyOf).not.toHaveProperty('startedBy');
  });
});
