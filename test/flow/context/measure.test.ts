import { describe, expect, it } from 'vitest';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import {
  anOrigin,
  aPlan,
  aPod,
  aPolicy,
  approvalTerms,
  aRule,
  aRun,
  aTermination,
  START_MS,
} from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { samplesOf } from '../../support/metric-lines.ts';
import { BatchWorld } from '../batch/batch-world.ts';
import { World } from '../support/world.ts';

const MINUTE_MS = 60_000;
const at = (ms: number) => new Date(START_MS + ms).toISOString();

const guarded = (): Policy =>
  aPolicy({
    channels: {
      [asChannelId('C0SHOP')]: {
        rules: [aRule({ id: 'attach', classes: ['observe', 'intrusive'], approval: approvalTerms() })],
      },
    },
    approvers: { sre: { users: [asUserId('U0CAROL')] } },
  });

async function waiting(): Promise<World> {
  const world = new World({ policy: guarded() });
  await world.say('web-1 --reason=hang');
  return world;
}

async function end(world: World, message = ''): Promise<void> {
  world.cluster.report({ terminated: aTermination({ startedAt: at(0), finishedAt: at(2_000), message }) });
  await settle();
}

describe('a run that is allowed', () => {
  it('counts its decision, its launch and its end', async () => {
    const world = new World();
    await world.say('web-1');
    expect(await samplesOf(world.metrics, 'runs_in_flight')).toEqual(['runs_in_flight{state="starting"} 1']);
    await world.clock.advance(700);
    world.cluster.report({ running: { startedAt: at(0) } });
    await world.clock.advance(2_300);
    expect(await samplesOf(world.metrics, 'runs_in_flight')).toEqual(['runs_in_flight{state="running"} 1']);
    await end(world);
    expect(await samplesOf(world.metrics, 'decisions')).toEqual(['decisions_total{decision="allow",reason="none"} 1']);
    expect(await samplesOf(world.metrics, 'launch')).toEqual(['launch_seconds_sum 0.7', 'launch_seconds_count 1']);
    expect(await samplesOf(world.metrics, 'run_seconds')).toEqual([
      'run_seconds_sum{outcome="succeeded"} 3',
      'run_seconds_count{outcome="succeeded"} 1',
    ]);
    expect(await samplesOf(world.metrics, 'runs_in_flight')).toEqual([]);
  });

  it('counts its launch although it ended before anybody saw it run', async () => {
    const world = new World();
    await world.say('web-1');
    await world.clock.advance(400);
    await end(world);
    expect(await samplesOf(world.metrics, 'launch')).toEqual(['launch_seconds_sum 0.4', 'launch_seconds_count 1']);
  });

  it('counts the secrets that its log hid', async () => {
    const world = new World({ policy: aPolicy({ output: { ...aPolicy().output, redact: ['CUST-\\d{6}'] } }) });
    world.cluster.log = 'id CUST-123456 and CUST-654321\n';
    await world.say('web-1');
    await end(world);
    expect(await samplesOf(world.metrics, 'redactions')).toEqual(['redactions_total 2']);
  });

  it('counts the gaps of its log', async () => {
    const world = new World();
    const gap = { fromStamp: at(0), toStamp: at(1_000), atByte: 0 };
    world.cluster.completeness = { complete: false, limitReached: false, beginningMayBeMissing: false, gaps: [gap] };
    await world.say('web-1');
    await end(world);
    expect(await samplesOf(world.metrics, 'log_gaps')).toEqual(['log_gaps_total 1']);
  });
});

describe('a run that is refused', () => {
  it('counts with the code of its refusal', async () => {
    const world = new World();
    await world.say('web-1 --image=nobody-knows');
    expect(await samplesOf(world.metrics, 'decisions')).toEqual([
      'decisions_total{decision="deny",reason="image_not_allowed"} 1',
    ]);
    expect(await samplesOf(world.metrics, 'run_seconds_count')).toEqual(['run_seconds_count{outcome="denied"} 1']);
    expect(await samplesOf(world.metrics, 'launch')).toEqual([]);
  });

  it('does not count as a run when it was only rehearsed', async () => {
    const world = new World();
    await world.say('web-1 --dry-run');
    expect(await samplesOf(world.metrics, 'decisions')).toEqual(['decisions_total{decision="allow",reason="none"} 1']);
    expect(await samplesOf(world.metrics, 'run_seconds')).toEqual([]);
  });
});

