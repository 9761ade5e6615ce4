import { describe, expect, it } from 'vitest';
import { KdebugError } from '../../src/core/errors.ts';
import { asChannelId } from '../../src/core/ids.ts';
import type { Run } from '../../src/core/run/run.ts';
import { HeldRun } from '../../src/flow/context/held-run.ts';
import { sleep } from '../../src/lib/clock.ts';
import { anOrigin, aPlan, aPod, aPolicy, aRun, aStatus, aTermination, START_MS } from '../support/builders.ts';
import { settle } from '../support/fake-clock.ts';
import { textOf } from '../support/plain-message.ts';
import { World } from './support/world.ts';

const at = (ms: number) => new Date(START_MS + ms).toISOString();

async function started(words = 'web-1 --image=autodiagnose'): Promise<World> {
  const world = new World();
  expect(await world.say(words)).toBeUndefined();
  return world;
}

async function running(): Promise<World> {
  const world = await started();
  world.cluster.report({ running: { startedAt: at(0) } });
  await settle();
  return world;
}

const ended = (world: World, parts: Parameters<typeof aTermination>[0] = {}) => {
  world.cluster.report({ terminated: aTermination({ startedAt: at(0), finishedAt: at(2_000), ...parts }) });
  return settle();
};

describe('a process that holds a run twice, since its lease lapsed unnoticed', () => {
  it('reads its log to the end for the hold that is newer', async () => {
    const world = await started();
    const collect = world.cluster.collectLog.bind(world.cluster);
    // The rest of a log takes a moment, and ends at once for a reader that is given up.
    world.cluster.collectLog = async (request, sink) => {
      await request.ended;
      const { signal } = request;
      const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      await Promise.race([sleep(world.clock, 1_000), stopped]);
      if (signal.aborted) throw new KdebugError('cluster_unreachable');
      return collect(request, sink);
    };
    world.cluster.log = 'all is well\n';
    world.cluster.report({ running: { startedAt: at(0) } });
    await settle();
    const lease = await world.store.lease(world.runId, 'replica-1');
    if (!lease || !('run' in lease)) throw new Error('the store gives no lease');
    world.pipeline.start(new HeldRun(lease, world.deps(), { recovered: true }));
    await settle();
    // The older hold learns late that it lost the run, while the newer one waits for the rest of the log.
    const save = world.store.save.bind(world.store);
    world.store.save = async (run, fence) => {
      const saved = await save(run, fence);
      if (saved === 'stale') await sleep(world.clock, 500);
      return saved;
    };
    await ended(world);
    await world.clock.advance(5_000);
    expect((await world.run()).log).toMatchObject({ bytes: 12, completeness: { complete: true } });
  });
});

