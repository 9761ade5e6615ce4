import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { ActionName } from '../../../src/core/actions.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import { asChannelId, asRunId, asUserId } from '../../../src/core/ids.ts';
import type { Approval, Policy } from '../../../src/core/policy/policy.ts';
import type { Answer } from '../../../src/flow/ports/slack.ts';
import { anOrigin, aPod, aPolicy, approvalTerms, aRule, aTermination } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { buttonsOf, textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

const guarded = (approval: Approval, parts: Partial<Policy> = {}): Policy =>
  aPolicy({
    channels: {
      [asChannelId('C0SHOP')]: { rules: [aRule({ id: 'attach', classes: ['observe', 'intrusive'], approval })] },
    },
    approvers: { sre: { usergroup: 'S0SRE', users: [asUserId('U0CAROL')] } },
    ...parts,
  });

async function pending(parts: Partial<Approval> = {}, policy: Partial<Policy> = {}): Promise<World> {
  const world = new World({ policy: guarded(approvalTerms(parts), policy) });
  await world.say('web-1 --reason=hang');
  expect((await world.run()).state).toBe('pending-approval');
  return world;
}

const code = (answer: Answer): string => (answer.kind === 'message' ? JSON.stringify(answer.message) : answer.kind);

async function ended(world: World): Promise<void> {
  world.cluster.report({ terminated: aTermination() });
  await settle();
}

describe('asking for an approval', () => {
  it('posts a card with the plan, the approvers and the buttons, and launches nothing', async () => {
    const world = await pending();
    const card = JSON.stringify(world.anchor());
    expect(card).toContain('S0SRE');
    expect(card).toContain('uid uid-1');
    expect(card).toContain('not pinned to a digest');
    expect(card).toContain(`plan ${(await world.run()).planHash?.slice(0, 12)}`);
    expect(card).toMatch(/"approve".*"approve-grant".*"reject".*"cancel"/);
    expect(world.cluster.launches).toHaveLength(0);
    expect(world.pipeline.active).toBe(0);
  });

  it('rehearses the very patch first, and bothers nobody when the cluster would refuse it', async () => {
    const world = new World({ policy: guarded(approvalTerms()) });
    world.cluster.refusal = { kind: 'refused', by: 'webhook', message: 'images must be signed' };
    await world.say('web-1 --image=debian -- id');
    expect((await world.run()).refusal).toMatchObject({ code: 'rehearsal_refused' });
    expect(world.refusal).toContain('images must be signed');
    expect(world.thread.posts).toHaveLength(0);
  });

  it('denies when the rule wants a reason and none was given', async () => {
    const world = new World({ policy: guarded(approvalTerms({ reason: 'required' })) });
    await world.say('web-1');
    expect((await world.run()).refusal?.code).toBe('reason_required');
  });

  it('refuses what does not fit on the card whole, and asks nobody', async () => {
    const world = new World({ policy: guarded(approvalTerms()) });
    await world.say(`web-1 --image=debian -- sh -c '${'x'.repeat(9_000)}; rm -rf /data'`);
    expect((await world.run()).refusal).toMatchObject({ code: 'command_too_long_to_approve', rule: 'attach' });
    expect(world.thread.posts).toHaveLength(0);
    expect(world.cluster.launches).toHaveLength(0);
  });

  it.each([
    'web-1 --image=debian --env=DB_PASSWORD=correct-horse-battery -- sh -c $DB_PASSWORD',
    "web-1 --image=debian -- sh -c 'password=rmrfdata99x; $password'",
  ])('refuses a command that a secret would hide from the approver: %s', async (words) => {
    const world = new World({ policy: guarded(approvalTerms()) });
    await world.say(words);
    expect((await world.run()).refusal?.code).toBe('secret_in_command_to_approve');
    expect(world.thread.posts).toHaveLength(0);
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('lets nobody approve a card that an older kdebug posted with a part of the command', async () => {
    const world = await pending();
    const run = await world.run();
    const command = ['sh', '-c', 'x'.repeat(9_000)];
    vi.spyOn(world.store, 'read').mockResolvedValue({ ...run, plan: { ...run.plan!, command } });
    expect(code(await world.click('U0BOB', 'approve'))).toContain('command_too_long_to_approve');
    expect(world.cluster.launches).toHaveLength(0);
    expect(await world.click('U0BOB', 'reject')).toEqual({ kind: 'nothing' });
  });

  it("denies when the cluster's own rights do not allow the person this", async () => {
    const identity = { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {} } as const;
    const world = new World({ policy: guarded(approvalTerms(), { identity }) });
    world.cluster.allowed = { kind: 'denied', reason: '', missing: ['patch pods/ephemeralcontainers'] };
    await world.say('web-1');
    expect((await world.run()).refusal?.code).toBe('access_denied');
    expect(world.refusal).toContain('slack:U0ROY may not patch pods/ephemeralcontainers in shop');
  });
});

describe('a vote', () => {
  it('by one approver launches exactly once, with the approver in the container', async () => {
    const world = await pending();
    expect(await world.click('U0BOB', 'approve')).toEqual({ kind: 'nothing' });
    await ended(world);
    expect(world.cluster.launches).toHaveLength(1);
    expect(world.cluster.launches[0]?.container.env).toContainEqual({ name: 'KDEBUG_APPROVERS', value: 'U0BOB' });
    expect((await world.run()).outcome).toEqual({ kind: 'succeeded' });
    expect(textOf(world.anchor())).toContain('U0BOB');
  });

  it('to reject ends it, and the requester is told by whom', async () => {
    const world = await pending();
    await world.click('U0BOB', 'reject');
    expect((await world.run()).outcome).toEqual({ kind: 'rejected', by: 'U0BOB' });
    expect(textOf(world.result())).toMatch(/U0ROY, your request for shop\/web-1 was rejected by U0BOB/);
    expect(buttonsOf(world.anchor())).toEqual(['details']);
  });

  it.each([
    ['the requester', 'U0ROY', 'vote_by_requester'],
    ['somebody of no group', 'U0EVE', 'vote_by_outsider'],
  ])('of %s does not count and is answered privately', async (_, userId, reason) => {
    const world = await pending();
    expect(code(await world.click(userId, 'approve'))).toContain(reason);
    expect((await world.run()).state).toBe('pending-approval');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it("does not count from a second account of the requester's", async () => {
    const users = { [asUserId('U0ROY')]: 'roy', [asUserId('U0BOB')]: 'roy' };
    const world = await pending({}, { identity: { mode: 'serviceAccount', users, unmapped: 'allow' } });
    expect(code(await world.click('U0BOB', 'approve'))).toContain('vote_by_requester');
  });

  it('does not count from an account that acts as the user of the requester', async () => {
    const users = { [asUserId('U0BOB')]: 'slack:U0ROY' };
    const world = await pending({}, { identity: { mode: 'impersonate', user: 'slack:{userId}', groups: [], users } });
    expect(code(await world.click('U0BOB', 'approve'))).toContain('vote_by_requester');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('is one of one person, with however many accounts and at once', async () => {
    const users = { [asUserId('U0BOB')]: 'bob', [asUserId('U0ALICE')]: 'bob' };
    const world = await pending({ count: 2 }, { identity: { mode: 'serviceAccount', users, unmapped: 'allow' } });
    await Promise.all([world.click('U0BOB', 'approve'), world.click('U0ALICE', 'approve')]);
    expect(code(await world.click('U0ALICE', 'approve'))).toContain('vote_repeated');
    expect((await world.run()).approval?.votes).toHaveLength(1);
    await world.click('U0CAROL', 'approve');
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('does not count from who left the group after the card was posted', async () => {
    const world = await pending();
    world.directory.groups.set('S0SRE', new Set(['U0ALICE']));
    expect(code(await world.click('U0BOB', 'approve'))).toContain('vote_by_outsider');
    expect(await world.click('U0ALICE', 'approve')).toEqual({ kind: 'nothing' });
  });

  it('does not complete one of somebody who has left the group since', async () => {
    const world = await pending({ count: 2 });
    await world.click('U0BOB', 'approve');
    world.directory.groups.set('S0SRE', new Set(['U0ALICE']));
    expect(code(await world.click('U0ALICE', 'approve'))).toContain('vote_lapsed');
    expect((await world.run()).approval?.votes).toMatchObject([{ userId: 'U0ALICE' }]);
    expect(textOf(world.anchor())).not.toContain('U0BOB');
    await world.click('U0CAROL', 'approve');
    expect(world.cluster.launches[0]?.container.env).toContainEqual({
      name: 'KDEBUG_APPROVERS',
      value: 'U0ALICE,U0CAROL',
    });
  });

  it('is refused when nobody can say who is in the group', async () => {
    const world = await pending();
    world.directory.faults.add('members', 'slack_unreachable');
    expect(code(await world.click('U0BOB', 'approve'))).toContain('slack_unreachable');
    expect((await world.run()).state).toBe('pending-approval');
  });

  it('does not count from who left the group a moment ago, whatever was known before', async () => {
    const world = await pending();
    world.directory.kept.set('S0SRE', new Set(['U0BOB']));
    world.directory.groups.set('S0SRE', new Set());
    expect(code(await world.click('U0BOB', 'approve'))).toContain('vote_by_outsider');
    expect(code(await world.click('U0BOB', 'reject'))).toContain('vote_by_outsider');
    expect((await world.run()).approval?.votes).toEqual([]);
    expect(world.cluster.launches).toHaveLength(0);
  });

  it.each(['deactivated', 'guest', 'outsider', 'bot'] as const)(
    'does not count from an approver who is %s by now, be it by name or by group',
    async (kind) => {
      const world = await pending();
      for (const userId of ['U0BOB', 'U0CAROL']) {
        world.directory.kinds.set(userId, kind);
        expect(code(await world.click(userId, 'approve'))).toContain('vote_by_outsider');
      }
      expect(world.cluster.launches).toHaveLength(0);
    },
  );

  it('does not complete one of somebody who left the workspace since', async () => {
    const world = await pending({ count: 2 });
    await world.click('U0BOB', 'approve');
    world.directory.kinds.set('U0BOB', 'deactivated');
    expect(code(await world.click('U0ALICE', 'approve'))).toContain('vote_lapsed');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it.each([
    ['fresh members', 'slack_unreachable'],
    ['fresh members', 'slack_busy'],
    ['person', 'slack_unreachable'],
  ] as const)('is refused when Slack does not answer afresh (%s: %s)', async (question, reason) => {
    const world = await pending();
    world.directory.faults.add(question, reason);
    expect(code(await world.click('U0BOB', 'approve'))).toContain(reason);
    expect((await world.run()).state).toBe('pending-approval');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('is never counted by a list that only serves for showing', async () => {
    const world = await pending();
    world.directory.lastKnown.set('S0SRE', new Set(['U0EVE']));
    expect(code(await world.click('U0EVE', 'approve'))).toContain('vote_by_outsider');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('of an outsider asks nothing of Slack afresh', async () => {
    const world = await pending();
    world.directory.faults.add('fresh members', 'slack_unreachable');
    expect(code(await world.click('U0EVE', 'approve'))).toContain('vote_by_outsider');
  });

  it('of a named person counts without a user group', async () => {
    const world = await pending();
    expect(await world.click('U0CAROL', 'approve')).toEqual({ kind: 'nothing' });
    expect((await world.run()).approval?.votes).toHaveLength(1);
  });

  it('is one of several when several are asked for, and nobody counts twice', async () => {
    const world = await pending({ count: 2 });
    await world.click('U0BOB', 'approve');
    expect((await world.run()).state).toBe('pending-approval');
    expect(code(await world.click('U0BOB', 'approve'))).toContain('vote_repeated');
    await world.click('U0ALICE', 'approve');
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('asks for a reason where the policy does, and takes it from the form', async () => {
    const world = await pending({ voteReason: 'required' });
    const answer = await world.click('U0BOB', 'approve');
    expect(answer).toMatchObject({ kind: 'form', form: { name: 'vote-reason', value: `approve:${world.runId}` } });
    const submission = {
      name: 'vote-reason',
      value: `approve:${world.runId}`,
      teamId: 'T0TEAM',
      userId: 'U0BOB',
      channelId: 'C0SHOP',
      dedupeKey: 'f',
      receivedAtMs: world.clock.now(),
    } as const;
    expect(await world.pipeline.inbox.submit({ ...submission, fields: {} })).toMatchObject({ kind: 'errors' });
    expect(await world.pipeline.inbox.submit({ ...submission, fields: { reason: 'incident 7' } })).toEqual({
      kind: 'taken',
    });
    await settle();
    expect(textOf(world.anchor())).toContain('incident 7');
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('comes too late at the moment of the expiry', async () => {
    const world = await pending();
    await world.clock.advance(900_000);
    expect(code(await world.click('U0BOB', 'approve'))).toMatch(/approval_expired|approval_decided/);
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('on a card that stands in Slack and is not on record yet is told so, and counts once it is', async () => {
    const world = new World({ policy: guarded(approvalTerms()) });
    world.thread.faults.add('post', 'slack_unanswered', 'after');
    await world.say('web-1 --reason=hang');
    expect(world.thread.posts).toHaveLength(1);
    expect(code(await world.click('U0BOB', 'approve'))).toContain('button_early');
    await world.clock.advance(5_000);
    expect(await world.click('U0BOB', 'approve')).toEqual({ kind: 'nothing' });
    expect(world.cluster.launches).toHaveLength(1);
  });

  it.each([
    ['another message', { messageTs: '77.7' }],
    ['another channel', { channelId: 'C0OTHER' }],
    ['no run at all', { value: '{"state":"approved"}' }],
    ['a run that the store has lost', { value: 'zzzzzzzzzz' }, 'request_forgotten'],
  ])('by a button of %s does nothing', async (_, over, reason = 'button_stale') => {
    const world = await pending();
    expect(code(await world.click('U0BOB', 'approve', over))).toContain(reason);
    expect((await world.run()).state).toBe('pending-approval');
  });

  it('after the decision is told that it was decided', async () => {
    const world = await pending();
    await world.click('U0BOB', 'reject');
    expect(code(await world.click('U0ALICE', 'approve'))).toContain('approval_decided');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('is void when the pod was re-created between request and click', async () => {
    const world = await pending();
    world.cluster.setPod(aPod({ metadata: { uid: 'uid-2' } }));
    expect(code(await world.click('U0BOB', 'approve'))).toContain('approval_changed');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('is void when the policy has changed', async () => {
    const world = await pending();
    world.policy = aPolicy({ channels: {} });
    expect(code(await world.click('U0CAROL', 'approve'))).toMatch(/vote_by_outsider|approval_changed/);
    expect(world.cluster.launches).toHaveLength(0);
  });

  it.each<[string, Partial<Approval>]>([
    ['other groups', { from: ['security'] }],
    ['more people', { count: 2 }],
    ['reasons', { voteReason: 'required' }],
  ])('is void when the rule asks for %s since the card was posted', async (_, parts) => {
    const approvers = { sre: { users: [asUserId('U0CAROL')] }, security: { users: [asUserId('U0CAROL')] } };
    const world = await pending({}, { approvers });
    world.policy = guarded(approvalTerms(parts), { approvers });
    expect(code(await world.click('U0CAROL', 'approve'))).toContain('approval_changed');
    expect((await world.run()).approval?.votes).toEqual([]);
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('does not happen when it cannot be recorded', async () => {
    const world = await pending();
    world.audit.faults.add('vote', 'audit_unavailable');
    expect(code(await world.click('U0BOB', 'approve'))).toContain('audit_unavailable');
    expect((await world.run()).state).toBe('pending-approval');
  });
});

describe('many clicks at once', () => {
  it('a hundred approvals and rejections make one decision and at most one launch', async () => {
    const world = await pending();
    const clicks = Array.from({ length: 100 }, (_, n) =>
      world.click(n % 2 ? 'U0BOB' : 'U0ALICE', n % 3 ? 'approve' : 'reject'),
    );
    const answers = await Promise.all(clicks);
    await settle();
    expect(answers.filter(({ kind }) => kind === 'nothing')).toHaveLength(1);
    expect(world.cluster.launches.length).toBeLessThanOrEqual(1);
    expect((await world.run()).approval?.votes).toHaveLength(1);
  });

  it('whatever the order in which they arrive and are worked on', async () => {
    const click = fc.constantFrom<[string, ActionName][]>(
      ['U0BOB', 'approve'],
      ['U0ALICE', 'reject'],
      ['U0ROY', 'cancel'],
      ['U0ROY', 'approve'],
      ['U0CAROL', 'approve-grant'],
    );
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(click, { minLength: 1, maxLength: 6 }), async (scheduler, clicks) => {
        const world = await pending();
        const members = world.directory.members.bind(world.directory);
        world.directory.members = scheduler.scheduleFunction(members);
        const answers = clicks.map(([userId, action]) => world.click(userId, action));
        await scheduler.waitFor(Promise.all(answers));
        const decided = (await Promise.all(answers)).filter(({ kind }) => kind === 'nothing').length;
        expect(decided).toBeLessThanOrEqual(1);
        expect(world.cluster.launches.length).toBeLessThanOrEqual(decided);
      }),
      { numRuns: 25 },
    );
  });
});

describe('an approval that nobody gives', () => {
  it('expires, and says so on the card and in the thread', async () => {
    const world = await pending();
    world.pipeline.startAdopting();
    await world.clock.advance(905_000);
    expect((await world.run()).outcome).toEqual({ kind: 'expired' });
    expect(world.anchor()?.summary).toContain('Expired');
    expect(textOf(world.result())).toContain('your request for shop/web-1 expired: nobody approved it in time');
    await world.pipeline.drain(0);
  });

  it('is cancelled by the requester and by nobody else', async () => {
    const world = await pending();
    expect(code(await world.click('U0BOB', 'cancel'))).toContain('not_your_request');
    expect(await world.click('U0ROY', 'cancel')).toEqual({ kind: 'nothing' });
    expect((await world.run()).outcome).toEqual({ kind: 'cancelled', by: 'U0ROY' });
  });
});

const inWeb = (name: string, uid: string) =>
  aPod({
    metadata: {
      name,
      uid,
      labels: { 'pod-template-hash': '7d9f8' },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web-7d9f8', controller: true }],
    },
  });

describe('a grant', () => {
  const again = (world: World, n: number, words = 'web-1') =>
    world.say(words, anOrigin({ dedupeKey: `again-${n}`, receivedAtMs: world.clock.now() }));

  async function granted(): Promise<World> {
    const world = await pending();
    await world.click('U0BOB', 'approve-grant');
    await ended(world);
    return world;
  }

  it('lets the same through without a second approval, counted on its own card', async () => {
    const world = await granted();
    await again(world, 1);
    expect(world.cluster.launches).toHaveLength(2);
    expect((await world.run()).grant?.uses).toHaveLength(1);
    expect(textOf(world.thread.posts[0]?.message)).toContain('1 of 20 used');
    const second = await world.store.read(asRunId('bbbbbbbbbb'));
    expect(second?.grantedBy).toBe(world.runId);
  });

  it('does not cover another profile, and ends by itself', async () => {
    const world = await granted();
    await again(world, 1, 'web-1 --profile=baseline');
    expect((await world.store.read(asRunId('bbbbbbbbbb')))?.state).toBe('pending-approval');
    world.pipeline.startAdopting();
    await world.clock.advance(31 * 60_000);
    await again(world, 2);
    expect((await world.store.read(asRunId('cccccccccc')))?.state).toBe('pending-approval');
    expect((await world.run()).delivery.grantClosed).toBe(true);
    await world.pipeline.drain(0);
  });

  it('says on its button, its dialog and its card what it allows, and puts that on record', async () => {
    const world = new World({ policy: guarded(approvalTerms()) });
    world.cluster.setPod(inWeb('web-1', 'uid-1'));
    await world.say('web-1 --reason=hang');
    const card = JSON.stringify(world.anchor());
    expect(card).toContain('Approve for 30 min');
    expect(card).toContain('may repeat this exact command in any pod of deployment/web, up to 20 times within 30 min');
    await world.click('U0BOB', 'approve-grant');
    await ended(world);
    const after = JSON.stringify(world.thread.posts[0]?.message);
    expect(after).toMatch(/U0ROY.*may repeat this exact command in any pod of deployment\/web.*0 of 20 used/);
    expect(after).toMatch(/End the grant.*any pod of deployment\/web/);
    expect(world.audit.entries.find(({ step }) => step === 'vote')?.facts).toMatchObject({
      grantTo: 'U0ROY',
      grantPlace: 'any pod of deployment/web',
      grantScope: (await world.run()).grant?.scope,
      grantRuns: 20,
      grantUntil: '2026-11-21T08:00:00.000Z',
    });
  });

  it('holds for another pod of the workload, and not for a pod beside it', async () => {
    const world = new World({ policy: guarded(approvalTerms()) });
    world.cluster.setPod(inWeb('web-1', 'uid-1'));
    await world.say('web-1 --reason=hang');
    await world.click('U0BOB', 'approve-grant');
    await ended(world);
    world.cluster.setPod(inWeb('web-1', 'uid-9'));
    await again(world, 1);
    expect((await world.store.read(asRunId('bbbbbbbbbb')))?.grantedBy).toBe(world.runId);
    world.cluster.setPod(aPod());
    await again(world, 2);
    expect((await world.store.read(asRunId('cccccccccc')))?.state).toBe('pending-approval');
  });

  it('lets nothing through for somebody else', async () => {
    const world = await granted();
    const asked = { dedupeKey: 'eve', requesterId: asUserId('U0EVE'), receivedAtMs: world.clock.now() };
    await world.say('web-1', anOrigin(asked));
    expect((await world.store.read(asRunId('bbbbbbbbbb')))?.state).toBe('pending-approval');
    expect((await world.run()).grant?.uses).toEqual([]);
  });

  it.each(['web-1 --timeout=1m', 'web-1 --no-target', 'web-1 --image-pull-policy=Always'])(
    'does not cover %s',
    async (words) => {
      const world = await granted();
      await again(world, 1, words);
      expect((await world.store.read(asRunId('bbbbbbbbbb')))?.state).toBe('pending-approval');
    },
  );

  it('is neither offered nor given where the rule does not allow it', async () => {
    const world = await pending({ grants: 'denied' });
    expect(buttonsOf(world.anchor())).not.toContain('approve-grant');
    expect(code(await world.click('U0BOB', 'approve-grant'))).toContain('grant_not_allowed');
    expect((await world.run()).approval?.votes).toEqual([]);
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('is over once the rule allows none any more', async () => {
    const world = await granted();
    world.policy = guarded(approvalTerms({ grants: 'denied' }));
    await again(world, 1);
    expect((await world.store.read(asRunId('bbbbbbbbbb')))?.state).toBe('pending-approval');
    expect((await world.run()).grant?.uses).toEqual([]);
  });

  it('is neither offered nor given where several people have to agree', async () => {
    const world = await pending({ count: 2 });
    expect(buttonsOf(world.anchor())).not.toContain('approve-grant');
    expect(code(await world.click('U0BOB', 'approve-grant'))).toContain('grant_of_several');
    expect((await world.run()).approval?.votes).toEqual([]);
  });

  it('does not stand in for the approval of several people that its rule asks for by now', async () => {
    const world = await granted();
    world.policy = guarded(approvalTerms({ count: 2 }));
    await again(world, 1);
    expect((await world.store.read(asRunId('bbbbbbbbbb')))?.state).toBe('pending-approval');
  });

  it('is used once by a run whose next step could not be kept at first', async () => {
    const world = await granted();
    const save = world.store.save.bind(world.store);
    let isOut = true;
    world.store.save = async (run, fence) => {
      if (isOut && run.grantedBy !== undefined) {
        isOut = false;
        throw new KdebugError('store_unreachable');
      }
      return save(run, fence);
    };
    await again(world, 1);
    await world.clock.advance(5_000);
    expect(isOut).toBe(false);
    expect((await world.store.read(asRunId('bbbbbbbbbb')))?.grantedBy).toBe(world.runId);
    expect((await world.run()).grant?.uses).toHaveLength(1);
  });

  it('lets nothing through once who gave it is no approver any more, nor while nobody can say', async () => {
    const world = await granted();
    world.directory.faults.add('fresh members', 'slack_unreachable');
    await again(world, 1);
    expect((await world.store.read(asRunId('bbbbbbbbbb')))?.state).toBe('pending-approval');
    world.directory.groups.set('S0SRE', new Set(['U0ALICE']));
    await again(world, 2);
    expect((await world.store.read(asRunId('cccccccccc')))?.state).toBe('pending-approval');
  });

  it('lets nothing through for who gave it, once that is known to be the same person', async () => {
    const world = await granted();
    const users = { [asUserId('U0BOB')]: 'bob', [asUserId('U0ROY')]: 'bob' };
    world.policy = guarded(approvalTerms(), { identity: { mode: 'serviceAccount', users } });
    await again(world, 1);
    expect((await world.store.read(asRunId('bbbbbbbbbb')))?.state).toBe('pending-approval');
    expect((await world.run()).grant?.uses).toEqual([]);
  });

  it('is ended by any approver, and by nobody else', async () => {
    const world = await granted();
    expect(code(await world.click('U0ROY', 'end-grant'))).toContain('vote_by_outsider');
    expect(await world.click('U0ALICE', 'end-grant')).toEqual({ kind: 'nothing' });
    expect(code(await world.click('U0BOB', 'end-grant'))).toMatch(/grant_ended|vote_too_late/);
    await again(world, 1);
    expect((await world.store.read(asRunId('bbbbbbbbbb')))?.state).toBe('pending-approval');
    expect(textOf(world.thread.posts[0]?.message)).toContain('ended by');
  });

  it('is ended only by who is an approver and a member at that very moment', async () => {
    const world = await granted();
    world.directory.kept.set('S0SRE', new Set(['U0BOB', 'U0ALICE']));
    world.directory.groups.set('S0SRE', new Set(['U0ALICE']));
    expect(code(await world.click('U0BOB', 'end-grant'))).toContain('vote_by_outsider');
    world.directory.kinds.set('U0CAROL', 'deactivated');
    expect(code(await world.click('U0CAROL', 'end-grant'))).toContain('vote_by_outsider');
    world.directory.faults.add('fresh members', 'slack_unreachable');
    expect(code(await world.click('U0ALICE', 'end-grant'))).toContain('slack_unreachable');
    expect((await world.run()).grant?.endedBy).toBeUndefined();
    expect(await world.click('U0ALICE', 'end-grant')).toEqual({ kind: 'nothing' });
  });

  it('lets nothing through once who gave it has left the workspace', async () => {
    const world = await granted();
    world.directory.kinds.set('U0BOB', 'deactivated');
    await again(world, 1);
    expect((await world.store.read(asRunId('bbbbbbbbbb')))?.state).toBe('pending-approval');
  });

  it('never lets more through than it allows, however many ask at once', async () => {
    const room = { ephemeralContainersPerPod: 100, ephemeralContainersPerPodAndUser: 100 };
    const runs = { runsPerUserPerMinute: 100, runsPerChannel: 100, runsPerUser: 100, pendingApprovalsPerUser: 100 };
    const limits = { ...aPolicy().limits, ...room, ...runs };
    const world = new World({ policy: guarded(approvalTerms(), { limits }) });
    await world.say('web-1');
    await world.click('U0BOB', 'approve-grant');
    await ended(world);
    await Promise.all(Array.from({ length: 25 }, (_, n) => again(world, n)));
    await settle();
    const others = (await world.store.recent(anOrigin().channelId, 100)).filter(({ id }) => id !== world.runId);
    expect((await world.run()).grant?.uses).toHaveLength(20);
    expect(others.filter(({ grantedBy }) => grantedBy === world.runId)).toHaveLength(20);
    expect(others.filter(({ state }) => state === 'pending-approval')).toHaveLength(5);
    expect(world.cluster.launches).toHaveLength(21);
  });
});

describe('a dry run', () => {
  it('shows plan, decision, rule and patch privately, and starts nothing', async () => {
    const world = new World({ policy: guarded(approvalTerms()) });
    await world.say('web-1 --dry-run');
    const told = world.refusal;
    expect(told).toContain('attach');
    expect(told).toContain('KDEBUG_RUN');
    expect(told).toContain('The API server would accept it.');
    expect(world.thread.posts).toHaveLength(0);
    expect(world.cluster.calls.filter((call) => call === 'launch')).toHaveLength(1);
    expect(world.pipeline.active).toBe(0);
  });
});

describe('limits', () => {
  it('refuse the run of a person who asks too often, and say when there is room again', async () => {
    const limits = { ...aPolicy().limits, runsPerUserPerMinute: 1 };
    const world = new World({ policy: aPolicy({ limits }) });
    await world.say('web-1');
    const answer = await world.say('web-1', anOrigin({ dedupeKey: 'two' }));
    expect(textOf(answer)).toContain('limit_per_person');
    expect(textOf(answer)).toContain('Try again');
    expect(world.audit.entries.at(-1)).toMatchObject({
      step: 'decision',
      facts: { kind: 'deny', code: 'limit_per_person' },
    });
    expect(world.cluster.launches).toHaveLength(1);
  });

  it.each([
    ['runsPerChannel', 'limit_per_channel'],
    ['runsPerCluster', 'limit_per_cluster'],
  ] as const)('%s bounds the runs under way', async (key, reason) => {
    const world = new World({ policy: aPolicy({ limits: { ...aPolicy().limits, [key]: 1 } }) });
    await world.say('web-1');
    expect(textOf(await world.say('web-1', anOrigin({ dedupeKey: 'two' })))).toContain(reason);
    await ended(world);
    expect(await world.say('web-1 --timeout=50s', anOrigin({ dedupeKey: 'three' }))).toBeUndefined();
  });
});

describe('the record', () => {
  it('has request, decision, dry run, vote, patch and outcome of an approved run, with its plan', async () => {
    const world = await pending();
    await world.click('U0BOB', 'approve');
    await ended(world);
    expect(world.audit.entries.map(({ step }) => step)).toEqual([
      'request',
      'decision',
      'target-log',
      'dry-run',
      'vote',
      'patch',
      'outcome',
    ]);
    expect(world.audit.entries.at(-1)?.facts).toMatchObject({
      outcome: 'succeeded',
      imageId: expect.stringMatching(/./),
    });
    expect(world.audit.entries.find(({ step }) => step === 'vote')).toMatchObject({
      actorId: 'U0BOB',
      facts: { verdict: 'granted' },
    });
  });

  const verdicts = (world: World) =>
    world.audit.entries.flatMap(({ actorId, step, facts }) =>
      step === 'vote' || step === 'grant' ? [[actorId, facts.kind, facts.verdict]] : [],
    );

  it('has one decision of however many clicks made it, and every other click as refused', async () => {
    const world = await pending();
    await Promise.all(Array.from({ length: 10 }, () => world.click('U0BOB', 'approve')));
    const late = Array.from({ length: 9 }, () => ['U0BOB', 'approve', 'approval_decided']);
    expect(verdicts(world)).toEqual(expect.arrayContaining([['U0BOB', 'approve', 'granted'], ...late]));
    expect(verdicts(world)).toHaveLength(10);
  });

  it('has the first of two approvals as counted, and whose vote lapsed with the next', async () => {
    const world = await pending({ count: 2 });
    await world.click('U0BOB', 'approve');
    world.directory.groups.set('S0SRE', new Set(['U0ALICE']));
    await world.click('U0ALICE', 'approve');
    await world.click('U0CAROL', 'reject');
    expect(world.audit.entries.filter(({ step }) => step === 'vote').map(({ facts }) => facts)).toMatchObject([
      { verdict: 'counted' },
      { verdict: 'counted', lapsed: 'U0BOB' },
      { kind: 'reject', verdict: 'rejected' },
    ]);
  });

  it.each([
    ['U0EVE', 'approve', {}, 'vote_by_outsider'],
    ['U0BOB', 'cancel', {}, 'not_your_request'],
    ['U0BOB', 'approve', { messageTs: '77.7' }, 'button_stale'],
    ['U0BOB', 'end', {}, 'grant_ended'],
  ] as const)('has a click of %s on %s that was refused, once', async (userId, kind, over, verdict) => {
    const world = await pending();
    await world.click(userId, kind === 'end' ? 'end-grant' : kind, over);
    expect(verdicts(world)).toEqual([[userId, kind, verdict]]);
  });

  it('has no approval of a plan that is another one by then', async () => {
    const world = await pending();
    world.cluster.setPod(aPod({ metadata: { uid: 'uid-2' } }));
    await world.click('U0BOB', 'approve');
    expect(verdicts(world)).toEqual([['U0BOB', 'approve', 'approval_changed']]);
  });

  it('has who tried to end a grant and may not', async () => {
    const world = await pending();
    await world.click('U0BOB', 'approve-grant');
    await world.click('U0EVE', 'end-grant');
    expect(verdicts(world).at(-1)).toEqual(['U0EVE', 'end', 'vote_by_outsider']);
  });

  it('has a click on the card of a run that is not known any more', async () => {
    const world = await pending();
    await world.click('U0BOB', 'approve', { value: 'zzzzzzzzzz' });
    expect(world.audit.entries.at(-1)).toMatchObject({
      step: 'refusal',
      runId: 'zzzzzzzzzz',
      actorId: 'U0BOB',
      facts: { code: 'request_forgotten', handler: 'approve' },
    });
  });

  it('has denials too', async () => {
    const world = new World();
    await world.say('web-1 --image=alpine');
    expect(world.audit.entries.map(({ step }) => step)).toEqual(['request', 'outcome']);
    expect(world.audit.entries[1]?.facts).toMatchObject({ outcome: 'denied', code: 'image_not_allowed' });
  });

  it('has who was refused at the door, before their words were looked at', async () => {
    const world = new World();
    await world.pipeline.inbox.refused({
      userId: 'U0GUEST',
      channelId: 'C0SHOP',
      handler: '/kdebug',
      code: 'person_is_guest',
    });
    expect(world.audit.entries).toMatchObject([
      {
        step: 'refusal',
        actorId: 'U0GUEST',
        channelId: 'C0SHOP',
        facts: { code: 'person_is_guest', handler: '/kdebug' },
      },
    ]);
  });

  it('a refusal at the door stands even when it cannot be recorded', async () => {
    const world = new World();
    world.audit.faults.add('refusal', 'audit_unavailable');
    const refused = { userId: 'U0GUEST', channelId: '', handler: '/kdebug', code: 'person_is_guest' } as const;
    await expect(world.pipeline.inbox.refused(refused)).resolves.toBeUndefined();
  });

  it('comes before the launch: what cannot be recorded is not launched', async () => {
    const world = new World();
    world.audit.faults.add('patch', 'audit_unavailable');
    await world.say('web-1');
    await world.clock.advance(5_000);
    expect(world.cluster.launches).toHaveLength(0);
  });
});
