import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/core/container/pod.ts';
import type { WorkloadFact } from '../../../src/core/diagnosis/facts/facts.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import {
  aCrashingPod,
  anOrigin,
  aPod,
  aPolicy,
  approvalTerms,
  aRule,
  aStatus,
  aTermination,
  START_MS,
} from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

const at = (ms: number) => new Date(START_MS + ms).toISOString();

const crashing = (): Pod => aCrashingPod(START_MS - 12_000);

const line = (text: string, atMs = START_MS - 12_000) => ({ atMs, text });

async function asked(prepare: (world: World) => void, words = 'web-1'): Promise<World> {
  const world = new World();
  prepare(world);
  await world.say(words);
  return world;
}

describe('a question about a pod in which nothing runs', () => {
  it('is answered with its last words, publicly in the thread, and no container is added', async () => {
    const world = await asked(({ cluster }) => {
      cluster.setPod(crashing());
      cluster.targetLogs.set('web --previous', [line('starting'), line('panic: DATABASE_URL is not set')]);
    });
    const run = await world.run();
    expect(run).toMatchObject({ state: 'finished', outcome: { kind: 'answered' }, finishedAtMs: START_MS });
    expect(run.verdict?.line).toContain('web exited with code 1');
    expect(run.verdict?.evidence?.[0]?.lines[0]).toBe('panic: DATABASE_URL is not set');
    expect(run.verdict?.readAtMs).toBe(START_MS);
    expect(world.cluster.launches).toEqual([]);
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result']);
    expect(world.thread.told).toEqual([]);
  });

  it('is answered with the words before its end, also if it runs again by the time that they are read', async () => {
    const world = await asked(({ cluster }) => {
      const terminated = { ...aTermination({ exitCode: 1 }), finishedAt: at(-12_000) };
      cluster.setPod(aPod({ status: { containerStatuses: [aStatus({ terminated, running: undefined as never })] } }));
      cluster.targetLogs.set('web', [line('starting again', START_MS - 2_000)]);
      cluster.targetLogs.set('web --previous', [line('starting'), line('panic: DATABASE_URL is not set')]);
    });
    expect((await world.run()).verdict?.evidence?.[0]?.lines[0]).toBe('panic: DATABASE_URL is not set');
    const { facts } = world.audit.entries.find(({ step }) => step === 'target-log') ?? {};
    expect(facts).toMatchObject({ containers: 'web, web (previous)', lines: 3 });
  });

  it.each<readonly [string, Parameters<typeof aPod>[0]]>([
    ['finished', { status: { phase: 'Failed', reason: 'Evicted', message: 'The node was low on memory.' } }],
    ['is being deleted', { metadata: { deletionTimestamp: at(-600_000), finalizers: ['example.com/hold'] } }],
    [
      'waits for a node',
      { spec: { nodeName: undefined as never }, status: { phase: 'Pending', containerStatuses: [] } },
    ],
    ['is static', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }],
  ])('is answered, not refused, where the pod %s', async (_state, parts) => {
    const { nodeName: _, ...spec } = aPod().spec;
    const isUnscheduled = parts?.spec !== undefined && 'nodeName' in parts.spec;
    const pod = aPod(isUnscheduled ? { status: parts?.status ?? {} } : parts);
    const world = await asked(({ cluster }) => cluster.setPod(isUnscheduled ? { ...pod, spec } : pod));
    expect(await world.run()).toMatchObject({ state: 'finished', outcome: { kind: 'answered' } });
    expect(world.cluster.launches).toEqual([]);
  });

  it('is answered where the node does not answer, whatever the kubelet said last', async () => {
    const world = await asked(({ cluster }) => {
      cluster.nodeNow = { name: 'node-a', conditions: [{ type: 'Ready', status: 'Unknown' }] };
    });
    expect((await world.run()).outcome).toEqual({ kind: 'answered' });
  });

  it('needs no approval: nothing is launched', async () => {
    const world = await asked((fresh) => {
      fresh.policy = withApproval();
      fresh.cluster.setPod(crashing());
    });
    expect(await world.run()).toMatchObject({ state: 'finished', outcome: { kind: 'answered' } });
    expect(world.cluster.calls).not.toContain('launch');
  });

  it('is refused as before where the policy denies it, and no log is read', async () => {
    const world = await asked((fresh) => {
      fresh.policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ profiles: ['netadmin'] })] } } });
      fresh.cluster.setPod(crashing());
    });
    expect(await world.run()).toMatchObject({ state: 'denied', refusal: { code: 'profile_not_allowed' } });
    expect(world.cluster.calls).not.toContain('readTargetLog');
    expect(world.cluster.calls).not.toContain('warnings');
  });

  it('is a refusal for a command, which needs a container', async () => {
    const world = await asked(
      ({ cluster }) => cluster.setPod(aPod({ status: { phase: 'Failed' } })),
      'web-1 --image=debian -- id',
    );
    expect(await world.run()).toMatchObject({ state: 'denied', refusal: { code: 'pod_finished' } });
  });

  it('is answered afresh when it is asked again, and by “Run again”', async () => {
    const world = await asked(({ cluster }) => cluster.setPod(crashing()));
    expect(await world.say('web-1', anOrigin({ dedupeKey: 'two' }))).toBeUndefined();
    expect((await world.store.recent('C0SHOP', 10)).map(({ outcome }) => outcome?.kind)).toEqual([
      'answered',
      'answered',
    ]);
    await world.click('U0ROY', 'rerun');
    expect((await world.store.recent('C0SHOP', 10)).map(({ state }) => state)).toEqual(Array(3).fill('finished'));
  });
});