describe('the main job', () => {
  it('launches one container, posts one anchor and answers with one result', async () => {
    const world = await started('web-1 --image=debian -- id');
    world.cluster.log = 'all is well\n';
    await ended(world);

    expect(world.cluster.launches).toHaveLength(1);
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result']);
    expect((await world.run()).outcome).toEqual({ kind: 'succeeded' });
    expect(textOf(world.result())).toContain('all is well');
    expect(world.anchor()?.summary).toContain('Succeeded after 2 s');
    expect(world.pipeline.active).toBe(0);
    expect(world.cluster.watchers).toBe(0);
  });

  it('costs three Slack calls when it is quick: anchor, its last state, result', async () => {
    const world = await started();
    world.cluster.report({ waiting: { reason: 'ContainerCreating', message: '' } });
    await settle();
    await world.clock.advance(700);
    await ended(world);
    expect(world.thread.calls).toEqual(['post', 'update', 'post']);
  });

  it('replies in the thread of the anchor', async () => {
    const world = await started();
    await ended(world);
    expect(world.thread.posts[1]?.place).toEqual({ channelId: 'C0SHOP', threadTs: '1.0' });
  });

  it('answers a mention in the thread that it stood in', async () => {
    const world = new World();
    await world.say('web-1', anOrigin({ source: 'mention', threadTs: '9.9' }));
    await ended(world);
    expect(world.thread.posts.map(({ place }) => place.threadTs)).toEqual(['9.9', '9.9']);
  });

  it('shows the newest lines while it runs, ever less often', async () => {
    const world = await running();
    await world.clock.advance(60_000);
    const updates = world.thread.calls.filter((call) => call === 'update').length;
    expect(world.anchor()?.tone).toBe('progress');
    expect(updates).toBeGreaterThanOrEqual(4);
    expect(updates).toBeLessThanOrEqual(10);
  });

  it('has its log opened before the store is told that it runs: a slow store must not cost the first log file', async () => {
    const world = await started();
    const save = world.store.save.bind(world.store);
    world.store.save = async (run, fence) => (run.state === 'running' ? new Promise(() => {}) : save(run, fence));
    world.cluster.report({ running: { startedAt: at(0) } });
    await settle();
    expect(world.cluster.calls).toContain('collectLog');
  });

  it('sends the whole log as a file when it is longer than the excerpt', async () => {
    const world = await started();
    world.cluster.log = Array.from({ length: 500 }, (_, line) => `line ${line}\n`).join('');
    await ended(world);
    expect(world.thread.files).toHaveLength(1);
    expect(world.thread.files[0]?.content).toBe(world.cluster.log);
    expect((await world.run()).log?.lines).toBe(500);
  });

  it('sends no file for a short or an empty log, and says when there is nothing', async () => {
    const world = await started();
    await ended(world);
    expect(world.thread.files).toHaveLength(0);
    expect(textOf(world.result())).toContain('The log is empty.');
  });

  it('takes the same delivery only once', async () => {
    const world = await started();
    await world.say('web-1 --image=autodiagnose');
    expect(world.cluster.launches).toHaveLength(1);
    expect(world.thread.posts).toHaveLength(1);
  });
});

