import { describe, expect, it, vi } from 'vitest';
import { aPod, approvalTerms, aRule, START_MS } from '../../support/builders.ts';
import { BATCH_RULE, BatchWorld, policyOf } from './batch-world.ts';
import { podsOfWeb } from './fleet.ts';

const WEB = 'deployment/web -n shop --image=debian';
const LONG = 120_000;

describe('a batch from its words to its files', () => {
  it('runs in every pod of the workload, never wider than asked, and tells all of it in few words', async () => {
    const world = new BatchWorld([...podsOfWeb(7), aPod({ metadata: { name: 'other', uid: 'uid-other' } })]);
    world.fleet.fateOf = (name) => ({ startMs: 100, runMs: 1_000, exitCode: name === 'web-3' ? 4 : 0 });
    expect(await world.say(`${WEB} --parallelism=3 -- sh -c look`)).toBeUndefined();
    await world.clock.advance(LONG);
    const run = await world.run();
    expect(run.state).toBe('finished');
    expect(await world.counts()).toMatchObject({ succeeded: 6, failed: 1 });
    expect([world.fleet.peak, world.fleet.launches.length, world.fleet.watchers]).toEqual([3, 7, 0]);
    expect([world.anchors.length, world.results.length]).toEqual([1, 1]);
    expect(world.text('result')).toContain('debian on 7 pods in shop: 6 runs succeeded, 1 failed');
    expect(world.text('result')).toContain('web-3');
    const [txt, csv] = world.thread.files;
    expect(world.thread.files.map(({ filename }) => filename)).toEqual([
      'kdebug-batch-aaaaaaaaaa.txt',
      'kdebug-batch-aaaaaaaaaa.csv',
    ]);
    for (const { pod } of world.fleet.launches) expect(txt?.content).toContain(`seen in ${pod.name}\n`);
    expect(txt?.content).toContain('4\tweb-3\tnode-0\tfailed\t4\tError');
    expect(csv?.content.split('\r\n')).toHaveLength(9);
    expect(run.delivery).toMatchObject({ closed: true, files: { 'kdebug-batch-aaaaaaaaaa.csv': 'F2' } });
  });

  it('marks every container with its run and the batch, and asks for each exactly once', async () => {
    const world = new BatchWorld(2);
    await world.say(`${WEB} --parallelism=2`);
    await world.clock.advance(LONG);
    const envs = world.fleet.launches.map(
      ({ container }) => new Map(container.env.map(({ name, value }) => [name, value])),
    );
    expect(envs.map((env) => env.get('KDEBUG_BATCH'))).toEqual([world.id, world.id]);
    expect(new Set(envs.map((env) => env.get('KDEBUG_RUN'))).size).toBe(2);
  });

  it('fills a gap at once, also while a log is still being read', async () => {
    const world = new BatchWorld(3);
    world.fleet.fateOf = (name) => ({ startMs: 0, runMs: name === 'web-0' ? 500 : 5_000, exitCode: 0 });
    await world.say(`${WEB} --parallelism=2`);
    await world.clock.advance(501);
    expect([world.fleet.inFlight.size, world.fleet.launches.length]).toEqual([2, 3]);
  });

  it('is refused at once when nothing matches, with a next step', async () => {
    const world = new BatchWorld(0);
    await world.say('-l app=nothing -n shop --image=debian');
    expect((await world.run()).state).toBe('denied');
    expect(world.told).toContain('no_pod_matches');
    expect(world.thread.posts).toEqual([]);
  });

  it('is refused when the rule is for fewer pods, or none', async () => {
    const small = new BatchWorld(3, { policy: policyOf({ ...BATCH_RULE, batch: { maxPods: 2, maxParallelism: 10 } }) });
    await small.say(WEB);
    expect(small.told).toContain('batch_too_large');
    const none = new BatchWorld(3, { policy: policyOf(aRule()) });
    await none.say(WEB);
    expect(none.told).toContain('batch_not_allowed');
  });

  it('goes on when the policy gets other clocks and another limit for logs: what was approved is kept', async () => {
    const world = new BatchWorld(6);
    await world.say(`${WEB} --parallelism=2`);
    await world.clock.advance(500);
    const { limits } = world.policy;
    const more = { maxLogBytes: limits.maxLogBytes * 2, startDeadlineMs: limits.startDeadlineMs * 2 };
    world.policy = { ...world.policy, limits: { ...limits, ...more } };
    await world.clock.advance(LONG);
    expect(await world.counts()).toMatchObject({ succeeded: 6 });
  });

  it('has its end kept before its card offers what only an ended one can do', async () => {
    const world = new BatchWorld(2);
    world.fleet.fateOf = () => ({ startMs: 0, runMs: 100, exitCode: 1 });
    const states: string[] = [];
    const update = world.thread.update.bind(world.thread);
    world.thread.update = async (ref, message, ...more) => {
      if (JSON.stringify(message).includes('rerun-failed')) states.push((await world.run()).state);
      return update(ref, message, ...more);
    };
    await world.say(`${WEB} --parallelism=2`);
    await world.clock.advance(LONG);
    expect(states).toEqual(['finished']);
  });

  it('is judged by the size that people have given it since, not by the one it began with', async () => {
    const narrow = policyOf(aRule({ batch: { maxPods: 10_000, maxParallelism: 4 } }));
    const smaller = new BatchWorld(12);
    await smaller.say(`${WEB} --parallelism=8`);
    await smaller.clock.advance(500);
    smaller.policy = narrow;
    await smaller.say(`batch ${smaller.id} --parallelism=4`);
    await smaller.clock.advance(LONG);
    expect(await smaller.counts()).toMatchObject({ succeeded: 12 });

    const larger = new BatchWorld(30);
    await larger.say(`${WEB} --parallelism=2`);
    await larger.clock.advance(500);
    await larger.say(`batch ${larger.id} --parallelism=8`);
    larger.policy = narrow;
    await larger.clock.advance(LONG);
    expect((await larger.batch()).closed).toMatchObject({ reason: 'parallelism_not_allowed' });
  });

  it('that was paused for hours goes on when somebody resumes it, also after a restart', async () => {
    const world = new BatchWorld(2);
    await world.say(`${WEB} --parallelism=1`);
    await world.click('pause');
    await world.clock.advance(3_600_000);
    world.restart();
    await world.clock.advance(10_000);
    await world.click('resume');
    await world.clock.advance(LONG);
    expect(await world.counts()).toMatchObject({ succeeded: 2 });
  });

  it('says of each log what could not be proven about it', async () => {
    const world = new BatchWorld(3);
    world.fleet.doubtsOf = (name) => {
      if (name === 'web-0') return { complete: false, limitReached: true };
      return name === 'web-1' ? { complete: false, interruptedBy: 'cluster_busy' } : {};
    };
    await world.say(`${WEB} --parallelism=3`);
    await world.clock.advance(LONG);
    const [txt, csv] = world.thread.files;
    expect(txt?.content).toMatch(/web-0 \| succeeded .*\| log cut at the limit of the policy \| 14 bytes/);
    expect(txt?.content).toMatch(/web-1 \| succeeded .*\| log not read to its end \(cluster_busy\) \| 14 bytes/);
    expect(txt?.content).toMatch(/web-2 \| succeeded \| exit code 0 \| Completed \| run [a-z2-7]{10} \| 14 bytes/);
    expect(csv?.content).toMatch(/,14,not read to its end \(cluster_busy\),/);
    expect(world.text('result')).toContain('2 logs may be incomplete: the files say which, and why.');
  });

  it('keeps what was written by the pods that the end of its time found running', async () => {
    const world = new BatchWorld(2);
    world.fleet.fateOf = () => ({ startMs: 0, runMs: 60_000, exitCode: 0 });
    await world.say(`${WEB} --parallelism=2 --ttl=10s`);
    await world.clock.advance(LONG);
    const [txt] = world.thread.files;
    for (const name of ['web-0', 'web-1'])
      expect(txt?.content).toMatch(
        new RegExp(`${name} \\| timed-out \\| ttl \\| run \\S+ \\| 14 bytes of log follow\nseen in ${name}\n`),
      );
  });

  it('leaves pods alone that cannot be worked on, and says why', async () => {
    const [first, second, third] = podsOfWeb(3);
    const finished = { ...second!, status: { ...second!.status, phase: 'Succeeded' as const } };
    const windows = { ...third!, spec: { ...third!.spec, os: 'windows' } };
    const world = new BatchWorld([first!, finished, windows]);
    await world.say(WEB);
    await world.clock.advance(LONG);
    expect(await world.counts()).toMatchObject({ succeeded: 1, skipped: 2 });
    expect(world.text('result')).toContain('2 of 3 skipped: 1 finished, 1 on Windows');
  });

  it('takes few words however long it lasts, and its dashboard is never old for its age', async () => {
    const world = new BatchWorld(100);
    world.fleet.fateOf = () => ({ startMs: 1_000, runMs: 59_000, exitCode: 0 });
    await world.say(WEB);
    const ages: number[] = [];
    for (let minute = 0; minute < 101; minute += 1) {
      await world.clock.advance(60_000);
      ages.push(world.anchors[0]?.updates ?? 0);
    }
    expect(await world.counts()).toMatchObject({ succeeded: 100 });
    const calls = world.thread.calls.filter((call) => call !== 'find').length + 2 * world.thread.files.length;
    expect(calls).toBeLessThanOrEqual(60);
    expect(ages[5]).toBeGreaterThan(3);
    expect(ages.at(-1)).toBeGreaterThan(10);
  });

  it('works on as many as --replicas says', async () => {
    const world = new BatchWorld(5);
    await world.say(`${WEB} --replicas=2 --parallelism=5`);
    await world.clock.advance(LONG);
    expect(await world.counts()).toMatchObject({ succeeded: 2, skipped: 3 });
  });

  it('a dry run starts nothing and says what it would', async () => {
    const world = new BatchWorld(3);
    await world.say(`${WEB} --dry-run`);
    expect([(await world.run()).state, world.fleet.launches]).toEqual(['cancelled', []]);
  });
});

