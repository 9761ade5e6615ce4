import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/core/container/pod.ts';
import type { ObjectEvent } from '../../../src/core/diagnosis/facts/facts.ts';
import { watchedFacts } from '../../../src/core/lookup/workload-sources.ts';
import { groupInTurns } from '../../../src/flow/first-answer/workload-facts.ts';
import { anOrigin, aPod, approvalTerms, aRule, aStatus, aTermination, START_MS } from '../../support/builders.ts';
import { BATCH_RULE, policyOf } from '../batch/batch-world.ts';
import { World } from '../support/world.ts';

const at = (ms: number) => new Date(START_MS + ms).toISOString();

const running = aStatus({ running: { startedAt: at(-60_000) }, ready: true });
const crashing = aStatus({
  restartCount: 4,
  waiting: { reason: 'CrashLoopBackOff', message: 'back-off' },
  lastTermination: aTermination({ exitCode: 1, reason: 'Error', finishedAt: at(-12_000) }),
});
const restarted = aStatus({
  restartCount: 2,
  running: { startedAt: at(-5_000) },
  lastTermination: aTermination({ exitCode: 137, reason: 'OOMKilled', finishedAt: at(-9_000) }),
});

interface Owner {
  readonly kind: string;
  readonly name: string;
}

function podOf(name: string, status: typeof running, owner: Owner = { kind: 'ReplicaSet', name: 'web-5d9' }): Pod {
  return aPod({
    metadata: {
      name,
      uid: `uid-${name}`,
      labels: { app: 'web', 'pod-template-hash': '5d9' },
      ownerReferences: [{ ...owner, controller: true }],
    },
    status: { containerStatuses: [status] },
  });
}

async function asked(pods: readonly Pod[], words: string, prepare: (world: World) => void = () => {}): Promise<World> {
  const world = new World({ policy: policyOf(BATCH_RULE) });
  const [first, ...others] = pods;
  world.cluster.setPod(first);
  world.cluster.siblings = others;
  prepare(world);
  await world.say(words);
  return world;
}

const warning = (kind: string, name: string, message: string): ObjectEvent => ({
  type: 'Warning',
  reason: 'FailedCreate',
  message,
  atMs: START_MS - 1_000,
  involved: { kind, name },
});

