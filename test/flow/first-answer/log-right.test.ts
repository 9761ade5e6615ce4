import { describe, expect, it } from 'vitest';
import type { ContainerStatus, Pod } from '../../../src/core/container/pod.ts';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import type { Rule } from '../../../src/core/policy/policy.ts';
import { aNotification, anAlert, anAlertPolicy } from '../../support/alerts.ts';
import { anOrigin, aPod, aRule, aStatus, aTermination, START_MS } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { endAll } from '../support/ended.ts';
import { World } from '../support/world.ts';

const MARK = 'customer Mueller 4711 failed';
const at = (ms: number) => new Date(START_MS + ms).toISOString();

/** The end of the log, as the kubelet puts it into the status under FallbackToLogsOnError, or what the program left there itself. */
const ended = (message: string) => aTermination({ exitCode: 3, reason: 'Error', finishedAt: at(-7_000), message });

type Status = Partial<ContainerStatus>;
const STATES: Readonly<
  Record<string, (message: string) => { readonly status: Status; readonly phase?: Pod['status']['phase'] }>
> = {
  waiting: (message) => ({
    status: { waiting: { reason: 'CrashLoopBackOff', message: '' }, lastTermination: ended(message), restartCount: 1 },
  }),
  terminated: (message) => ({ status: { terminated: ended(message) }, phase: 'Failed' }),
  running: (message) => ({
    status: { running: { startedAt: at(-5_000) }, ready: true, lastTermination: ended(message), restartCount: 1 },
  }),
};

const OWNERS = { ReplicaSet: 'web-5d9', Job: 'web' } as const;

interface Scene {
  readonly count: number;
  /** Equal: all pods are one group; else each is a group of its own, with its own words. */
  readonly areEqual: boolean;
  readonly state: string;
  readonly owner: keyof typeof OWNERS;
}

const podsOf = ({ count, areEqual, state, owner }: Scene): readonly Pod[] =>
  Array.from({ length: count }, (_, index) => {
    const name = areEqual ? 'web' : `web${index}`;
    const { status, phase = 'Running' } = STATES[state]!(areEqual ? MARK : `${MARK} ${index}`);
    return aPod({
      metadata: {
        name: `web-${index + 1}`,
        uid: `uid-${index + 1}`,
        labels: { app: 'web', 'pod-template-hash': '5d9' },
        ownerReferences: [{ kind: owner, name: OWNERS[owner], controller: true }],
      },
      spec: { containers: [{ name, image: 'web:1', securityContext: {} }] },
      status: { phase, containerStatuses: [aStatus({ name, ...status })] },
    });
  });

function worldOf(scene: Scene, rule: Partial<Rule>, isShared: boolean): World {
  const rules = [aRule({ classes: ['observe', 'intrusive'], batch: { maxPods: 50, maxParallelism: 10 }, ...rule })];
  const world = new World({
    policy: anAlertPolicy({}, { channels: { [asChannelId('C0SHOP')]: { slackConnect: 'allowed', rules } } }),
  });
  if (isShared) world.directory.shared.add('C0SHOP');
  const [first, ...others] = podsOf(scene);
  world.cluster.setPod(first);
  world.cluster.siblings = others;
  return world;
}

const alerted = (labels: Record<string, string>) => (world: World) =>
  world.pipeline.alerts.receive('shop', aNotification([anAlert({ labels })]));
const said = (words: string) => (world: World) => world.say(words);

const ASKED: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  pod: said('web-1'),
  workload: said('deployment/web'),
  selector: said('-l app=web'),
  Job: said('job/web'),
  batch: said('-l app=web --image=debian -- id'),
  alert: alerted({}),
  'alert about a workload': alerted({ pod: '', deployment: 'web' }),
  compare: said('compare web-1 -n shop'),
  describe: said('describe web-1'),
};
/** Questions whose answer quotes why a container ended. */
const QUOTING = ['pod', 'workload', 'selector', 'Job', 'alert', 'alert about a workload', 'describe'];

/** All that anybody got to see of it, also later. */
async function shownOf(world: World, kind: string): Promise<string> {
  const answer = await ASKED[kind]!(world);
  await world.clock.advance(5_000);
  await endAll(world);
  const eve = anOrigin({ requesterId: asUserId('U0EVE') });
  const told = [
    await world.say(`show ${world.runId}`, { ...eve, dedupeKey: '1' }),
    await world.say('list --all', { ...eve, dedupeKey: '2' }),
  ];
  await settle();
  const { posts, files, told: privately } = world.thread;
  return JSON.stringify([answer, told, posts, files, privately, world.audit.entries, world.logged]);
}

const scenesOf = (kind: string): readonly Scene[] =>
  Object.keys(STATES).flatMap((state) =>
    [1, 2, 7].flatMap((count) =>
      // One pod has no other to differ from.
      (count === 1 ? [true] : [true, false]).map((areEqual) => ({
        state,
        count,
        areEqual,
        owner: kind === 'Job' ? 'Job' : 'ReplicaSet',
      })),
    ),
  ) as readonly Scene[];

describe('the end of a log in the status of a pod', () => {
  it.each(
    Object.keys(ASKED).flatMap((kind) => [
      [kind, 'the rule says none', { targetLog: 'none' }, false],
      [kind, 'another company shares the channel', {}, true],
    ]) as readonly (readonly [string, string, Partial<Rule>, boolean])[],
  )('is nowhere, asked by %s, where %s: whatever number of pods, words and states', async (kind, _, rule, isShared) => {
    for (const scene of scenesOf(kind)) {
      const world = worldOf(scene, rule, isShared);
      expect(await shownOf(world, kind), JSON.stringify(scene)).not.toContain('Mueller');
      expect(world.audit.entries.map(({ step }) => step)).not.toContain('target-log');
    }
  });

  it.each(QUOTING)('is quoted by %s where the log may be read, and the audit log says so', async (kind) => {
    for (const scene of scenesOf(kind)) {
      const world = worldOf(scene, {}, false);
      for (let calls = 0; calls < 40; calls += 1) world.cluster.faults.add('readTargetLog', 'cluster_unreachable');
      const where = JSON.stringify(scene);
      expect(await shownOf(world, kind), where).toContain('Mueller');
      const records = world.audit.entries.filter(({ step }) => step === 'target-log').map(({ facts }) => facts);
      expect(records, where).toContainEqual(
        expect.objectContaining({ containers: expect.stringContaining('(termination message)'), lines: 1 }),
      );
      if (kind !== 'describe') expect((await world.run()).verdict?.ownLog, where).toBe(true);
    }
  });
});