describe('an outcome', () => {
  it('is failed with the exit code', async () => {
    const world = await started('web-1 --image=debian -- id');
    await ended(world, { exitCode: 3, reason: 'Error' });
    expect((await world.run()).outcome).toEqual({ kind: 'failed', exitCode: 3, reason: 'Error' });
    expect(world.result()?.summary).toContain('exit code 3');
  });

  it('is start-failed at once when the image cannot be pulled', async () => {
    const world = await started();
    world.cluster.report({ waiting: { reason: 'ErrImagePull', message: 'not found' } });
    await settle();
    expect((await world.run()).state).toBe('starting');
    world.cluster.report({ waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } });
    await settle();
    expect((await world.run()).outcome).toEqual({
      kind: 'start-failed',
      reason: 'ImagePullBackOff',
      message: 'Back-off pulling image',
    });
    expect((await world.run()).log).toBeUndefined();
  });

  it('is no-status when the node never answers within the start clock', async () => {
    const world = await started();
    await world.clock.advance(59_000);
    expect((await world.run()).state).toBe('starting');
    await world.clock.advance(2_000);
    expect((await world.run()).outcome).toEqual({ kind: 'no-status' });
  });

  it("is start-failed in the events' words when it waited for its target all the while", async () => {
    const world = await started();
    world.cluster.podEvents = [{ type: 'Warning', reason: 'Failed', message: 'target is not running', atMs: START_MS }];
    world.cluster.report({ waiting: { reason: 'ContainerCreating', message: '' } });
    await world.clock.advance(6_000);
    expect((await world.run()).waiting).toEqual({ reason: 'Failed', message: 'target is not running' });
    await world.clock.advance(60_000);
    expect((await world.run()).outcome).toMatchObject({ kind: 'start-failed', message: 'target is not running' });
  });

  it('is timed-out when it runs past its time, with the log up to there', async () => {
    const world = await running();
    world.cluster.log = 'half\n';
    await world.clock.advance(119_000);
    expect((await world.run()).state).toBe('running');
    await world.clock.advance(2_000);
    expect((await world.run()).outcome).toEqual({ kind: 'timed-out' });
    expect((await world.run()).log?.head).toContain('half');
  });

  it.each([
    ['Unknown', 'node-lost'],
    ['True', 'timed-out'],
  ])('that nothing is heard of, on a node whose Ready is %s, is %s', async (status, kind) => {
    const world = await running();
    world.cluster.nodeNow = { name: 'node-a', conditions: [{ type: 'Ready', status }] };
    await world.clock.advance(121_000);
    expect((await world.run()).outcome).toEqual({ kind });
  });

  it('is pod-gone when the pod is deleted or re-created while it runs', async () => {
    const gone = await running();
    gone.cluster.setPod(undefined);
    await settle();
    expect((await gone.run()).outcome).toEqual({ kind: 'pod-gone' });

    const replaced = await running();
    replaced.cluster.setPod(aPod({ metadata: { uid: 'uid-2' } }));
    await settle();
    expect((await replaced.run()).outcome).toEqual({ kind: 'pod-gone' });
  });

  it('is pod-replaced when another pod has the name at the launch', async () => {
    const world = new World();
    world.cluster.faults.add('launch', 'cluster_unreachable');
    await world.say('web-1');
    world.cluster.setPod(aPod({ metadata: { uid: 'uid-2' } }));
    await world.clock.advance(5_000);
    expect((await world.run()).outcome).toEqual({ kind: 'pod-replaced' });
    expect(world.cluster.launches).toHaveLength(0);
  });

  it("is target-ended when the target's status shows it, even a moment later", async () => {
    const world = await started();
    await ended(world, { exitCode: 137, reason: 'Error', finishedAt: at(2_000) });
    expect(world.result()).toBeUndefined();
    await world.clock.advance(3_000);
    expect((await world.run()).outcome?.kind).toBe('failed');
    expect(world.result()).toBeDefined();

    const pod = aPod({
      status: { containerStatuses: [aStatus({ terminated: aTermination({ finishedAt: at(2_000), exitCode: 1 }) })] },
    });
    const late = await running();
    late.cluster.setPod(pod);
    await ended(late, { exitCode: 137, reason: 'Error', finishedAt: at(2_000) });
    expect((await late.run()).outcome).toEqual({ kind: 'target-ended', exitCode: 137 });

    const later = await running();
    await ended(later, { exitCode: 137, reason: 'Error', finishedAt: at(2_000) });
    await later.clock.advance(1_500);
    expect(later.result()).toBeUndefined();
    later.cluster.setPod(pod);
    await later.clock.advance(1_000);
    expect((await later.run()).outcome).toEqual({ kind: 'target-ended', exitCode: 137 });
  });

  it('does not wait for a target that has started again, or whose pod is being deleted', async () => {
    const again = await running();
    const since = aStatus({ name: 'web', running: { startedAt: at(4_000) } });
    again.cluster.setPod(aPod({ status: { containerStatuses: [since] } }));
    await ended(again, { exitCode: 137, reason: 'Error', finishedAt: at(2_000) });
    expect(textOf(again.result())).toContain('exit code 137');

    const deleted = await running();
    deleted.cluster.setPod(aPod({ metadata: { deletionTimestamp: at(1_000) } }));
    await ended(deleted, { exitCode: 137, reason: 'Error', finishedAt: at(2_000) });
    expect((await deleted.run()).outcome).toEqual({ kind: 'pod-gone' });
    expect(deleted.result()).toBeDefined();
  });

  it('is refused with the words of the cluster', async () => {
    const world = new World();
    world.cluster.refusal = {
      kind: 'refused',
      by: 'pod-security',
      message: 'violates PodSecurity "restricted:latest"',
    };
    await world.say('web-1');
    expect((await world.run()).outcome).toEqual({
      kind: 'refused',
      by: 'pod-security',
      message: world.cluster.refusal.message,
    });
    expect(textOf(world.result())).toContain('violates PodSecurity');
  });

  it('is internal when the cluster stays away for longer than our patience', async () => {
    const world = new World();
    for (let n = 0; n < 100; n += 1) world.cluster.faults.add('launch', 'cluster_unreachable');
    await world.say('web-1');
    await world.clock.advance(90_000);
    expect((await world.run()).outcome).toEqual({ kind: 'internal', code: 'cluster_unreachable' });
  });

  it('keeps what was read when the log breaks, and says so', async () => {
    const world = await started();
    world.cluster.faults.add('collectLog', 'cluster_unreachable');
    await ended(world);
    expect((await world.run()).outcome).toEqual({ kind: 'succeeded' });
    expect((await world.run()).log?.completeness.interruptedBy).toBe('cluster_unreachable');
  });
});

