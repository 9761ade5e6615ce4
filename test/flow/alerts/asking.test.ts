import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import type { Approval, Rule } from '../../../src/core/policy/policy.ts';
import { aNotification, anAlertPolicy } from '../../support/alerts.ts';
import { approvalTerms, aRule } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

/** A channel whose only rule has these options, and an alert that asks. */
async function asking(approval: Partial<Approval>, rule: Partial<Rule> = {}): Promise<World> {
  const rules = [aRule({ ...rule, approval: approvalTerms(approval) })];
  const approvers = { sre: { users: [], usergroup: 'S0SRE' } };
  const world = new World({
    policy: anAlertPolicy({ asks: true }, { approvers, channels: { [asChannelId('C0SHOP')]: { rules } } }),
  });
  await world.pipeline.alerts.receive('shop', aNotification());
  await settle();
  return world;
}

/** One click, and the form if the rule wants a reason of the approver. */
async function approve(world: World, userId: string): Promise<void> {
  const answer = await world.click(userId, 'approve');
  if (answer.kind !== 'form') return;
  await world.pipeline.inbox.submit({
    ...{ teamId: 'T0TEAM', userId, channelId: 'C0SHOP', name: answer.form.name, value: answer.form.value },
    ...{ fields: { reason: 'it burns' }, dedupeKey: `form-${userId}`, receivedAtMs: world.clock.now() },
  });
  await settle();
}

const REASONS = ['required', 'optional'] as const;
const TERMS: readonly Partial<Approval>[] = REASONS.flatMap((reason) =>
  REASONS.flatMap((voteReason) =>
    (['allowed', 'denied'] as const).flatMap((grants) =>
      [1, 2].flatMap((count) =>
        [60_000, 900_000].map((expiresMs) => ({ reason, voteReason, grants, count, expiresMs })),
      ),
    ),
  ),
);

describe('what an alert asks for can be approved', () => {
  it.each(TERMS)('with %j', async (terms) => {
    const world = await asking(terms);
    expect(await world.run()).toMatchObject({ state: 'pending-approval' });
    for (const userId of ['U0BOB', 'U0ALICE'].slice(0, terms.count)) await approve(world, userId);
    expect(world.cluster.launches).toHaveLength(1);
  });

  it.each<Partial<Rule>>([
    { secretFiles: 'approval' },
    { secretFiles: 'allowed' },
    { traces: true },
    { targetLog: 'none' },
    { targetLog: 'tail' },
    { onceMore: ['jobs', 'statefulSets'] },
    { batch: { maxPods: 5, maxParallelism: 1 } },
  ])('under a rule with %j', async (rule) => {
    const world = await asking({}, rule);
    await approve(world, 'U0BOB');
    expect(world.cluster.launches).toHaveLength(1);
  });
});

describe('the request of an alert', () => {
  it('gives the alert’s own words as its reason, and offers no grant', async () => {
    const world = await asking({ reason: 'required', grants: 'allowed' });
    const shown = textOf(world.anchor());
    expect(shown).toContain('KubePodCrashLooping');
    expect(shown).toContain('Pod is crash looping.');
    expect(JSON.stringify(world.anchor())).not.toContain('approve-grant');
    await world.click('U0BOB', 'approve-grant');
    expect(world.cluster.launches).toEqual([]);
  });
});
