import { describe, expect, it } from 'vitest';
import type { Profile } from '../../../src/core/container/profiles.ts';
import { asChannelId, asRunId } from '../../../src/core/ids.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { REPORT_BEGIN, REPORT_END } from '../../../src/core/report-marks.ts';
import type { Button } from '../../../src/core/say/message/message.ts';
import { anOrigin, aPolicy, approvalTerms, aRule, aTermination, START_MS } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

const at = (ms: number) => new Date(START_MS + ms).toISOString();
const BLIND = {
  name: 'memory',
  state: 'not-readable',
  text: '',
  lacks: 'ptrace access',
  helps: ['identity', 'general'],
};

const allowing = (...profiles: readonly Profile[]): Policy =>
  aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ profiles })] } } });

/** A diagnosis that saw who the target is, and little else. */
async function looked(target: object, origin = anOrigin(), policy = aPolicy(), words = ''): Promise<World> {
  const world = new World({ policy });
  await world.say(`web-1 --profile=baseline${words}`, origin);
  const report = { kdebug: 1, verdict: 'x', target: { effective: true, ...target }, sections: [BLIND] };
  world.cluster.log = `${REPORT_BEGIN}\n${JSON.stringify(report)}\n${REPORT_END}\n`;
  world.cluster.report({ terminated: aTermination({ startedAt: at(0), finishedAt: at(2_000) }) });
  await settle();
  return world;
}

const button = (world: World): Button | undefined =>
  world.result()?.parts.flatMap((part) => (part.kind === 'actions' ? part.buttons : []))[0];

function click(world: World, userId = 'U0ROY', over: object = {}) {
  const ref = world.thread.posts.find(({ meta }) => meta.kind === 'result')?.ref;
  return world.click(userId, 'look-again', { channelId: 'C0SHOP', messageTs: ref?.ts ?? '', ...over });
}

const second = (world: World) => world.store.read(asRunId('bbbbbbbbbb'));