describe('a late end', () => {
  it('edits the same anchor and reply, and adds no second', async () => {
    const world = await started('web-1 --image=debian -- id');
    await world.clock.advance(61_000);
    expect((await world.run()).outcome).toEqual({ kind: 'no-status' });
    expect(world.thread.posts).toHaveLength(2);
    world.cluster.log = 'better late\n';
    await ended(world);
    expect((await world.run()).outcome).toEqual({ kind: 'succeeded' });
    expect(world.thread.posts).toHaveLength(2);
    expect(textOf(world.result())).toContain('better late');
    expect(world.anchor()?.summary).toContain('after kdebug had stopped waiting');
  });

  it('is told of a launch that happened and was never answered', async () => {
    const world = new World();
    for (let n = 0; n < 100; n += 1) world.cluster.faults.add('launch', 'cluster_unreachable', 'after');
    await world.say('web-1');
    await world.clock.advance(90_000);
    expect((await world.run()).outcome).toEqual({ kind: 'internal', code: 'cluster_unreachable' });
    world.cluster.log = 'better late\n';
    await ended(world);
    expect((await world.run()).outcome).toEqual({ kind: 'succeeded' });
    expect(textOf(world.result())).toContain('better late');
    expect([world.cluster.launches.length, world.thread.posts.length]).toEqual([1, 2]);
  });

  it('is on record once, with the log that came late, beside the end that was given up', async () => {
    const world = await started();
    await world.clock.advance(61_000);
    world.cluster.log = 'better late\n';
    for (let n = 0; n < 3; n += 1) world.thread.faults.add('update', 'slack_unreachable');
    await ended(world);
    await world.clock.advance(60_000);
    const facts = world.audit.entries.filter(({ step }) => step === 'outcome').map((entry) => entry.facts);
    const { sha256 } = (await world.run()).log ?? {};
    expect(facts).toEqual([
      expect.objectContaining({ outcome: 'no-status' }),
      expect.objectContaining({ outcome: 'succeeded', logSha256: sha256, logBytes: 12 }),
    ]);
  });

  it('is not waited for once the pod is gone, nor by a drain', async () => {
    const world = await started();
    await world.clock.advance(61_000);
    expect(world.pipeline.active).toBe(0);
    expect(world.cluster.watchers).toBe(1);
    await world.pipeline.drain(10_000);
    world.cluster.setPod(undefined);
    await settle();
    expect(world.cluster.watchers).toBe(0);
  });
});

describe('a refusal before the launch', () => {
  it.each([
    ['the channel is unknown', 'web-1', { channelId: asChannelId('C0OTHER') }, 'channel_unknown'],
    ['the namespace is not named', 'web-1 -n kube-system', {}, 'namespace_not_allowed'],
    ['the image is not in the catalogue', 'web-1 --image=alpine', {}, 'image_not_allowed'],
    ['the image takes no command', 'web-1 --image=autodiagnose -- id', {}, 'command_not_allowed'],
    ['the profile is not named', 'web-1 --profile=netadmin', {}, 'profile_not_allowed'],
    ['the time is too long', 'web-1 --timeout=2h', {}, 'timeout_too_long'],
    ['there is no such pod', 'web-2', {}, 'pod_not_found'],
    ['there is no such container', 'web-1 --target=nope', {}, 'target_container_not_found'],
  ])('denies when %s, privately and with nothing started', async (_, words, origin, code) => {
    const world = new World();
    await world.say(words, anOrigin(origin));
    expect((await world.run()).state).toBe('denied');
    expect((await world.run()).refusal?.code).toBe(code);
    expect(world.refusal).toContain(code);
    expect(world.thread.posts).toHaveLength(0);
    expect(world.cluster.launches).toHaveLength(0);
  });

  it.each(['web-1 -n kube-system', 'web-1 --image=alpine'])(
    '%s is denied before the cluster is asked anything',
    async (words) => {
      const world = new World();
      await world.say(words);
      expect(world.cluster.calls).toEqual([]);
    },
  );

  it('denies a static pod without touching it', async () => {
    const world = new World();
    world.cluster.setPod(aPod({ metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }));
    await world.say('web-1 --image=debian -- id');
    expect((await world.run()).refusal?.code).toBe('pod_is_static');
  });

  it('tells privately when the cluster does not answer, after a few tries', async () => {
    const world = new World();
    for (let n = 0; n < 20; n += 1) world.cluster.faults.add('pod', 'cluster_unreachable');
    await world.say('web-1');
    await world.clock.advance(10_000);
    expect((await world.run()).refusal?.code).toBe('cluster_unreachable');
  });

  it('is found right before the launch when the policy has changed meanwhile', async () => {
    const world = new World();
    const pod = world.cluster.pod.bind(world.cluster);
    world.cluster.podSecurity = async () => {
      // The rules go away after the decision was prepared and before the launch.
      queueMicrotask(() => setImmediate(() => undefined));
      return 'privileged';
    };
    world.cluster.pod = (namespace, name) => pod(namespace, name);
    const current = world.policy;
    let reads = 0;
    Object.defineProperty(world, 'policy', { get: () => (reads++ < 1 ? current : aPolicy({ channels: {} })) });
    await world.say('web-1');
    expect((await world.run()).refusal?.code).toBe('channel_unknown');
    expect(world.cluster.launches).toHaveLength(0);
  });
});