const withApproval = () =>
  aPolicy({
    approvers: { sre: { users: ['U0BOB' as never] } },
    channels: {
      [asChannelId('C0SHOP')]: {
        rules: [
          aRule({
            approval: approvalTerms(),
          }),
        ],
      },
    },
  });

describe('a question about a pod that runs', () => {
  it('has its first answer on the card before the look inside has begun, and keeps it until the look ends', async () => {
    const world = await asked(({ cluster }) => {
      cluster.targetLogs.set('web', [line('ERROR no route to db'), line('ERROR no route to db')]);
    });
    const run = await world.run();
    expect(run).toMatchObject({ state: 'starting', verdict: { readAtMs: START_MS } });
    expect(world.cluster.launches).toHaveLength(1);
  });

  it.each([
    ['- name: DB_PASSWORD', '  value: hunter2Secret99'],
    ['DB_PASSWORD: |', '  hunter2Secret99'],
    ['FATAL: DB_PASSWORD:', '  hunter2Secret99'],
    ['the password of the database is:', 'hunter2Secret99'],
  ])('shows no secret that stands below its name, in no line of it: %s', async (...words) => {
    const world = await asked((fresh) => {
      const status = aStatus({ running: { startedAt: at(-9_000) }, ready: false });
      const unmetConditions = [{ type: 'Ready', reason: '', message: '', since: at(-9_000) }];
      fresh.cluster.setPod(aPod({ status: { containerStatuses: [status], unmetConditions } }));
      const message = 'Readiness probe failed: ';
      const involved = { kind: 'Pod', name: 'web-1', uid: 'uid-1' };
      const fieldPath = 'spec.containers{web}';
      fresh.cluster.warningsNow = [
        { type: 'Warning', reason: 'Unhealthy', message, atMs: START_MS - 1_000, count: 4, fieldPath, involved },
      ];
      fresh.cluster.targetLogs.set('web', [line('starting'), ...words.map((text) => line(text))]);
    });
    const described = await world.say('describe web-1', anOrigin({ dedupeKey: 'two' }));
    expect(JSON.stringify([world.thread.posts, described, await world.run()])).not.toContain('hunter2Secret99');
  });

  it('carries its first answer to the card that asks for an approval', async () => {
    const world = await asked((fresh) => {
      fresh.policy = withApproval();
    });
    expect(await world.run()).toMatchObject({ state: 'pending-approval', verdict: { readAtMs: START_MS } });
  });

  it('keeps the first answer when the look cannot start', async () => {
    const world = await asked(() => {});
    const { verdict } = await world.run();
    world.cluster.report({ waiting: { reason: 'ErrImagePull', message: 'no such image' } });
    await world.clock.advance(60_000);
    await settle();
    expect(await world.run()).toMatchObject({ state: 'finished', outcome: { kind: 'start-failed' }, verdict });
  });

  it('is answered where the cluster would refuse the look, and nobody is asked to approve it', async () => {
    const world = await asked((fresh) => {
      fresh.policy = withApproval();
      fresh.cluster.refusal = { kind: 'refused', by: 'webhook', message: 'no debug containers here' };
    });
    const run = await world.run();
    expect(run).toMatchObject({
      state: 'finished',
      outcome: { kind: 'answered', because: 'rehearsal_refused' },
      verdict: { readAtMs: START_MS },
    });
    expect(run.verdict?.unseen?.at(-1)).toContain('no debug containers here');
    expect(JSON.stringify(world.thread.posts)).toContain('No container was added: the cluster would refuse it');
  });

  it('offers the image that shows more of what it found, where a look may follow', async () => {
    const since = at(-300_000);
    const unready = aPod({
      status: {
        containerStatuses: [aStatus({ running: { startedAt: at(-400_000) }, ready: false })],
        unmetConditions: [{ type: 'Ready', reason: 'ContainersNotReady', message: 'web', since }],
      },
    });
    const images = { ...aPolicy().images, stacks: { ...aPolicy().images.autodiagnose!, alias: 'stacks' } };
    const world = await asked((fresh) => {
      fresh.policy = aPolicy({ images });
      fresh.cluster.setPod(unready);
    });
    expect((await world.run()).verdict).toMatchObject({ findings: [{ code: 'not_ready' }], nextImage: 'stacks' });
    const without = await asked(({ cluster }) => cluster.setPod(unready));
    expect((await without.run()).verdict?.nextImage).toBeUndefined();
  });

  it('offers to wait for the next end only beside a container that runs', async () => {
    const lastTermination = aTermination({ exitCode: 139, reason: 'Error', finishedAt: at(-12_000) });
    const up = aStatus({ restartCount: 1, running: { startedAt: at(-9_000) }, lastTermination });
    const again = aPod({ status: { containerStatuses: [up] } });
    const images = { ...aPolicy().images, blackbox: { ...aPolicy().images.autodiagnose!, alias: 'blackbox' } };
    const of = (pod: Pod) => (fresh: World) => {
      fresh.policy = aPolicy({ images });
      fresh.cluster.setPod(pod);
    };
    const world = await asked(of(again));
    expect((await world.run()).verdict).toMatchObject({ findings: [{ code: 'restarts' }], nextImage: 'blackbox' });
    const down = await asked(of(crashing()));
    expect((await down.run()).verdict).toMatchObject({ findings: [{ code: 'crash_loop' }] });
    expect((await down.run()).verdict?.nextImage).toBeUndefined();
  });

  it('names its requester in the small print of the result', async () => {
    const world = await asked(({ cluster }) => cluster.setPod(crashing()));
    const result = world.thread.posts.find(({ meta }) => meta.kind === 'result');
    expect(textOf(result?.message)).toContain('for U0ROY · no container was added');
  });

  it('of a dry run reads no facts', async () => {
    const world = await asked(() => {}, 'web-1 --dry-run');
    expect(world.cluster.calls).not.toContain('warnings');
  });
});