describe('what people do while it runs', () => {
  it('a pause starts nothing more and kills nothing; a resume goes on', async () => {
    const world = new BatchWorld(4);
    await world.say(`${WEB} --parallelism=1`);
    await world.click('pause');
    await world.clock.advance(LONG);
    expect(await world.counts()).toMatchObject({ succeeded: 1, queued: 3 });
    expect(world.text('anchor')).toContain('Paused');
    const posts = world.thread.calls.length;
    await world.clock.advance(3_600_000);
    expect(world.thread.calls.length - posts).toBeLessThanOrEqual(1);
    await world.click('resume');
    await world.clock.advance(LONG);
    expect(await world.counts()).toMatchObject({ succeeded: 4 });
  });

  it('a cancel follows what runs to its end', async () => {
    const world = new BatchWorld(4);
    await world.say(`${WEB} --parallelism=2`);
    await world.click('cancel');
    await world.clock.advance(LONG);
    expect(await world.counts()).toMatchObject({ succeeded: 2, cancelled: 2 });
    expect(world.text('result')).toContain('cancelled, 2 runs succeeded, 2 not started');
    expect(world.text('result')).toContain('Cancelled');
  });

  it('the canary is one pod, and the others wait until somebody has seen it', async () => {
    const world = new BatchWorld(4);
    await world.say(`${WEB} --parallelism=3 --canary`);
    await world.clock.advance(LONG);
    expect(world.fleet.launches).toHaveLength(1);
    expect(world.text('anchor')).toContain('"continue"');
    await world.click('continue');
    await world.clock.advance(LONG);
    expect(await world.counts()).toMatchObject({ succeeded: 4 });
    expect(world.fleet.peak).toBe(3);
  });

  it('a larger width counts at once', async () => {
    const world = new BatchWorld(4);
    await world.say(`${WEB} --parallelism=1`);
    await world.bot.change(world.id, (held) =>
      held.tryApply({ kind: 'batch', event: { kind: 'resized', parallelism: 4 }, atMs: START_MS }),
    );
    await world.clock.advance(0);
    expect(world.fleet.inFlight.size).toBe(4);
  });
});

