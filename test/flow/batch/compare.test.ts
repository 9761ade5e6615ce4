import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/core/container/pod.ts';
import { asRunId } from '../../../src/core/ids.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { REPORT_BEGIN, REPORT_END } from '../../../src/core/report-marks.ts';
import { aPod, aPolicy, approvalTerms, aRule, aStatus } from '../../support/builders.ts';
import { BatchWorld, policyOf } from './batch-world.ts';

const LONG = 120_000;

function aReplica(name: string, node: string, digest = 'bbbbbbbbbbbb'): Pod {
  const imageID = `docker.io/web@sha256:${digest}`;
  return aPod({
    metadata: {
      name,
      uid: `uid-${name}`,
      labels: { 'pod-template-hash': 'v1' },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web-v1', controller: true }],
    },
    spec: { nodeName: node },
    status: { containerStatuses: [aStatus({ imageID, ready: true, running: { startedAt: '2026-11-20T00:00:01Z' } })] },
  });
}

const THREE = [aReplica('web-1', 'n1', 'aaaaaaaaaaaa'), aReplica('web-2', 'n2'), aReplica('web-3', 'n3')];

/** No rule has `batch`: what people may do in one pod, they may compare. */
const RULE = aRule({ classes: ['observe', 'intrusive'] });

const reportOf = (name: string): string => {
  const isSick = name === 'web-1';
  const facts = [
    [isSick ? '#1111' : '#2222', 'env', 'DB_PASSWORD'],
    ['#3333', 'env', 'HOME'],
    [isSick ? 412 : 2, 'sockets', 'CLOSE_WAIT'],
  ];
  const finding = { code: 'close_wait', text: '412 sockets in CLOSE_WAIT', value: 412 };
  const report = { kdebug: 1, verdict: 'x', findings: isSick ? [finding] : [], sections: [], facts };
  return `words for people\n${REPORT_BEGIN}\n${JSON.stringify(report)}\n${REPORT_END}\n`;
};

function aWorld(rule = RULE, pods: readonly Pod[] = THREE): BatchWorld {
  const world = new BatchWorld(pods, { policy: policyOf(rule) });
  world.fleet.logOf = reportOf;
  return world;
}

const keysOf = ({ fleet }: BatchWorld) =>
  fleet.launches.map(({ container }) => container.env.find(({ name }) => name === 'KDEBUG_COMPARE')?.value);