describe('a question about a pod that is gone', () => {
  const heir = aPod({
    metadata: {
      name: 'web-7d9-xyzxy',
      labels: { 'pod-template-hash': '7d9' },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web-7d9', controller: true }],
    },
  });

  it('names the pod in its place', async () => {
    const world = await asked(({ cluster }) => cluster.setPod(heir), 'web-7d9-abcde');
    expect(await world.run()).toMatchObject({ state: 'denied', refusal: { code: 'pod_is_gone' } });
    expect(world.refusal).toContain('web-7d9-abcde is gone; deployment/web has web-7d9-xyzxy now');
  });

  it('keeps its refusal where nothing is known of the name, and for a command', async () => {
    const unknown = await asked(({ cluster }) => cluster.setPod(heir), 'api-1');
    expect((await unknown.run()).refusal?.code).toBe('pod_not_found');
    const command = await asked(({ cluster }) => cluster.setPod(heir), 'web-7d9-abcde --image=debian -- id');
    expect((await command.run()).refusal?.code).toBe('pod_not_found');
  });
});

const DEPLOYMENT: WorkloadFact = {
  kind: 'deployment',
  name: 'web',
  uid: 'u',
  ready: 1,
  conditions: [],
  createdAtMs: 0,
};

const ofDeployment = (): Pod =>
  aPod({
    metadata: {
      labels: { 'pod-template-hash': '7d9' },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web-7d9', controller: true }],
    },
  });