describe('look again', () => {
  it('runs the same request as the target’s own user and group, in the same thread', async () => {
    const world = await looked({ uid: 65532, gid: 0 });
    expect(button(world)).toEqual({ action: 'look-again', label: 'Look again as 65532:0', value: 'aaaaaaaaaa' });
    expect(await click(world)).toEqual({ kind: 'nothing' });
    expect(world.cluster.launches[1]?.container.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 0,
      capabilities: { drop: ['ALL'] },
    });
    expect(world.thread.posts[2]?.place).toEqual({ channelId: 'C0SHOP', threadTs: '1.0' });
    expect((await second(world))?.origin).toMatchObject({ source: 'button', requesterId: 'U0ROY' });
  });

  it('works on the card, too, and starts one run where somebody clicks both', async () => {
    const world = await looked({ uid: 65532, gid: 0 });
    expect(world.anchor()?.parts.flatMap((part) => (part.kind === 'actions' ? part.buttons : []))).toContainEqual(
      button(world),
    );
    expect(await click(world, 'U0ROY', { messageTs: '1.0' })).toEqual({ kind: 'nothing' });
    expect((await second(world))?.origin).toMatchObject({ source: 'button', requesterId: 'U0ROY', threadTs: '1.0' });
    expect(textOf(await click(world, 'U0ROY', { dedupeKey: 'other' }))).toContain('already_asked');
    expect(world.cluster.launches).toHaveLength(2);
  });

  it('on the card of a private run is for its requester alone, who was told the verdict', async () => {
    const policy = allowing('baseline', 'restricted');
    const shared = aPolicy({
      channels: { [asChannelId('C0SHOP')]: { slackConnect: 'allowed', rules: [aRule({ targetLog: 'errors' })] } },
    });
    const world = await looked({ uid: 65532, gid: 0 }, anOrigin(), policy);
    world.directory.shared.add('C0SHOP');
    expect(textOf(await click(world, 'U0EVE', { messageTs: '1.0' }))).toContain('button_stale');
    expect(await second(world)).toBeUndefined();
    world.policy = shared;
    expect(await click(world, 'U0EVE', { messageTs: '1.0' })).toEqual({ kind: 'nothing' });
  });

  it('runs as root with general when the target is root', async () => {
    const world = await looked({ uid: 0, gid: 0 });
    expect(button(world)?.label).toBe('Look again as root');
    await click(world);
    expect(world.cluster.launches[1]?.container.securityContext).toEqual({
      capabilities: { add: ['SYS_PTRACE'] },
      runAsUser: 0,
      runAsGroup: 0,
    });
  });

  it('stays in the thread that the request stood in', async () => {
    const world = await looked({ uid: 65532, gid: 0 }, anOrigin({ source: 'mention', threadTs: '9.9' }));
    await click(world);
    expect(world.thread.posts[2]?.place.threadTs).toBe('9.9');
  });

  it('is decided anew for the person who clicks, and refused privately', async () => {
    const world = await looked({ uid: 0, gid: 0 }, anOrigin(), allowing('baseline'));
    await click(world, 'U0EVE');
    expect((await second(world))?.origin.requesterId).toBe('U0EVE');
    expect((await second(world))?.state).toBe('denied');
    expect(world.thread.told[0]?.person).toMatchObject({ userId: 'U0EVE', threadTs: '1.0' });
    expect(world.refusal).toContain('general');
    expect(world.thread.posts).toHaveLength(2);
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('of another person’s secret, in a setting, starts nothing', async () => {
    const policy = aPolicy();
    const autodiagnose = { ...policy.images.autodiagnose!, settings: ['NET_ENDPOINT'] };
    const words = ' --env=NET_ENDPOINT=https://roy:hunter2-hunter2@shop.example.com';
    const world = await looked({ uid: 0, gid: 0 }, anOrigin(), { ...policy, images: { autodiagnose } }, words);
    expect(textOf(await click(world, 'U0EVE'))).toContain('run_has_secret');
    expect(world.cluster.launches).toHaveLength(1);
    await click(world);
    expect(world.cluster.launches).toHaveLength(2);
  });

  it('asks for an approval where the policy wants one', async () => {
    const approval = approvalTerms({ expiresMs: 60_000 });
    const rules = [aRule({ profiles: ['baseline'] }), aRule({ id: 'ask', profiles: ['general'], approval })];
    const policy = aPolicy({
      approvers: { sre: { users: [], usergroup: 'S0SRE' } },
      channels: { [asChannelId('C0SHOP')]: { rules } },
    });
    const world = await looked({ uid: 0, gid: 0 }, anOrigin(), policy);
    await click(world);
    expect((await second(world))?.state).toBe('pending-approval');
  });

  it('starts one run a person, however often they click', async () => {
    const world = await looked({ uid: 65532, gid: 0 });
    await Promise.all([click(world), click(world, 'U0ROY', { dedupeKey: 'again' })]);
    expect(textOf(await click(world, 'U0ROY', { dedupeKey: 'third' }))).toContain('already_asked');
    expect(world.cluster.launches).toHaveLength(2);
  });

  it.each([
    ['another message', { messageTs: '7.7' }],
    ['another channel', { channelId: 'C0OTHER' }],
    ['a run that is not there', { value: 'zzzzzzzzzz' }],
    ['no run at all', { value: '../x' }],
  ])('starts nothing from %s', async (_, over) => {
    const world = await looked({ uid: 65532, gid: 0 });
    expect(textOf(await click(world, 'U0ROY', over))).toContain('button_stale');
    expect(world.cluster.launches).toHaveLength(1);
  });
});

describe('look again where the rule wants a reason', () => {
  const asking = (): Policy => {
    const approval = approvalTerms({ reason: 'required', grants: 'denied' });
    const rules = [aRule({ profiles: ['baseline'] }), aRule({ id: 'ask', profiles: ['restricted'], approval })];
    return aPolicy({
      channels: { [asChannelId('C0SHOP')]: { rules } },
      approvers: { sre: { usergroup: 'S0SRE', users: [] } },
    });
  };
  const form = (world: World, fields: Record<string, string>, over: object = {}) =>
    world.pipeline.inbox.submit({
      name: 'again-reason',
      value: `look-again:${world.runId}`,
      teamId: 'T0TEAM',
      userId: 'U0EVE',
      channelId: 'C0SHOP',
      dedupeKey: 'form',
      receivedAtMs: world.clock.now(),
      fields,
      ...over,
    });

  it('asks who clicks for their own, and takes nothing over from the first person', async () => {
    const world = await looked({ uid: 65532, gid: 0 }, anOrigin(), asking(), ' --reason="words of Roy"');
    const answer = await click(world, 'U0EVE');
    expect(answer).toMatchObject({ kind: 'form', form: { name: 'again-reason' } });
    expect(JSON.stringify(answer.kind === 'form' && answer.form.fields)).not.toMatch(/initial|words of Roy/);
    expect(await second(world)).toBeUndefined();
    expect(await form(world, {})).toMatchObject({ kind: 'errors' });
    expect(await form(world, { reason: ' \n ' })).toMatchObject({ kind: 'errors' });
    expect(await form(world, { reason: 'words of Eve' })).toEqual({ kind: 'taken' });
    await settle();
    expect(await second(world)).toMatchObject({
      state: 'pending-approval',
      plan: { requesterId: 'U0EVE', reason: 'words of Eve' },
    });
    expect(JSON.stringify((await second(world))?.request)).not.toContain('words of Roy');
  });

  it('takes no form of another channel, of another run or of another button', async () => {
    const world = await looked({ uid: 65532, gid: 0 }, anOrigin(), asking());
    for (const over of [
      { channelId: 'C0OTHER' },
      { value: 'look-again:zzzzzzzzzz' },
      { value: 'rerun-failed:aaaaaaaaaa' },
    ])
      expect(textOf(await form(world, { reason: 'mine' }, over))).toContain('button_stale');
    expect(await second(world)).toBeUndefined();
  });

  it('asks for one when the cluster does not answer in time', async () => {
    const world = await looked({ uid: 65532, gid: 0 });
    world.cluster.pod = () => new Promise(() => undefined);
    const answer = click(world);
    await world.clock.advance(1_100);
    expect((await answer).kind).toBe('form');
  });

  it('does without one, and without the first person’s, where the rule wants none', async () => {
    const world = await looked({ uid: 65532, gid: 0 }, anOrigin(), aPolicy(), ' --reason="words of Roy"');
    expect(await click(world)).toEqual({ kind: 'nothing' });
    expect((await second(world))?.request).not.toHaveProperty('reason');
  });
});

const ASKING = approvalTerms({ reason: 'required', grants: 'denied' });

describe('the next image', () => {
  const { images, ...policy } = aPolicy();
  const stacks = { ...images.autodiagnose!, alias: 'stacks', reference: 'registry.example.com/stacks:1' };
  const withStacks = (rules = [aRule({ profiles: ['baseline', 'restricted'] })], parts = {}): Policy => ({
    ...policy,
    images: { ...images, stacks: { ...stacks, ...parts } },
    channels: { [asChannelId('C0SHOP')]: { rules } },
  });

  async function diagnosed(of = withStacks(), words = '--timeout=90s', sections: readonly object[] = []) {
    const world = new World({ policy: of });
    await world.say(`web-1 --profile=baseline ${words}`);
    const findings = [{ code: 'accept_queue', value: 128, text: '128 connections wait at port 8080' }];
    const report = { kdebug: 1, verdict: 'x', target: { effective: true, uid: 65532, gid: 0 }, findings, sections };
    world.cluster.log = `${REPORT_BEGIN}\n${JSON.stringify(report)}\n${REPORT_END}\n`;
    world.cluster.report({ terminated: aTermination({ startedAt: at(0), finishedAt: at(2_000) }) });
    await settle();
    return world;
  }
  const follow = (world: World, userId = 'U0ROY', over: object = {}) => {
    const ref = world.thread.posts.find(({ meta }) => meta.kind === 'result')?.ref;
    return world.click(userId, 'next-image', { channelId: 'C0SHOP', messageTs: ref?.ts ?? '', ...over });
  };

  it('runs beside the same target, in the same thread, with nothing that was typed for the first image', async () => {
    const world = await diagnosed();
    expect(button(world)).toEqual({ action: 'next-image', label: 'Get its stacks', value: 'aaaaaaaaaa' });
    expect(await follow(world)).toEqual({ kind: 'nothing' });
    const { container } = world.cluster.launches[1]!;
    expect(container).toMatchObject({
      ...{ image: 'registry.example.com/stacks:1', targetContainerName: 'web' },
      securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 0 },
    });
    expect(container).not.toHaveProperty('args');
    const run = await second(world);
    expect(run?.plan).toMatchObject({
      imageAlias: 'stacks',
      profile: 'restricted',
      timeoutMs: 120_000,
      podName: 'web-1',
    });
    expect(run?.origin).toMatchObject({ source: 'button', requesterId: 'U0ROY' });
    expect(world.thread.posts[2]?.place).toEqual({ channelId: 'C0SHOP', threadTs: '1.0' });
  });

  it('is decided anew for whoever clicks; a refusal says why and what may be asked for', async () => {
    const approval = approvalTerms({ grants: 'denied' });
    const rules = [aRule({ profiles: ['baseline'] }), aRule({ id: 'ask', profiles: ['general'], approval })];
    const of = { ...withStacks(rules), approvers: { sre: { users: [], usergroup: 'S0SRE' } } };
    const world = await diagnosed(of, '', [BLIND]);
    await follow(world, 'U0EVE');
    expect(await second(world)).toMatchObject({ state: 'denied', origin: { requesterId: 'U0EVE' } });
    expect(world.refusal).toContain('restricted');
    expect(world.refusal).toContain('Ask for it');
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('is decided by the policy of now: its class counts, and it may be gone', async () => {
    const world = await diagnosed();
    world.policy = withStacks(undefined, { class: 'elevated' });
    await follow(world);
    expect(await second(world)).toMatchObject({ state: 'denied', refusal: { code: 'class_not_allowed' } });
    const tracer = await diagnosed();
    tracer.policy = withStacks([aRule({ classes: ['observe', 'intrusive'] })], { traces: true });
    await follow(tracer);
    expect(await second(tracer)).toMatchObject({ state: 'denied', refusal: { code: 'tracer_not_allowed' } });
    const gone = await diagnosed();
    gone.policy = aPolicy();
    await follow(gone);
    expect(await second(gone)).toMatchObject({ state: 'denied', refusal: { code: 'image_not_allowed' } });
  });

  it('asks for a reason of the clicker’s own where the rule wants one, and says what will run', async () => {
    const rules = [aRule({ profiles: ['baseline'] }), aRule({ id: 'ask', profiles: ['restricted'], approval: ASKING })];
    const world = await diagnosed({ ...withStacks(rules), approvers: { sre: { users: [], usergroup: 'S0SRE' } } });
    const answer = await follow(world);
    expect(answer).toMatchObject({
      kind: 'form',
      form: { value: 'next-image:aaaaaaaaaa', intro: expect.stringContaining('--image=stacks') },
    });
    await world.pipeline.inbox.submit({
      ...{ name: 'again-reason', value: 'next-image:aaaaaaaaaa', teamId: 'T0TEAM', userId: 'U0ROY' },
      ...{ channelId: 'C0SHOP', dedupeKey: 'form', receivedAtMs: world.clock.now(), fields: { reason: 'it hangs' } },
    });
    await settle();
    expect(await second(world)).toMatchObject({ state: 'pending-approval', request: { reason: 'it hangs' } });
  });

  it('starts one run a person, and nothing from elsewhere', async () => {
    const world = await diagnosed();
    await Promise.all([follow(world), follow(world, 'U0ROY', { dedupeKey: 'again' })]);
    expect(textOf(await follow(world, 'U0ROY', { dedupeKey: 'third' }))).toContain('already_asked');
    expect(world.cluster.launches).toHaveLength(2);
    expect(textOf(await follow(world, 'U0ROY', { messageTs: '7.7' }))).toContain('button_stale');
    expect(textOf(await follow(world, 'U0ROY', { value: 'zzzzzzzzzz' }))).toContain('button_stale');
  });

  it('of a run without such a finding is no click of ours', async () => {
    const world = await looked({ uid: 65532, gid: 0 }, anOrigin(), withStacks());
    expect(textOf(await follow(world))).toContain('button_stale');
    expect(world.cluster.launches).toHaveLength(1);
  });
});