describe('a question about a workload', () => {
  it('of one pod is a run on that pod, with the verdict on the workload', async () => {
    const world = await asked([podOf('web-1', running)], 'deployment/web');
    const run = await world.run();
    expect(run).toMatchObject({ state: 'starting', plan: { podName: 'web-1' } });
    expect(run.batch).toBeUndefined();
    expect(run.verdict?.groups).toMatchObject([{ podNames: ['web-1'] }]);
  });

  it('whose pods all have the same trouble is a run on one that runs', async () => {
    const world = await asked([podOf('web-1', restarted), podOf('web-2', restarted)], '-l app=web');
    const run = await world.run();
    expect(run.batch).toBeUndefined();
    expect(run.verdict?.groups).toMatchObject([{ podNames: ['web-1', 'web-2'] }]);
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('with several groups looks into one pod of each that runs, at the same time', async () => {
    const pods = [
      podOf('web-1', running),
      podOf('web-2', running),
      podOf('web-3', restarted),
      podOf('web-4', crashing),
    ];
    const world = await asked(pods, 'deployment/web');
    const run = await world.run();
    expect(run.batch?.pods.map(({ name }) => name)).toEqual(['web-3', 'web-1']);
    expect(run.batch?.parallelism).toBe(2);
    expect(run.verdict?.groups?.map(({ podNames }) => podNames.length)).toEqual([1, 1, 2].toSorted((a, b) => a - b));
  });

  it('with several groups is a run where the rule allows no batch', async () => {
    const { batch: _, ...rule } = BATCH_RULE;
    const world = await asked([podOf('web-1', running), podOf('web-2', restarted)], 'deployment/web', (fresh) => {
      fresh.policy = policyOf(rule);
    });
    const run = await world.run();
    expect(run.batch).toBeUndefined();
    expect(run.plan?.podName).toBe('web-2');
  });

  it('in which nothing runs is answered, with the last words of one pod', async () => {
    const world = await asked([podOf('web-1', crashing), podOf('web-2', crashing)], 'deployment/web', ({ cluster }) => {
      cluster.targetLogs.set('web --previous', [{ atMs: START_MS - 12_000, text: 'panic: no route' }]);
    });
    expect(await world.run()).toMatchObject({
      state: 'finished',
      outcome: { kind: 'answered' },
      plan: { podName: 'web-1' },
    });
    expect(world.cluster.launches).toEqual([]);
    expect(world.cluster.calls.filter((call) => call === 'readTargetLog')).toHaveLength(1);
  });

  it('without pods is answered from what the API says of it', async () => {
    const world = await asked([], 'deployment/web', ({ cluster }) => {
      cluster.warningsNow = [
        warning('ReplicaSet', 'web-7d9', 'exceeded quota: compute'),
        warning('ReplicaSet', 'webmail-7d9', 'another one'),
      ];
    });
    const run = await world.run();
    expect(run).toMatchObject({ state: 'finished', outcome: { kind: 'answered' }, verdict: { groups: [] } });
    expect(run.plan).toBeUndefined();
    expect(run.verdict?.line).toContain('exceeded quota: compute');
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result']);
    expect((await world.say(`show ${world.runId}`, anOrigin({ dedupeKey: 'show' })))?.summary).toBeDefined();
  });

  it('of a Job that has removed its pods is answered from its events', async () => {
    const world = await asked([], 'job/backup', ({ cluster }) => {
      cluster.warningsNow = [
        { ...warning('Job', 'backup', 'Job has reached the specified backoff limit'), reason: 'BackoffLimitExceeded' },
      ];
    });
    expect((await world.run()).verdict?.line).toContain('its pods are gone, and their last words with them');
  });

  it('that nothing knows keeps its refusal, with the nearest name', async () => {
    const world = await asked([podOf('web-1', running)], 'deployment/wbe');
    expect(await world.run()).toMatchObject({ state: 'denied', refusal: { code: 'no_pod_matches' } });
    expect((await world.run()).refusal?.message).toContain('did you mean deployment/web?');
  });

  it('that nothing knows keeps its refusal, with the workload of another kind that has this name', async () => {
    const deployment = await asked([podOf('web-1', running)], 'statefulset/web');
    expect((await deployment.run()).refusal?.message).toContain('did you mean deployment/web?');
    const cron = podOf('report-29384756-x7k2p', running, { kind: 'Job', name: 'report-29384756' });
    const job = await asked([cron], 'job/report');
    expect((await job.run()).refusal?.message).toContain('did you mean cronjob/report?');
  });

  it.each([
    ['replicaset/web-5d9', podOf('web-1', running)],
    ['rs/web-5d9', podOf('web-1', running)],
    ['cronjob/backup', podOf('backup-29384756-x7k2p', running, { kind: 'Job', name: 'backup-29384756' })],
    ['cj/backup', podOf('backup-29384756-x7k2p', running, { kind: 'Job', name: 'backup-29384756' })],
  ])('can name a %s', async (words, pod) => {
    const other = podOf('other-1', running, { kind: 'Job', name: 'backup-full-29384756' });
    const world = await asked([pod, other], words);
    expect((await world.run()).verdict?.groups?.flatMap(({ podNames }) => podNames)).toEqual([pod.metadata.name]);
  });

  it.each(['--parallelism=1', '--replicas=1', '--canary', '--ttl=5m', '--dry-run'])(
    'is a batch with %s, and no facts are read',
    async (flag) => {
      const world = await asked([podOf('web-1', running)], `deployment/web ${flag}`);
      expect((await world.run()).verdict).toBeUndefined();
      expect(world.cluster.calls).not.toContain('warnings');
    },
  );

  it('is a batch with a command, and for all pods of the namespace', async () => {
    for (const words of ['deployment/web --image=debian -- id', '--all']) {
      const world = await asked([podOf('web-1', running)], words);
      expect((await world.run()).batch).toBeDefined();
    }
  });

  it('costs at most twelve API calls, whatever its size', async () => {
    const many = Array.from({ length: 60 }, (_, index) =>
      podOf(`web-${index}`, [running, restarted, crashing][index % 3] ?? running),
    );
    const world = await asked(many, 'deployment/web', ({ cluster }) => {
      cluster.nodeNow = { name: 'node-a', conditions: [] };
    });
    await world.clock.advance(0);
    const one = ['warnings', 'workload', 'node', 'claims', 'storageClasses', 'readTargetLog'];
    const { calls } = world.cluster;
    const pairs = calls.filter((call) => call === 'services').length;
    expect(calls.filter((call) => one.includes(call)).length + 2 * pairs).toBeLessThanOrEqual(12);
    const groups = (await world.run()).verdict?.groups ?? [];
    expect(groups.map(({ podNames, more = 0 }) => podNames.length + more)).toEqual([20, 20, 20]);
  });

  it('of 5,000 pods is answered with a bounded record', async () => {
    const states = [crashing, running, running, running];
    const pods = Array.from({ length: 5_000 }, (_, index) => podOf(`web-${index}`, states[index % 4] ?? running));
    const world = await asked(pods, 'deployment/web', ({ cluster }) => {
      cluster.warningsNow = Array.from({ length: 500 }, (_, index) => warning('Pod', `web-${index}`, 'no'));
    });
    const { verdict } = await world.run();
    expect(verdict?.groups?.map(({ text, podNames, more }) => [text.split(':')[0], podNames.length, more])).toEqual([
      ['1,250 of 5,000 pods', 20, 1_230],
      ['3,750 of 5,000 pods', 20, 3_730],
    ]);
    expect(verdict?.groups?.[1]?.text).toMatch(/ready, nothing found \(log of \d of 3,750 read\)$/);
    expect(verdict?.healthy).toBeUndefined();
    expect(JSON.stringify(verdict).length).toBeLessThan(10_000);
    expect(world.cluster.calls.filter((call) => call === 'readTargetLog').length).toBeLessThanOrEqual(8);
  });

  it('groups its pods in turns, one step for each', async () => {
    let steps = 0;
    const step = async (): Promise<void> => {
      steps += 1;
    };
    const turns = { next: step, step };
    const facts = ['web-1', 'web-2', 'web-3'].map((name) => watchedFacts(podOf(name, running), [], START_MS));
    expect((await groupInTurns(facts, turns)).all).toBe(3);
    expect(steps).toBe(3);
  });

  it('whose warnings were not all read has no tick, and says so', async () => {
    const world = await asked([podOf('web-1', running), podOf('web-2', running)], '-l app=web', ({ cluster }) => {
      cluster.targetLogs.set('web', [{ atMs: START_MS - 12_000, text: 'listening' }]);
      cluster.areAllWarnings = false;
    });
    const { verdict } = await world.run();
    expect(verdict?.healthy).toBeUndefined();
    expect(verdict?.unseen).toContain(
      'its warnings and probes: not all were read, there are too many in the namespace',
    );
  });

  it('says of pods whose words take too long that these are missing, and is answered all the same', async () => {
    const pods = Array.from({ length: 4 }, (_, at) => podOf(`web-${at}`, crashing));
    const world = await asked(pods, 'deployment/web', ({ cluster, clock }) => {
      const pod = cluster.pod.bind(cluster);
      cluster.pod = (namespace, name) => {
        clock.standStill(300);
        return pod(namespace, name);
      };
    });
    const { verdict } = await world.run();
    expect(verdict?.groups).toMatchObject([{ podNames: pods.map(({ metadata }) => metadata.name) }]);
    expect(verdict?.unseen).toContain('the last words: no answer in time; ask again');
  });

  it('of two pods that are well has a tick, since the log of each was read', async () => {
    const world = await asked([podOf('web-1', running), podOf('web-2', running)], '-l app=web', ({ cluster }) => {
      cluster.targetLogs.set('web', [{ atMs: START_MS - 12_000, text: 'listening' }]);
    });
    const { verdict } = await world.run();
    expect(verdict).toMatchObject({
      healthy: true,
      line: 'Healthy: 2 of 2 pods ready, no errors in their logs; no look inside yet',
    });
    expect(world.cluster.calls.filter((call) => call === 'readTargetLog')).toHaveLength(2);
  });

  it.each([
    ['that has pods', [podOf('web-1', crashing)]],
    ['that has none', []],
  ])('%s is a refusal without facts where no rule lets the image look there', async (_which, pods) => {
    const world = await asked(pods, 'deployment/web', (fresh) => {
      fresh.policy = policyOf(aRule({ classes: [] }), aRule({ id: 'elsewhere', namespaces: ['web'] }));
      fresh.cluster.warningsNow = [warning('ReplicaSet', 'web-5d9', 'exceeded quota')];
      if (pods.length === 0) fresh.cluster.setPod(undefined);
    });
    expect(await world.run()).toMatchObject({ state: 'denied', refusal: { code: 'class_not_allowed' } });
    expect(world.cluster.calls).not.toContain('warnings');
    expect(world.refusal).not.toContain('quota');
  });

  it('offers to wait for the next end only where it looks into a pod that ended', async () => {
    const ofBlackbox = (fresh: World) => {
      const policy = policyOf(aRule());
      fresh.policy = {
        ...policy,
        images: { ...policy.images, blackbox: { ...policy.images.autodiagnose!, alias: 'blackbox' } },
      };
    };
    const up = await asked([podOf('web-1', restarted), podOf('web-2', running)], 'deployment/web', ofBlackbox);
    expect((await up.run()).verdict).toMatchObject({ findings: [{ code: 'last_oom_killed' }], nextImage: 'blackbox' });
    const down = await asked([podOf('web-1', crashing), podOf('web-2', running)], 'deployment/web', ofBlackbox);
    const run = await down.run();
    expect(run).toMatchObject({ plan: { podName: 'web-2' }, verdict: { findings: [{ code: 'crash_loop' }] } });
    expect(run.verdict?.nextImage).toBeUndefined();
  });

  it('with a tracer is a refusal that names the missing right, also where it has no pods', async () => {
    const world = await asked([], 'deployment/web --image=blackbox', (fresh) => {
      const policy = policyOf(aRule({ classes: ['intrusive'] }));
      const blackbox = { ...policy.images.autodiagnose!, alias: 'blackbox', class: 'intrusive', traces: true } as const;
      fresh.policy = { ...policy, images: { ...policy.images, blackbox } };
      fresh.cluster.setPod(undefined);
    });
    expect(await world.run()).toMatchObject({ state: 'denied', refusal: { code: 'tracer_not_allowed' } });
  });

  it('that waits for an approval is approved for the pod on its card, whatever the groups are by then', async () => {
    const world = await asked([podOf('web-1', running), podOf('web-2', running)], 'deployment/web', (fresh) => {
      fresh.policy = policyOf({
        ...BATCH_RULE,
        approval: approvalTerms(),
      });
    });
    expect(await world.run()).toMatchObject({ state: 'pending-approval', verdict: { groups: [{}] } });
    world.cluster.siblings = [podOf('web-2', restarted)];
    await world.click('U0BOB', 'approve');
    expect(world.cluster.launches).toHaveLength(1);
  });
});