describe('exactly once', () => {
  it('repeats a launch whose answer got lost, with the identical container', async () => {
    const world = new World();
    world.cluster.faults.add('launch', 'cluster_unreachable', 'after');
    await world.say('web-1');
    await world.clock.advance(2_000);
    await ended(world);
    expect(world.cluster.launches).toHaveLength(1);
    expect((await world.run()).outcome).toEqual({ kind: 'succeeded' });
  });

  it('finds an anchor whose answer got lost instead of posting a second', async () => {
    const world = new World();
    world.thread.faults.add('post', 'slack_unanswered', 'after');
    await world.say('web-1');
    await world.clock.advance(3_000);
    await ended(world);
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result']);
    expect(world.thread.calls).toContain('find');
  });

  it('posts again when the lost post had not happened', async () => {
    const world = new World();
    world.thread.faults.add('post', 'slack_unanswered', 'before');
    await world.say('web-1');
    await world.clock.advance(3_000);
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor']);
  });

  it('never waits for Slack with the launch, and says all of it once Slack is back', async () => {
    const world = new World();
    for (let n = 0; n < 5; n += 1) world.thread.faults.add('post', 'slack_unreachable');
    await world.say('web-1');
    await ended(world);
    expect((await world.run()).state).toBe('finished');
    expect(world.thread.posts).toHaveLength(0);
    const outcomes = () => world.audit.entries.filter(({ step }) => step === 'outcome');
    expect(outcomes()).toHaveLength(1);
    await world.clock.advance(120_000);
    expect(outcomes()).toHaveLength(1);
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result']);
    expect(world.pipeline.active).toBe(0);
  });

  it('sends a direct message when the channel is closed in mid-run', async () => {
    const world = await started();
    world.thread.faults.add('post', 'slack_channel_closed');
    await ended(world);
    expect(world.thread.posts.map(({ place }) => place.channelId)).toEqual(['C0SHOP', 'D-U0ROY']);
  });

  it('lets the result stand alone when somebody deleted the anchor', async () => {
    const world = await started();
    world.thread.faults.add('update', 'slack_message_gone');
    await ended(world);
    expect(world.thread.posts[1]?.place).toEqual({ channelId: 'C0SHOP' });
    expect((await world.run()).delivery.anchorGone).toBe(true);
  });

  it('goes on with a run that another replica left, without a second launch or anchor', async () => {
    const world = new World();
    const run = aRun({
      id: world.runId,
      state: 'launching',
      plan: aPlan(),
      containerName: 'kdebug-x',
      notAfterMs: START_MS + 60_000,
      ref: 'r',
      delivery: {},
    });
    await world.store.create(run, 'dead-replica');
    await world.thread.post(
      { channelId: 'C0SHOP' },
      { summary: '', tone: 'neutral', parts: [] },
      { run: run.id, kind: 'anchor', seq: 1 },
    );
    world.pipeline.startAdopting();
    await world.clock.advance(60_000);
    await ended(world);
    expect(world.cluster.launches).toHaveLength(1);
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result']);
    await world.pipeline.drain(0);
  });
});