describe('the sources of a first answer', () => {
  it('are at most five API calls, whatever the pod holds', async () => {
    const names = ['web', 'a', 'b', 'c', 'd'];
    const world = await asked(({ cluster }) =>
      cluster.setPod(
        aPod({
          spec: { claims: ['data'], containers: names.map((name) => ({ name, image: 'x', securityContext: {} })) },
          status: { containerStatuses: names.map((name) => aStatus({ name, running: { startedAt: at(-1) } })) },
        }),
      ),
    );
    const calls = ['warnings', 'node', 'claims', 'storageClasses', 'services', 'workload', 'readTargetLog'];
    expect(world.cluster.calls.filter((call) => calls.includes(call)).length).toBe(5);
    expect((await world.run()).verdict?.unseen).toContain('the log of c: it was not read');
  });

  it('are six where a controller may have changed the pod’s workload', async () => {
    const world = await asked(({ cluster }) => {
      cluster.setPod(ofDeployment());
      cluster.workloadNow = { ...DEPLOYMENT, lastChange: { atMs: START_MS - 720_000, manager: 'argocd-controller' } };
    });
    const calls = ['warnings', 'node', 'services', 'workload', 'readTargetLog'];
    expect(world.cluster.calls.filter((call) => calls.includes(call)).length).toBeLessThanOrEqual(6);
    expect((await world.run()).verdict?.changed).toBe('Deployment changed 12 min ago by Argo CD');
  });

  it('leave out the last change in silence where kdebug may not read the workload', async () => {
    const world = await asked(({ cluster }) => cluster.setPod(ofDeployment()));
    const { verdict } = await world.run();
    expect(world.cluster.calls).toContain('workload');
    expect(verdict).not.toHaveProperty('changed');
    expect(verdict?.unseen?.join()).not.toContain('its workload');
  });

  it('delay the answer by no more than a second, and each one that is late is named', async () => {
    const world = new World();
    world.cluster.setPod(crashing());
    world.cluster.warnings = () => new Promise(() => {});
    world.cluster.readTargetLog = () => new Promise(() => {});
    await world.say('web-1');
    expect((await world.run()).state).toBe('received');
    await world.clock.advance(1_000);
    await settle();
    const run = await world.run();
    expect(run).toMatchObject({ outcome: { kind: 'answered' }, finishedAtMs: START_MS + 1_000 });
    expect(run.verdict?.unseen).toEqual([
      expect.stringMatching(/^its warnings and probes: no answer in time/),
      expect.stringContaining('its node'),
      expect.stringMatching(/^the last words of web: no answer in time/),
    ]);
  });

  it('that fail are named, and the others are used', async () => {
    const world = await asked(({ cluster }) => {
      cluster.setPod(crashing());
      cluster.faults.add('warnings', 'cluster_forbidden');
      cluster.faults.add('readTargetLog', 'cluster_failed');
    });
    const { verdict } = await world.run();
    expect(verdict?.line).toContain('web exited with code 1');
    expect(verdict?.unseen).toEqual([
      expect.stringMatching(/^its warnings and probes: the right is missing/),
      expect.stringMatching(/^its node: the right is missing/),
      expect.stringMatching(/^the last words of web: reading it failed/),
    ]);
  });

  it('include logs only where the rule gives the right, and the audit log says whose', async () => {
    const read = await asked(({ cluster }) => {
      cluster.setPod(crashing());
      cluster.targetLogs.set('web --previous', [line('one'), line('two')]);
    });
    expect(read.audit.entries.find(({ step }) => step === 'target-log')).toMatchObject({
      actorId: 'U0ROY',
      facts: { pod: 'shop/web-1', containers: 'web (previous)', lines: 2 },
    });
    const none = await asked((world) => {
      world.policy = aPolicy({
        channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ targetLog: 'none' })] } },
      });
      world.cluster.setPod(crashing());
    });
    expect(none.cluster.calls).not.toContain('readTargetLog');
    expect(none.audit.entries.map(({ step }) => step)).not.toContain('target-log');
    expect((await none.run()).verdict?.unseen?.at(-1)).toMatch(
      /^the last words of web: this channel’s rule gives none/,
    );
  });

  it('shows no message of an end where the rule gives none: it may be the end of the log', async () => {
    const told = async (targetLog: 'none' | 'errors') => {
      const world = await asked((fresh) => {
        fresh.policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ targetLog })] } } });
        const lastTermination = aTermination({ exitCode: 1, reason: 'Error', message: 'customer Ann not found' });
        const status = aStatus({
          waiting: { reason: 'CrashLoopBackOff', message: '' },
          restartCount: 3,
          lastTermination,
        });
        fresh.cluster.setPod(aPod({ status: { containerStatuses: [status] } }));
        fresh.cluster.faults.add('readTargetLog', 'cluster_unreachable');
      });
      return JSON.stringify((await world.run()).verdict);
    };
    expect(await told('errors')).toContain('customer Ann');
    expect(await told('none')).not.toContain('customer Ann');
  });

  it('shows no line of a log that the audit log could not record', async () => {
    const world = await asked((fresh) => {
      fresh.cluster.setPod(crashing());
      fresh.cluster.targetLogs.set('web --previous', [line('secret plan')]);
      fresh.audit.faults.add('target-log', 'audit_unavailable');
    });
    expect((await world.run()).state).toBe('denied');
    expect(JSON.stringify(await world.run())).not.toContain('secret plan');
  });

  it('are read as the person, where kdebug impersonates', async () => {
    const world = new World({
      policy: aPolicy({ identity: { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {} } }),
    });
    world.cluster.setPod(crashing());
    const seen: unknown[] = [];
    world.cluster.readTargetLog = async ({ actingAs }) => void seen.push(actingAs?.user);
    await world.say('web-1');
    expect(seen).toEqual(['slack:U0ROY']);
  });
});
