import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { hasRedis } from '../adapters/store/redis/redis-server.ts';
import { type BuiltProgram, buildProgram } from '../support/program/built-program.ts';
import { ProgramScene } from '../support/program/program-scene.ts';
import { itInFull } from '../support/sample.ts';

const CHANNEL = 'C0SHOP';
const POLICY = `version: 1
clusters:
  test: { context: local, default: true }
identity: { mode: serviceAccount }
images:
  debian: { image: "debian:12-slim", class: observe, command: allowed }
channels:
  ${CHANNEL}:
    rules:
      - id: look
        clusters: [test]
        namespaces: [shop]
        classes: [observe, intrusive, elevated]
        profiles: [general]
        batch: { maxPods: 10, maxParallelism: 3 }
limits: { startDeadline: 60s, runsPerUserPerMinute: 100, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
`;

describe.skipIf(!hasRedis)('a batch of several processes', () => {
  let cluster: LocalCluster;
  let program: BuiltProgram;
  let scene: ProgramScene;

  beforeAll(async () => {
    [cluster, program] = await Promise.all([startLocalCluster({ kubeletDelayMs: 0 }), buildProgram()]);
    for (const index of [1, 2, 3, 4])
      cluster.addPod({ namespace: 'shop', name: `web-${index}`, labels: { app: 'web' } });
  });

  afterAll(async () => {
    await cluster?.stop();
    program?.remove();
  });

  afterEach(() => scene.close());

  itInFull('is steered by clicks and commands, whichever process they reach', async () => {
    const { kubeconfig } = cluster;
    scene = await ProgramScene.open({
      program,
      kubeconfig,
      policy: POLICY,
      transport: 'http',
      store: 'redis',
      slack: {},
    });
    const [holder, other] = await Promise.all([scene.boot(), scene.boot()]);
    scene.sendTo(holder);
    await scene.type('-l app=web --image=debian --profile=general -- sleep 600', CHANNEL);
    const anchor = await scene.slack.until(() => scene.posts('anchor')[0]);
    const dashboard = (): string => scene.textOf(scene.posts('anchor')[0]);
    const shows = (words: RegExp) => scene.slack.until(() => words.test(dashboard()));
    const id = /batch ([a-z2-7]{10})/.exec(dashboard())?.[1] ?? '';
    await shows(/0 succeeded[\s\S]*0 failed[\s\S]*1 running[\s\S]*3 waiting/);

    scene.sendTo(other);
    const press = async (actionId: string): Promise<void> => {
      const { error } = await scene.press('U0ROY', actionId, anchor.ts);
      expect(error).toBeUndefined();
    };
    await press('pause');
    await shows(/Paused by/);
    const answer = await scene.type(`batch ${id} --parallelism=3`, CHANNEL);
    expect(JSON.stringify(answer.body)).toMatch(/another replica of kdebug handles this batch/i);
    const before = scene.slack.ephemerals('U0ROY').length;
    await scene.type(`batch ${id} --parallelism=4`, CHANNEL);
    const refused = await scene.slack.until(() =>
      scene.slack
        .ephemerals('U0ROY')
        .slice(before)
        .find((one) => /too many pods in parallel/i.test(JSON.stringify(one))),
    );
    expect(refused).toBeDefined();
    await press('resume');
    await shows(/0 succeeded[\s\S]*0 failed[\s\S]*3 running[\s\S]*1 waiting/);
    await press('cancel');
    await shows(/Cancelled by/);
  });
});