describe('what goes wrong', () => {
  it('three equal start failures stop it, whoever is in flight', async () => {
    const world = new BatchWorld(9);
    world.fleet.fateOf = () => ({ startMs: 50, runMs: 0, exitCode: 0, fails: 'ImagePullBackOff' });
    await world.say(`${WEB} --parallelism=2`);
    await world.clock.advance(LONG);
    const counts = await world.counts();
    expect(counts['start-failed']).toBeLessThanOrEqual(4);
    expect(counts['start-failed'] + counts.cancelled).toBe(9);
    expect(world.text('anchor')).toContain('ImagePullBackOff');
  });

  it('the end of its time gives up what runs and starts nothing more', async () => {
    const world = new BatchWorld(4);
    world.fleet.fateOf = () => ({ startMs: 0, runMs: 60_000, exitCode: 0 });
    await world.say(`${WEB} --parallelism=2 --ttl=10s`);
    await world.clock.advance(10_500);
    expect(await world.counts()).toMatchObject({ 'timed-out': 2, cancelled: 2 });
    expect((await world.run()).state).toBe('finished');
  });

  it('the end of a pod’s time frees its place', async () => {
    const world = new BatchWorld(2);
    world.fleet.fateOf = (name) => ({ startMs: 0, runMs: name === 'web-0' ? 600_000 : 10, exitCode: 0 });
    await world.say(`${WEB} --timeout=5s`);
    await world.clock.advance(20_000);
    expect(await world.counts()).toMatchObject({ 'timed-out': 1, succeeded: 1 });
  });

  it('a pod that is another one by now fails with its reason, and the rest goes on', async () => {
    const world = new BatchWorld(4);
    await world.say(`${WEB} --parallelism=1`);
    const [gone, replaced, changed] = [1, 2, 3].map((index) => world.fleet.now(`web-${index}`));
    world.fleet.set('web-1', undefined);
    world.fleet.set('web-2', { ...replaced!, metadata: { ...replaced!.metadata, uid: 'uid-new' } });
    world.fleet.set('web-3', {
      ...changed!,
      spec: { ...changed!.spec, securityContext: { runAsUser: 7, runAsGroup: 7 } },
    });
    await world.clock.advance(LONG);
    const { pods } = await world.batch();
    expect(gone).toBeDefined();
    expect(pods.map(({ state, results }) => [state, results?.[0]?.outcome, results?.[0]?.reason])).toEqual([
      ['succeeded', 'succeeded', 'Completed'],
      ['lost', 'pod-gone', undefined],
      ['lost', 'pod-replaced', undefined],
      ['start-failed', 'denied', 'approval_changed'],
    ]);
    expect(world.fleet.launches).toHaveLength(1);
  });

  it('a pod that comes later is not touched', async () => {
    const world = new BatchWorld(2);
    await world.say(`${WEB} --parallelism=1`);
    world.fleet.set('web-9', podsOfWeb(10)[9]);
    await world.clock.advance(LONG);
    expect(world.fleet.launches.map(({ pod }) => pod.name)).toEqual(['web-0', 'web-1']);
  });

  it('a policy that has changed meanwhile stops what is left', async () => {
    const world = new BatchWorld(5);
    await world.say(`${WEB} --parallelism=1`);
    world.policy = policyOf(aRule());
    await world.clock.advance(LONG);
    const counts = await world.counts();
    expect([counts.succeeded, world.fleet.launches.length]).toEqual([1, 1]);
    expect((await world.batch()).closed).toMatchObject({ because: 'start-failures', reason: 'batch_not_allowed' });
  });

  it('a busy or silent API server costs time, and no pod', async () => {
    const world = new BatchWorld(4);
    for (let times = 0; times < 6; times += 1) {
      world.fleet.troubles.push({
        code: times % 2 ? 'cluster_busy' : 'cluster_unreachable',
        when: times % 3 ? 'before' : 'after',
      });
    }
    await world.say(`${WEB} --parallelism=2`);
    await world.clock.advance(LONG);
    expect(await world.counts()).toMatchObject({ succeeded: 4 });
    expect([world.fleet.launches.length, world.fleet.peak]).toEqual([4, 2]);
  });
});

