import { describe, expect, it } from 'vitest';
import { asChannelId, asRunId, asUserId } from '../../../src/core/ids.ts';
import type { Approval, Policy } from '../../../src/core/policy/policy.ts';
import { aboutContainer } from '../../../src/core/run/reference.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { anOrigin, aPolicy, approvalTerms, aRule, aRun, aTermination } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { World } from '../support/world.ts';

const terms: Approval = approvalTerms();

const guarded = (parts: Partial<Approval> = {}): Policy =>
  aPolicy({
    channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ id: 'attach', approval: { ...terms, ...parts } })] } },
    approvers: { sre: { usergroup: 'S0SRE', users: [] }, security: { users: [asUserId('U0BOB')] } },
  });

/** A run that was approved by U0BOB at a replica that died before it launched it. */
async function approved(): Promise<World> {
  const world = new World({ policy: guarded() });
  await world.say('web-1');
  const lease = await world.store.lease(world.runId, 'replica-0');
  const run = await world.run();
  const atMs = world.clock.now();
  const votes = [{ userId: 'U0BOB', kind: 'approve', atMs }] as const;
  const decided: Run = { ...run, state: 'approved', approvedAtMs: atMs, approval: { ...run.approval!, votes } };
  await world.store.save(decided, lease!.fence);
  return world;
}

/** Another replica finds what the dead one left. */
async function adopted(world: World, afterMs = 60_000): Promise<Run> {
  world.clock.standStill(afterMs);
  world.pipeline.startAdopting();
  await world.clock.advance(1_000);
  return world.run();
}

describe('what was approved', () => {
  it('is launched by whoever takes it over', async () => {
    const world = await approved();
    expect((await adopted(world)).state).toBe('starting');
    expect(world.cluster.launches).toHaveLength(1);
  });

  it.each<[string, Partial<Approval>]>([
    ['of other groups', { from: ['security'] }],
    ['of more people', { count: 2 }],
    ['with reasons', { voteReason: 'required' }],
  ])('is not launched when its rule asks for an approval %s by now', async (_, parts) => {
    const world = await approved();
    world.policy = guarded(parts);
    expect((await adopted(world)).refusal?.code).toBe('approval_changed');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('is not launched when its approver has left the group', async () => {
    const world = await approved();
    world.directory.groups.set('S0SRE', new Set(['U0ALICE']));
    expect((await adopted(world)).refusal).toMatchObject({ code: 'approver_left', rule: 'attach' });
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('is not launched when nobody can say who is in the group', async () => {
    const world = await approved();
    world.directory.faults.add('members', 'slack_unreachable');
    expect((await adopted(world)).refusal?.code).toBe('slack_unreachable');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('is launched after a while, and not when it was approved too long ago', async () => {
    const inTime = await approved();
    expect((await adopted(inTime, 16 * 60_000)).state).toBe('starting');
    const late = await approved();
    expect((await adopted(late, 24 * 60 * 60_000)).refusal?.code).toBe('request_too_old');
    expect(late.cluster.launches).toHaveLength(0);
  });
});

it('what nobody took up for a day is refused, and nobody is asked to approve it', async () => {
  const world = new World({ policy: guarded() });
  await world.store.create(aRun({ id: world.runId, commandLine: 'web-1' }), 'replica-0');
  expect((await adopted(world, 24 * 60 * 60_000)).refusal?.code).toBe('request_too_old');
  expect(world.thread.posts).toEqual([]);
  expect(world.refusal).toContain('request_too_old');
});

describe('a container that somebody else made under our name', () => {
  it('is not followed, and nothing that it wrote is told', async () => {
    const world = new World();
    const launch = world.cluster.launch.bind(world.cluster);
    world.cluster.log = 'words of a stranger';
    world.cluster.launch = async (request) => {
      const answer = await launch(request);
      if (answer.kind !== 'launched') return answer;
      const planted = answer.pod.spec.ephemeralContainers.map((one) => ({ ...one, ref: 'not our seal' }));
      return { ...answer, pod: { ...answer.pod, spec: { ...answer.pod.spec, ephemeralContainers: planted } } };
    };
    await world.say('web-1');
    world.cluster.report({ terminated: aTermination() });
    await settle();
    expect((await world.run()).outcome).toMatchObject({ kind: 'refused', by: 'name-taken' });
    expect(JSON.stringify(world.thread.posts)).not.toContain('words of a stranger');
  });

  it('cannot carry what the rehearsal carried', async () => {
    const world = new World();
    const refs: string[] = [];
    const launch = world.cluster.launch.bind(world.cluster);
    world.cluster.launch = (request) => {
      refs.push(request.container.env.find(({ name }) => name === 'KDEBUG_REF')?.value ?? '');
      return launch(request);
    };
    await world.say('web-1 --dry-run');
    const { unseal } = world.deps();
    expect(refs).toHaveLength(1);
    expect(unseal(refs[0] ?? '', aboutContainer(world.runId, 'uid-1'))).toBeUndefined();
    await world.say('web-1', anOrigin({ dedupeKey: 'two' }));
    expect(unseal(refs[1] ?? '', aboutContainer(asRunId('bbbbbbbbbb'), 'uid-1'))).toBeDefined();
  });
});
