import { expect } from 'vitest';
import type { LocalCluster } from '../../play/cluster/index.ts';
import { REASONS } from '../../src/core/errors.ts';
import { podFaults } from './pod-faults.ts';
import type { Board } from './support/board.ts';
import { containersIn, HELD, LONG, letEnd, scenesOn, toldOnce, toldPrivately, wordsOf } from './support/in-scene.ts';
import type { ServerScene } from './support/server-scene.ts';
import { watchFaults } from './watch-faults.ts';

const PATCH = { verb: 'patch', resource: 'pods/ephemeralcontainers' } as const;
const FOR_EVER = Number.POSITIVE_INFINITY;

/** F29 to F41 of the matrix but for the watch and the pods, on the real adapters between the local Slack and the local cluster. */
export function kubernetesFaults(board: Board, cluster: () => LocalCluster): void {
  const inScene = scenesOn(cluster);
  watchFaults(board, cluster);
  podFaults(board, cluster);

  board.fault(
    'F29',
    'the PATCH conflicts three times: launched once',
    inScene(async (scene) => {
      scene.cluster.faults.queue({ kind: 'status', status: 409, times: 3, match: PATCH });
      await scene.boot();
      await scene.type(`${scene.pod} ${LONG}`);
      await scene.skipToEnd();
      expect(patches(scene)).toBe(4);
      await toldOnce(scene);
    }),
  );

  for (const fault of [
    { kind: 'status', status: 429, retryAfterSeconds: 1 },
    { kind: 'status', status: 429, retryAfterSeconds: 20 },
    { kind: 'status', status: 503 },
    { kind: 'status', status: 504 },
    { kind: 'reset-before' },
    { kind: 'reset-after-commit' },
  ] as const)
    board.fault(
      'F30',
      `${Object.values(fault).join(' ')} at the PATCH: waited for as told, launched once`,
      inScene(async (scene) => {
        scene.cluster.faults.queue({ ...fault, match: PATCH });
        const atMs: number[] = [];
        const stop = scene.cluster.requests.watch(({ record, isOver }) => {
          if (record.verb === 'patch' && !isOver && record.status === 0) atMs.push(scene.clock.now());
        });
        await scene.boot();
        await scene.type(`${scene.pod} ${LONG}`);
        await scene.skipToEnd();
        stop();
        expect(patches(scene)).toBe(2);
        const [first = 0, second = 0] = atMs;
        const askedMs = 'retryAfterSeconds' in fault ? fault.retryAfterSeconds * 1_000 : 0;
        expect(second - first).toBeGreaterThanOrEqual(askedMs);
        await toldOnce(scene);
      }),
    );

  board.fault('F31', 'the token expires while the run goes on: read again, and nobody notices', async () => {
    const kubeconfig = cluster().kubeconfigFor('system:bot-f31', ['system:masters']);
    await inScene(
      async (scene) => {
        await scene.boot();
        await scene.type(`${scene.pod} ${HELD}`);
        await scene.reach('running');
        scene.renewKubeconfig(cluster().kubeconfigFor('system:bot-f31', ['system:masters']));
        scene.cluster.tokens.revoke(/token: "?([0-9a-f]+)/.exec(kubeconfig)?.[1] ?? '');
        scene.cluster.dropConnections();
        await letEnd(scene);
        await scene.skipToEnd();
        expect(scene.cluster.requests.find({ status: 401 }).length).toBeGreaterThan(0);
        await toldOnce(scene);
      },
      { kubeconfig },
    )();
  });

  board.fault(
    'F31',
    '401 again after the token was read again: not asked a third time, and told',
    inScene(async (scene) => {
      scene.cluster.faults.queue({ kind: 'status', status: 401, times: FOR_EVER, match: PATCH });
      await scene.boot();
      await scene.type(`${scene.pod} ${LONG}`);
      await scene.skipToEnd();
      expect(patches(scene)).toBe(2);
      expect(wordsOf(scene, 'result')).toContain('cluster_unauthenticated');
      await toldOnce(scene, { verdict: '', files: 0, containers: 0 });
    }),
  );

  board.fault(
    'F31',
    'the rights are taken away before the PATCH: told in the words of RBAC, and not tried again',
    async () => {
      const user = 'bot-without-rights';
      await inScene(
        async (scene) => {
          const all = { user, resources: ['*'], namespaces: ['shop'] };
          scene.cluster.authorizer.setRules([{ ...all, verbs: ['get', 'list', 'watch', 'create'] }]);
          await scene.boot();
          await scene.type(`${scene.pod} ${LONG}`);
          await scene.skipToEnd();
          scene.cluster.authorizer.setRules([]);
          expect(patches(scene)).toBe(1);
          expect(wordsOf(scene, 'result')).toContain('cannot patch resource');
          await toldOnce(scene, { verdict: 'Refused', files: 0, containers: 0 });
        },
        { kubeconfig: cluster().kubeconfigFor(user) },
      )();
    },
  );

  for (const [words, fault] of [
    ['knows no binding', { kind: 'rbac-starts', times: 6 }],
    ['knows no role', { kind: 'rbac-starts', missingRole: 'kdebug', times: 3 }],
  ] as const)
    board.fault(
      'F31',
      `a starting API server ${words} and refuses the PATCH: tried again, launched once`,
      inScene(async (scene) => {
        scene.cluster.faults.queue({ ...fault, match: PATCH });
        await scene.boot();
        await scene.type(`${scene.pod} ${LONG}`);
        await scene.skipToEnd();
        expect(patches(scene)).toBe(fault.times + 1);
        await toldOnce(scene);
      }),
    );

  board.fault(
    'F32',
    'a PATCH that hangs and is committed after we gave up on it: found by its name',
    inScene(
      async (scene) => {
        scene.cluster.faults.queue({ kind: 'delay', ms: 2_500, match: PATCH });
        await scene.boot();
        await scene.type(`${scene.pod} ${LONG}`);
        await scene.skipToEnd();
        await scene.skipUntil(async () =>
          scene.cluster.requests.find({ verb: 'patch', name: scene.pod }).every(({ status }) => status !== 0),
        );
        expect(patches(scene)).toBe(2);
        await toldOnce(scene);
      },
      { launchTimes: { timeoutMs: 300 } },
    ),
  );

  board.fault(
    'F36',
    'the node is lost while the container runs: said at the deadline, the slot is free; its return edits the same reply',
    inScene(async (scene) => {
      const name = `${scene.pod}-lost`;
      scene.cluster.addPod({ namespace: 'shop', name, nodeName: name });
      const { pipeline } = await scene.boot();
      await scene.type(`${name} ${HELD.replace(' --', ' --timeout=1m --')}`);
      const { containerName } = await scene.reach('running');
      scene.cluster.nodeDown(name);
      await scene.skipUntil(async () => (await scene.run())?.delivery.closed, 1_000);
      expect((await scene.run())?.outcome).toEqual({ kind: 'node-lost' });
      expect(wordsOf(scene, 'anchor')).toContain('The node is lost');
      expect(pipeline.active).toBe(0);
      scene.cluster.nodeUp(name);
      scene.cluster.killContainer('shop', name, containerName ?? '', { exitCode: 0, reason: 'Completed' });
      await scene.skipUntil(async () => wordsOf(scene, 'anchor').includes('Succeeded'));
      expect(scene.posts('result')).toHaveLength(1);
    }),
  );

  for (const [what, words, told] of [
    ['an image that cannot be pulled', '-n shop --image=missing', 'its image does not exist'],
    ['a program that the image does not have', '-n shop --image=debian -- no-such-program', 'no-such-program'],
  ] as const)
    board.fault(
      'F37',
      `${what}: ends at once, by its reason`,
      inScene(async (scene) => {
        await scene.boot();
        const askedAtMs = scene.clock.now();
        await scene.type(`${scene.pod} ${words}`);
        await scene.settle();
        expect((await scene.run())?.outcome?.kind).toBe('start-failed');
        expect(((await scene.run())?.finishedAtMs ?? 0) - askedAtMs).toBeLessThan(5_000);
        expect(wordsOf(scene, 'result')).toContain(told);
        await toldOnce(scene, { verdict: 'did not start', files: 0 });
      }),
    );

  board.fault(
    'F37',
    'a configuration that the kubelet refuses: ends at once, in its words',
    inScene(async (scene) => {
      const name = `${scene.pod}-strict`;
      scene.cluster.addPod({ namespace: 'shop', name, securityContext: { runAsNonRoot: true } });
      await scene.boot();
      await scene.type(`${name} -n shop --image=debian --profile=baseline -- id`);
      await scene.settle();
      expect((await scene.run())?.outcome).toMatchObject({
        kind: 'start-failed',
        reason: 'CreateContainerConfigError',
      });
      expect(wordsOf(scene, 'result')).toContain('runAsNonRoot');
    }),
  );

  board.fault(
    'F37',
    'a target that never runs: waited for until the start deadline, and told why',
    inScene(async (scene) => {
      await scene.boot();
      scene.cluster.setTargetState('shop', scene.pod, 'app', 'exited');
      await scene.type(`${scene.pod} ${LONG}`);
      await scene.reach('starting');
      const launchedAtMs = scene.clock.now();
      await scene.skipToEnd(1_000);
      const run = await scene.run();
      expect(run?.outcome?.kind).toBe('start-failed');
      expect((run?.finishedAtMs ?? 0) - launchedAtMs).toBeGreaterThan(55_000);
      await toldOnce(scene, { verdict: 'did not start', files: 0 });
    }),
  );

  board.fault(
    'F38',
    'a mutating webhook adds a variable to our container, and the answer gets lost: recognised as ours',
    inScene(async (scene) => {
      const takeAway = scene.cluster.webhooks.add({
        match: ({ name }) => name === scene.pod,
        rewrite: (pod) => ({
          ...pod,
          spec: {
            ...pod.spec,
            ephemeralContainers: (pod.spec.ephemeralContainers ?? []).map((each) => ({
              ...each,
              env: [...(each.env ?? []), { name: 'PROXY', value: 'http://proxy' }],
            })),
          },
        }),
      });
      scene.cluster.faults.queue({ kind: 'reset-after-commit', match: PATCH });
      await scene.boot();
      await scene.type(`${scene.pod} ${LONG}`);
      await scene.skipToEnd();
      takeAway();
      expect(scene.cluster.requests.find({ verb: 'patch', name: scene.pod }).at(-1)?.status).toBe(200);
      await toldOnce(scene);
    }),
  );

  board.fault(
    'F38',
    'a mutating webhook puts in another image: what nobody asked for is refused, and nothing of it is shown',
    inScene(async (scene) => {
      scene.cluster.webhooks.add({
        match: ({ name }) => name === scene.pod,
        rewrite: (pod) => ({
          ...pod,
          spec: {
            ...pod.spec,
            ephemeralContainers: (pod.spec.ephemeralContainers ?? []).map((each) => ({
              ...each,
              image: `mirror.example.com/${each.image}`,
            })),
          },
        }),
      });
      await scene.boot();
      await scene.type(`${scene.pod} ${LONG}`);
      await scene.skipToEnd();
      const run = await scene.run();
      expect(run?.outcome).toMatchObject({ kind: 'refused', by: 'name-taken' });
      expect(run?.log).toBeUndefined();
    }),
  );

  for (const [what, hook] of [
    ['rejects it', { deny: 'no debugging on Fridays' }],
    ['does not answer', { isUnreachable: true }],
  ] as const)
    board.fault(
      'F38',
      `a validating webhook ${what}: nothing is launched, and its words are shown`,
      inScene(async (scene) => {
        const takeAway = scene.cluster.webhooks.add({ match: ({ name }) => name === scene.pod, ...hook });
        await scene.boot();
        await scene.type(`${scene.pod} ${LONG}`);
        await scene.skipToEnd();
        takeAway();
        expect(wordsOf(scene, 'result')).toContain('deny' in hook ? hook.deny : 'failed calling webhook');
        await toldOnce(scene, { verdict: '', files: 0, containers: 0 });
      }),
    );

  board.fault(
    'F39',
    'the pod holds as many ephemeral containers as the policy allows: refused before the launch',
    inScene(async (scene) => {
      scene.policy = { ...scene.policy, limits: { ...scene.policy.limits, ephemeralContainersPerPod: 1 } };
      await scene.boot();
      await scene.type(`${scene.pod} ${LONG}`);
      await scene.skipToEnd();
      await scene.type(`${scene.pod} ${LONG}`);
      await scene.skipUntil(async () => toldPrivately(scene).includes(REASONS.pod_has_too_many_containers.title));
      expect(patches(scene)).toBe(1);
      await toldOnce(scene);
    }),
  );

  board.fault(
    'F39',
    'the API server finds the pod too large: asked once, and told in its words',
    inScene(async (scene) => {
      const message = 'Request entity too large: limit is 3145728';
      scene.cluster.faults.queue({ kind: 'status', status: 413, message, times: FOR_EVER, match: PATCH });
      await scene.boot();
      await scene.type(`${scene.pod} ${LONG}`);
      await scene.skipToEnd();
      expect(patches(scene)).toBe(1);
      expect(wordsOf(scene, 'result')).toContain(message);
      await toldOnce(scene, { verdict: 'Refused', files: 0, containers: 0 });
    }),
  );

  board.fault(
    'F40',
    'a container that ignores its deadline: said to go on, and counted in the cap',
    inScene(async (scene) => {
      scene.policy = { ...scene.policy, limits: { ...scene.policy.limits, ephemeralContainersPerPod: 1 } };
      await scene.boot();
      await scene.type(`${scene.pod} ${HELD.replace(' --', ' --timeout=20s --')}`);
      await scene.reach('running');
      await scene.skipUntil(async () => (await scene.run())?.delivery.closed);
      expect((await scene.run())?.outcome).toEqual({ kind: 'timed-out' });
      expect(wordsOf(scene, 'result')).toContain('goes on until it exits');
      await scene.type(`${scene.pod} ${LONG}`);
      await scene.skipUntil(async () => toldPrivately(scene).includes(REASONS.pod_has_too_many_containers.title));
      expect(containersIn(scene)).toBe(1);
    }),
  );

  for (const [what, pod, code, flags = ''] of [
    ['a static pod', { isMirror: true }, 'pod_is_static'],
    ['a Windows pod', { os: 'windows' }, 'pod_is_windows'],
    ['a pod without a node', { isUnscheduled: true }, 'pod_unscheduled'],
    ['a missing target container', {}, 'target_container_not_found', '--target=nobody'],
  ] as const)
    board.fault(
      'F41',
      `${what}: refused at once, privately and plainly`,
      inScene(async (scene) => {
        const name = `${scene.pod}-odd`;
        scene.cluster.addPod({ namespace: 'shop', name, ...pod });
        await scene.boot();
        await scene.type(`${name} ${flags} ${LONG}`);
        await scene.skipUntil(async () => toldPrivately(scene).includes(REASONS[code].title));
        expect(scene.cluster.requests.find({ verb: 'patch', name })).toEqual([]);
        expect(scene.posts('anchor')).toEqual([]);
      }),
    );

  board.fault(
    'F41',
    'a pod that has finished: refused at once, privately and plainly',
    inScene(async (scene) => {
      const name = `${scene.pod}-done`;
      scene.cluster.addPod({ namespace: 'shop', name, restartPolicy: 'Never' });
      scene.cluster.killContainer('shop', name, 'app', { exitCode: 0, reason: 'Completed' });
      await scene.skipUntil(async () => scene.cluster.pod('shop', name)?.status.phase === 'Succeeded');
      await scene.boot();
      await scene.type(`${name} ${LONG}`);
      await scene.skipUntil(async () => toldPrivately(scene).includes(REASONS.pod_finished.title));
      expect(scene.cluster.requests.find({ verb: 'patch', name })).toEqual([]);
    }),
  );
}

/** How often our container was asked for. */
const patches = (scene: ServerScene): number => scene.cluster.requests.find({ verb: 'patch', name: scene.pod }).length;