describe('a run that was running when its replica died', () => {
  /** Its pod goes on in the cluster; another replica takes it up when `afterMs` have passed. */
  async function adopted(afterMs: number, parts: Partial<Run> = {}): Promise<World> {
    const world = new World();
    const run = aRun({
      id: world.runId,
      state: 'running',
      plan: aPlan({ timeoutMs: 60_000 }),
      containerName: 'kdebug-x',
      launchedAtMs: START_MS,
      startedAtMs: START_MS,
      ...parts,
    });
    await world.store.create(run, 'dead-replica');
    world.cluster.log = 'line\n';
    const ours = aStatus({ name: 'kdebug-x', running: { startedAt: at(0) } });
    world.cluster.setPod(aPod({ status: { ephemeralContainerStatuses: [ours] } }));
    await world.clock.advance(afterMs);
    world.pipeline.startAdopting();
    await world.clock.advance(1_000);
    return world;
  }

  it('has its log followed on', async () => {
    const world = await adopted(40_000);
    expect(world.cluster.calls).toContain('collectLog');
    await world.clock.advance(30_000);
    const run = await world.run();
    expect([run.outcome, run.log?.head]).toEqual([{ kind: 'timed-out' }, 'line']);
    await world.pipeline.drain(0);
  });

  it('is looked at once more when its clock ran out meanwhile: an end that came counts', async () => {
    const world = await adopted(600_000);
    expect((await world.run()).state).toBe('running');
    const ours = aStatus({ name: 'kdebug-x', terminated: aTermination({ startedAt: at(0) }) });
    world.cluster.setPod(aPod({ status: { ephemeralContainerStatuses: [ours] } }));
    await settle();
    const run = await world.run();
    expect([run.outcome?.kind, run.log?.head]).toEqual(['succeeded', 'line']);
    await world.pipeline.drain(0);
  });

  it('is timed-out a few seconds later when it still runs then, with the log up to there', async () => {
    const world = await adopted(600_000);
    await world.clock.advance(5_000);
    const run = await world.run();
    expect([run.outcome, run.log?.head]).toEqual([{ kind: 'timed-out' }, 'line']);
    await world.pipeline.drain(0);
  });

  it('has its log read when it had timed out and nothing of it was kept', async () => {
    const world = await adopted(600_000, { state: 'collecting', outcome: { kind: 'timed-out' } });
    expect((await world.run()).log?.head).toBe('line');
    await world.pipeline.drain(0);
  });

  it('has no log when its node was lost', async () => {
    const world = await adopted(600_000, { state: 'collecting', outcome: { kind: 'node-lost' } });
    expect((await world.run()).outcome).toEqual({ kind: 'node-lost' });
    expect(world.cluster.calls).not.toContain('collectLog');
    await world.pipeline.drain(0);
  });
});

describe('draining', () => {
  it('refuses new commands politely and waits for the runs in hand', async () => {
    const world = await running();
    let drained = false;
    const drain = world.pipeline.drain(10_000).then(() => {
      drained = true;
    });
    expect((await world.say('web-1', anOrigin({ dedupeKey: 'two' })))?.summary).toContain('restarting');
    expect(drained).toBe(false);
    await ended(world);
    await drain;
    expect(drained).toBe(true);
  });

  it('keeps its leases to the last moment, then gives back what goes on: another replica need not wait for them to lapse', async () => {
    const world = await running();
    world.pipeline.startAdopting();
    const drain = world.pipeline.drain(40_000);
    await world.clock.advance(39_999);
    expect(await world.store.claim('other', 9)).toEqual([]);
    await world.clock.advance(2);
    await drain;
    expect(world.pipeline.active).toBe(0);
    expect(await world.store.claim('other', 9)).toHaveLength(1);
  });
});