describe('compare POD', () => {
  it('looks into the pod and two siblings at once, under a rule for single pods, and tells the differences first', async () => {
    const world = aWorld();
    expect(await world.say('compare web-1 -n shop')).toBeUndefined();
    await world.clock.advance(LONG);
    expect(world.fleet.launches.map(({ pod }) => pod.name).sort()).toEqual(['web-1', 'web-2', 'web-3']);
    expect(world.fleet.peak).toBe(3);
    const result = world.text('result');
    expect(result).toContain('412 sockets in CLOSE_WAIT');
    expect(result).toContain('image of web: sha256:aaaaaaaaaaaa');
    expect(result).toContain('environment variable DB_PASSWORD has another content');
    expect(result).toContain('Compared with web-2 and web-3.');
    expect(world.thread.files[0]?.content).toContain('Only web-1, compared with web-2 and web-3:\n- 412 sockets');
    expect((await world.run()).commandLine).toBe('compare web-1 -n shop');
  });

  it('gives its containers one key, which no message and no file shows', async () => {
    const world = aWorld();
    await world.say('compare web-1 -n shop');
    await world.clock.advance(LONG);
    const [key = '', ...others] = keysOf(world);
    expect(key).toMatch(/^[a-z2-7]{26}$/);
    expect(others).toEqual([key, key]);
    const shown = JSON.stringify([world.thread.posts, world.thread.files, world.thread.told]);
    expect(shown).not.toContain(key);
  });

  it('goes on after a crash with the key that the first containers got', async () => {
    const world = aWorld();
    world.fleet.fateOf = () => ({ startMs: 100, runMs: 5_000, exitCode: 0 });
    await world.say('compare web-1 -n shop');
    await world.clock.advance(500);
    world.restart();
    await world.clock.advance(LONG);
    expect(new Set(keysOf(world)).size).toBe(1);
    expect(world.text('result')).toContain('Compared with web-2 and web-3.');
  });

  it('says to who approves that healthy pods get a container too', async () => {
    const world = aWorld({ ...RULE, approval: approvalTerms() });
    await world.say('compare web-1 -n shop');
    const card = world.text('anchor');
    expect(card).toContain(' wants to ');
    expect(card).toContain(' with web-2 and web-3 in shop');
    expect(card).toContain('a debug container to each of them, the healthy ones too; it stays as long as the pod');
    expect(world.fleet.launches).toEqual([]);
    await world.click('approve', 'U0BOB');
    await world.clock.advance(LONG);
    expect(world.fleet.launches).toHaveLength(3);
  });

  it('compares with the other sibling when the look into one fails', async () => {
    const world = aWorld();
    world.fleet.fateOf = (name) => ({
      startMs: 100,
      runMs: 500,
      exitCode: 0,
      fails: name === 'web-2' ? 'ErrImagePull' : undefined,
    });
    await world.say('compare web-1 -n shop');
    await world.clock.advance(LONG * 5);
    const result = world.text('result');
    expect(result).toContain('DB_PASSWORD has another content');
    expect(result).toContain('No report from web-2');
  });

  it('starts from the button of a diagnosis that found something, for whoever clicks, in its thread', async () => {
    const world = aWorld();
    await world.say('web-1 -n shop --image=autodiagnose');
    await world.clock.advance(LONG);
    const result = world.results[0];
    const buttons = result?.message.parts.flatMap((part) => (part.kind === 'actions' ? part.buttons : [])) ?? [];
    expect(buttons.map(({ action }) => action)).toEqual(['compare', 'rerun', 'copy-command', 'details']);
    const click = {
      action: 'compare',
      value: world.id,
      userId: 'U0BOB',
      teamId: 'T0TEAM',
      dedupeKey: 'click',
    } as const;
    const where = { channelId: 'C0SHOP', messageTs: result?.ref.ts ?? '' };
    void world.bot.inbox.action({ ...click, ...where });
    await world.clock.advance(LONG);
    const second = await world.store.read(asRunId('bbbbbbbbbb'));
    expect(second).toMatchObject({
      commandLine: 'compare web-1 -n shop',
      origin: { requesterId: 'U0BOB', source: 'button' },
    });
    expect(world.fleet.launches).toHaveLength(4);
    expect(JSON.stringify(world.results.at(-1)?.message)).toContain('Compared with web-2 and web-3.');
  });

  describe('its way into the pod that differs', () => {
    const { images } = aPolicy();
    const stacks = { ...images.autodiagnose!, alias: 'stacks', reference: 'registry.example.com/stacks:1' };

    async function compared(isEqual = false, policy: Policy = { ...policyOf(RULE), images: { ...images, stacks } }) {
      const world = aWorld(RULE, isEqual ? THREE.map(({ metadata: { name } }) => aReplica(name, 'n1')) : THREE);
      world.policy = policy;
      if (isEqual) world.fleet.logOf = () => reportOf('web-2');
      await world.say('compare web-1 -n shop');
      await world.clock.advance(LONG);
      return world;
    }
    const actionsOf = (world: BatchWorld) =>
      (world.anchors[0]?.message.parts ?? []).flatMap((part) =>
        part.kind === 'actions' ? part.buttons.map(({ action, label }) => [action, label]) : [],
      );

    it('is a button to its stacks, decided afresh for whoever clicks', async () => {
      const world = await compared();
      expect(actionsOf(world)[0]).toEqual(['next-image', 'Get its stacks']);
      await world.click('next-image', 'U0BOB');
      await world.clock.advance(LONG);
      expect(await world.store.read(asRunId('bbbbbbbbbb'))).toMatchObject({
        commandLine: 'web-1 -n shop --image=stacks',
        plan: { imageAlias: 'stacks', podName: 'web-1' },
        origin: { requesterId: 'U0BOB', source: 'button' },
      });
      expect(world.fleet.launches).toHaveLength(4);
    });

    it('is not there where nothing differs, nor without that image', async () => {
      const equal = await compared(true);
      expect(equal.text('result')).toContain('No difference between');
      expect(actionsOf(equal)).toEqual([['rerun', 'Compare again']]);
      await equal.click('next-image');
      await equal.clock.advance(LONG);
      expect(equal.fleet.launches).toHaveLength(3);
      expect(actionsOf(await compared(false, policyOf(RULE)))).toEqual([['rerun', 'Compare again']]);
    });
  });

  it.each([
    ['a pod without an owner', [aPod({ metadata: { name: 'web-1' } }), ...THREE.slice(1)], 'compare_no_owner'],
    ['a pod without siblings', THREE.slice(0, 1), 'compare_no_siblings'],
    ['a pod that is not there', THREE.slice(1), 'pod_not_found'],
  ])('refuses %s before anything starts', async (_, pods, code) => {
    const world = aWorld(RULE, pods);
    await world.say('compare web-1 -n shop');
    expect((await world.run()).refusal?.code).toBe(code);
    expect(world.fleet.launches).toEqual([]);
  });

  it('refuses where no report of the image would be believed', async () => {
    const world = aWorld();
    const { images } = aPolicy();
    const { diagnostic: _, ...plain } = images.autodiagnose ?? {};
    world.policy = { ...world.policy, images: { ...images, autodiagnose: plain as never } };
    await world.say('compare web-1 -n shop');
    expect((await world.run()).refusal?.code).toBe('compare_needs_diagnostic');
  });
});
