import { describe, expect, it } from 'vitest';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { approvedMessage } from '../../../src/core/say/run/approved-message.ts';
import { anApproval, aPolicy, approvalTerms, aRule, aRun, aTermination } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

const guarded = (count = 1): Policy =>
  aPolicy({
    channels: {
      [asChannelId('C0SHOP')]: {
        rules: [aRule({ id: 'ask', approval: approvalTerms({ count, ...(count > 1 && { grants: 'denied' }) }) })],
      },
    },
    approvers: { sre: { usergroup: 'S0SRE', users: [asUserId('U0CAROL')] } },
  });

async function pending(policy = guarded()): Promise<World> {
  const world = new World({ policy });
  await world.say('web-1');
  expect((await world.run()).state).toBe('pending-approval');
  return world;
}

const said = ({ thread }: World) => thread.posts.filter(({ meta }) => meta.kind === 'approval');

async function ended(world: World): Promise<void> {
  world.cluster.report({ terminated: aTermination() });
  await settle();
}

describe('the deciding vote', () => {
  it('is told to the requester, by name, in the thread, once and before the result', async () => {
    const world = await pending();
    await world.click('U0BOB', 'approve');
    expect(said(world)).toMatchObject([{ place: { channelId: 'C0SHOP', threadTs: '1.0' } }]);
    expect(said(world)[0]?.message.parts[0]).toMatchObject({
      spans: [{ kind: 'person', userId: 'U0ROY' }, {}, {}, {}, { kind: 'person', userId: 'U0BOB' }, {}],
    });
    expect(textOf(said(world)[0]?.message)).toContain('starting now');
    await world.clock.advance(60_000);
    await ended(world);
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'approval', 'result']);
    expect((await world.run()).delivery).toMatchObject({ approvalPosted: true, closed: true });
  });

  it('is the last of those that the rule wants, and names all voters', async () => {
    const world = await pending(guarded(2));
    await world.click('U0BOB', 'approve');
    expect(said(world)).toEqual([]);
    await world.click('U0CAROL', 'approve');
    expect(JSON.stringify(said(world)[0]?.message)).toMatch(/U0BOB.*U0CAROL/);
    expect(said(world)).toHaveLength(1);
  });

  it('that gives a grant says so', async () => {
    const world = await pending();
    await world.click('U0BOB', 'approve-grant');
    expect(textOf(said(world)[0]?.message)).toMatch(
      /approved by[\s\S]*repeat it without another approval, \d+ times until/,
    );
  });

  it('is told in the requester’s direct message where the output is private', async () => {
    const output = { redact: [], retentionMs: 604_800_000, deliverTo: 'requester' } as const;
    const world = await pending({ ...guarded(), output });
    await world.click('U0BOB', 'approve');
    expect(said(world).map(({ place }) => place)).toEqual([{ channelId: 'D-U0ROY' }]);
  });

  it('is told once when the answer got lost after Slack had shown it', async () => {
    const world = await pending();
    world.thread.faults.add('post', 'slack_unanswered', 'after');
    await world.click('U0BOB', 'approve');
    await world.clock.advance(60_000);
    expect(said(world)).toHaveLength(1);
    expect((await world.run()).delivery.approvalPosted).toBe(true);
  });

  it('does not say that the run starts now where it runs already', () => {
    const approval = anApproval({ votes: [{ userId: 'U0BOB', kind: 'approve', atMs: 0 }] });
    const words = textOf(approvedMessage(aRun({ state: 'running', approval })));
    expect(words).toContain('approved by U0BOB. It is running.');
    expect(words).not.toContain('starting');
  });

  it.each(['slack_refused', 'slack_channel_closed'] as const)(
    'does not hold up the run when Slack refuses (%s)',
    async (code) => {
      const world = await pending();
      for (let n = 0; n < 2; n += 1) world.thread.faults.add('post', code);
      await world.click('U0BOB', 'approve');
      await ended(world);
      await world.clock.advance(60_000);
      expect((await world.run()).delivery.closed).toBe(true);
      expect(said(world)).toEqual([]);
    },
  );

  it('that is a rejection is told as before, and a run without an approval says nothing more', async () => {
    const rejected = await pending();
    await rejected.click('U0BOB', 'reject');
    expect(rejected.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result']);
    const free = new World();
    await free.say('web-1');
    await ended(free);
    expect(free.thread.calls.filter((call) => ['post', 'update', 'share'].includes(call))).toHaveLength(3);
    expect(said(free)).toEqual([]);
  });
});