describe('an approval', () => {
  it('shows while it waits, with its age', async () => {
    const world = await waiting();
    await world.clock.advance(3 * MINUTE_MS);
    expect(await samplesOf(world.metrics, 'approvals_')).toEqual([
      'approvals_pending 1',
      'approvals_oldest_seconds 180',
    ]);
    expect(await samplesOf(world.metrics, 'runs_in_flight')).toEqual([]);
  });

  it('counts its wait, which is no part of the run or its launch', async () => {
    const world = await waiting();
    await world.clock.advance(2 * MINUTE_MS);
    await world.click('U0CAROL', 'approve');
    await world.clock.advance(1_000);
    await end(world);
    expect(await samplesOf(world.metrics, 'approval_wait')).toEqual([
      'approval_wait_seconds_sum{verdict="approved"} 120',
      'approval_wait_seconds_count{verdict="approved"} 1',
    ]);
    expect(await samplesOf(world.metrics, 'launch_seconds_sum')).toEqual(['launch_seconds_sum 1']);
    expect(await samplesOf(world.metrics, 'run_seconds_sum')).toEqual(['run_seconds_sum{outcome="succeeded"} 1']);
    expect(await samplesOf(world.metrics, 'approvals_')).toEqual([]);
    expect(await samplesOf(world.metrics, 'decisions')).toEqual([
      'decisions_total{decision="needs-approval",reason="none"} 1',
    ]);
  });

  it.each([
    ['rejected', async (world: World): Promise<unknown> => world.click('U0CAROL', 'reject')],
    ['cancelled', async (world: World): Promise<unknown> => world.click('U0ROY', 'cancel')],
    [
      'expired',
      async (world: World) => {
        world.pipeline.startAdopting();
        await world.clock.advance(20 * MINUTE_MS);
      },
    ],
  ] as const)('that is %s counts as such, and ends the run in no time', async (verdict, act) => {
    const world = await waiting();
    await act(world);
    await settle();
    expect(await samplesOf(world.metrics, 'approval_wait_seconds_count')).toEqual([
      `approval_wait_seconds_count{verdict="${verdict}"} 1`,
    ]);
    expect(await samplesOf(world.metrics, 'run_seconds_count')).toEqual([`run_seconds_count{outcome="${verdict}"} 1`]);
    expect(Number((await samplesOf(world.metrics, 'run_seconds_sum'))[0]?.split(' ')[1] ?? 0)).toBeLessThan(2);
    await world.pipeline.drain(0);
  });

  it('that a grant replaced is a decision for that reason', async () => {
    const world = await waiting();
    await world.click('U0CAROL', 'approve-grant');
    await end(world);
    await world.say('web-1 --reason=again', anOrigin({ dedupeKey: 'second' }));
    expect(await samplesOf(world.metrics, 'decisions')).toContain(
      'decisions_total{decision="needs-approval",reason="grant"} 1',
    );
  });
});

describe('a run that another replica began', () => {
  async function adopted(parts: Partial<Run>): Promise<World> {
    const world = new World();
    const plan = aPlan({ timeoutMs: 10_000 });
    const launched = { containerName: 'kdebug-x', launchedAtMs: START_MS, startedAtMs: START_MS };
    await world.store.create(aRun({ id: world.runId, plan, ...launched, ...parts }), 'dead-replica');
    world.cluster.setPod(aPod());
    await world.clock.advance(40_000);
    world.pipeline.startAdopting();
    await world.clock.advance(30_000);
    await world.pipeline.drain(0);
    return world;
  }

  it('counts as adopted, and its end once', async () => {
    const world = await adopted({ state: 'running' });
    expect(await samplesOf(world.metrics, 'adoptions')).toEqual(['adoptions_total{from="store"} 1']);
    expect(await samplesOf(world.metrics, 'run_seconds_count')).toEqual(['run_seconds_count{outcome="timed-out"} 1']);
    expect(await samplesOf(world.metrics, 'launch')).toEqual([]);
  });

  it('does not count its end again when only its result was not told', async () => {
    const over = { state: 'finished', outcome: { kind: 'succeeded' }, finishedAtMs: START_MS } as const;
    const world = await adopted(over);
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toContain('result');
    expect(await samplesOf(world.metrics, 'run_seconds')).toEqual([]);
  });
});

describe('a run that the store lost', () => {
  it('counts as found in the cluster', async () => {
    const world = new World();
    const first = new RunSupervisor(world.deps());
    await first.inbox.command(anOrigin(), 'web-1');
    await settle();
    const drained = first.drain(0);
    await world.clock.advance(2_000);
    await drained;
    const other = new World({ clock: world.clock });
    const second = new RunSupervisor({ ...world.deps(), store: other.store });
    second.startAdopting();
    await world.clock.advance(10_000);
    expect(await samplesOf(world.metrics, 'adoptions')).toEqual(['adoptions_total{from="cluster"} 1']);
    const end = second.drain(0);
    await world.clock.advance(2_000);
    await end;
  });
});

describe('a batch', () => {
  it('counts by its end, and its pods as runs from their launches on', async () => {
    const world = new BatchWorld(3);
    world.fleet.fateOf = (name) => ({ startMs: 100, runMs: 1_000, exitCode: name === 'web-2' ? 4 : 0 });
    await world.say('deployment/web -n shop --image=debian');
    expect(await samplesOf(world.metrics, 'batches_in_flight')).toEqual(['batches_in_flight 1']);
    expect(await samplesOf(world.metrics, 'runs_in_flight')).toEqual([]);
    await world.clock.advance(2 * MINUTE_MS);
    expect(await samplesOf(world.metrics, 'batches_')).toEqual(['batches_total{outcome="complete"} 1']);
    expect(await samplesOf(world.metrics, 'run_seconds_count')).toEqual([
      'run_seconds_count{outcome="succeeded"} 2',
      'run_seconds_count{outcome="failed"} 1',
    ]);
    const [sum] = await samplesOf(world.metrics, 'run_seconds_sum{outcome="succeeded"}');
    expect(Number(sum?.split(' ')[1])).toBeLessThan(6);
  });

  it('that somebody cancelled counts as cancelled', async () => {
    const world = new BatchWorld(3);
    world.fleet.fateOf = () => ({ startMs: 100, runMs: 10_000, exitCode: 0 });
    await world.say('deployment/web -n shop --image=debian');
    await world.clock.advance(1_000);
    await world.click('cancel');
    await world.clock.advance(2 * MINUTE_MS);
    expect(await samplesOf(world.metrics, 'batches_total')).toEqual(['batches_total{outcome="cancelled"} 1']);
  });
});