describe('an approval', () => {
  const asks = aRule({
    id: 'ask',
    batch: { maxPods: 100, maxParallelism: 10 },
    approval: approvalTerms(),
  });

  it('is void when the record is not the one that was asked for', async () => {
    const world = new BatchWorld(3, { policy: policyOf(asks) });
    await world.say(`${WEB} --parallelism=3`);
    const run = await world.run();
    const pods = run.batch!.pods.map((pod) => ({ ...pod, uid: `${pod.uid}-other` }));
    vi.spyOn(world.store, 'read').mockResolvedValue({ ...run, batch: { ...run.batch!, pods } });
    await world.click('approve', 'U0BOB');
    vi.restoreAllMocks();
    expect((await world.run()).approval?.votes).toEqual([]);
    expect(world.fleet.launches).toEqual([]);
  });

  it('is for the snapshot: later pods are not touched, and one that left fails alone', async () => {
    const world = new BatchWorld(3, { policy: policyOf(asks) });
    await world.say(`${WEB} --parallelism=3`);
    expect(world.text('anchor')).toContain('3 of 3 that match');
    expect(world.text('anchor')).not.toContain('approve-grant');
    await world.click('approve-grant', 'U0BOB');
    expect((await world.run()).approval?.votes).toEqual([]);
    world.fleet.set('web-1', undefined);
    world.fleet.set('web-9', podsOfWeb(10)[9]);
    expect(world.fleet.launches).toEqual([]);
    await world.click('approve', 'U0ROY');
    await world.click('approve', 'U0BOB');
    await world.clock.advance(LONG);
    expect(world.fleet.launches.map(({ pod }) => pod.name)).toEqual(['web-0', 'web-2']);
    expect(await world.counts()).toMatchObject({ succeeded: 2, lost: 1 });
    const env = world.fleet.launches[0]?.container.env.find(({ name }) => name === 'KDEBUG_APPROVERS');
    expect(env?.value).toBe('U0BOB');
  });

  it('of somebody who is no approver any more when the first pod is launched starts nothing', async () => {
    const world = new BatchWorld(5, { policy: policyOf(asks) });
    await world.say(`${WEB} --parallelism=3`);
    const vote = { userId: 'U0EVE', kind: 'approve', atMs: world.clock.now() } as const;
    const voter = { userId: 'U0EVE', isRequester: false, isAlso: () => false, isApprover: true };
    await world.bot.change(world.id, (held) => held.tryApply({ kind: 'voted', vote, voter }));
    await world.clock.advance(LONG);
    expect(world.fleet.launches).toEqual([]);
    expect((await world.batch()).closed).toMatchObject({ because: 'start-failures', reason: 'approver_left' });
  });

  it('does not stand for pods whose rule asks for more people by then', async () => {
    const world = new BatchWorld(3, { policy: policyOf(asks) });
    await world.say(`${WEB} --parallelism=1`);
    await world.click('approve', 'U0BOB');
    world.policy = policyOf({ ...asks, approval: { ...asks.approval!, count: 2 } });
    await world.clock.advance(LONG);
    expect(world.fleet.launches).toHaveLength(1);
    expect(await world.counts()).toMatchObject({ succeeded: 1, 'start-failed': 2 });
  });

  it('that is refused starts nothing', async () => {
    const world = new BatchWorld(3, { policy: policyOf(asks) });
    await world.say(WEB);
    await world.click('reject', 'U0BOB');
    await world.clock.advance(LONG);
    expect([(await world.run()).state, world.fleet.launches]).toEqual(['rejected', []]);
  });
});
