import { describe, expect, it } from 'vitest';
import type { LastWords } from '../../../../src/core/diagnosis/facts/facts.ts';
import { aStatus } from '../../../support/builders.ts';
import { answer, at, CALM, ended, podOf, quietLog, shape, warning, withStatus } from './facts.ts';

const WAITING = { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container' };
const words = (line?: string, containerName = 'web'): LastWords => ({
  containerName,
  more: [],
  ...(line !== undefined && { line }),
});

describe('a container that ends again and again', () => {
  const pod = withStatus({ waiting: WAITING, restartCount: 14, lastTermination: ended(12_000) });

  it('is told with its last words in the sentence', () => {
    expect(answer({ pod, lastWords: [words('Environment variable X is undefined')] })).toMatchObject({
      line: 'web exited with code 1, 12 s ago, restarted 14 times: “Environment variable X is undefined”',
      codes: ['crash_loop'],
      rank: 1,
    });
  });

  it('is told with a well-known cause first', () => {
    const line =
      'db:5432 refuses connections: web exited with code 1, 12 s ago, restarted 14 times: “dial tcp db:5432: connect: connection refused”';
    expect(answer({ pod, lastWords: [words('dial tcp db:5432: connect: connection refused')] }).line).toBe(line);
  });

  it('says that it wrote nothing only where its log was read', () => {
    expect(answer({ pod, lastWords: [words()] }).line).toMatch(/restarted 14 times; it wrote nothing$/);
    expect(answer({ pod }).line).toMatch(/restarted 14 times$/);
  });

  it('is told with the message that the program left for Kubernetes, where its log has no words', () => {
    const message = 'connecting\ncannot open the ledger\n';
    const left = withStatus({ waiting: WAITING, restartCount: 1, lastTermination: ended(1_000, { message }) });
    const gone = words('unable to retrieve container logs for containerd://4bf9');
    for (const lastWords of [[words()], [gone], []])
      expect(answer({ pod: left, logRight: 'errors', lastWords }).line).toMatch(/: “cannot open the ledger”$/);
    expect(answer({ pod: left, logRight: 'errors', lastWords: [words('it says more')] }).line).toMatch(
      /: “it says more”$/,
    );
    expect(answer({ pod, logRight: 'errors', lastWords: [gone] }).line).toMatch(/restarted 14 times$/);
  });

  it.each([undefined, 'none'] as const)(
    'is told without that message where the log may not be read: %s',
    (logRight) => {
      const left = (state: Parameters<typeof withStatus>[0]) => withStatus({ restartCount: 1, ...state });
      const lastTermination = ended(1_000, { message: 'customer Ann' });
      for (const facts of [
        { pod: left({ waiting: WAITING, lastTermination }) },
        { pod: left({ running: { startedAt: at(-500) }, lastTermination }), lastWords: [words()] },
        { pod: withStatus({ terminated: lastTermination }, {}, 'Failed') },
      ])
        expect(JSON.stringify(answer({ ...facts, logRight }))).not.toContain('Ann');
    },
  );

  it('explains exit codes where that adds something', () => {
    const of = (exitCode: number) =>
      answer({ pod: withStatus({ waiting: WAITING, restartCount: 1, lastTermination: ended(1_000, { exitCode }) }) })
        .line;
    expect(of(2)).toContain('exited with code 2, 1 s ago');
    for (const [code, text] of [
      [126, 'may not be executed'],
      [127, 'was not found'],
      [134, 'aborted'],
      [137, 'killed'],
      [139, 'segmentation fault'],
      [143, 'asked to end'],
    ] as const)
      expect(of(code)).toContain(text);
    expect(of(0)).toContain('ends by itself with code 0');
  });

  it('is also found while it runs between two ends', () => {
    const of = (restartCount: number, msAgo: number) =>
      answer({
        pod: withStatus({
          running: { startedAt: at(-1_000) },
          ready: true,
          restartCount,
          lastTermination: ended(msAgo),
        }),
      }).codes;
    expect(of(2, 360_000)).toEqual(['crash_loop']);
    expect(of(2, 361_000)).toEqual(['restarts']);
    expect(of(1, 1_000)).toEqual(['restarts']);
  });

  it('explains its failing probes and its unreadiness', () => {
    const events = [
      warning('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503', {
        count: 9,
        fieldPath: 'spec.containers{web}',
      }),
    ];
    const running = withStatus({ running: { startedAt: at(-9_000) }, restartCount: 5, lastTermination: ended(12_000) });
    expect(answer({ pod: running, events }).codes).toEqual(['crash_loop']);
  });
});

describe('a container that was restarted', () => {
  const restarted = (msAgo: number) =>
    withStatus({
      ready: true,
      running: { startedAt: at(1_000 - msAgo) },
      restartCount: 1,
      lastTermination: ended(msAgo),
    });

  it('is news for an hour, and worse while it is down', () => {
    expect(answer({ pod: restarted(3_599_000) })).toMatchObject({ codes: ['restarts'], rank: 2 });
    expect(answer({ pod: restarted(3_600_000) }).codes).toEqual([]);
    expect(answer({ pod: withStatus({ terminated: ended(7_200_000) }) })).toMatchObject({
      codes: ['restarts'],
      rank: 1,
    });
  });

  it('was killed for lack of memory: with the limit, for a day, before all else', () => {
    const killed = (msAgo: number) =>
      withStatus({
        ready: true,
        running: { startedAt: at(0) },
        restartCount: 3,
        lastTermination: ended(msAgo, { exitCode: 137, reason: 'OOMKilled' }),
      });
    expect(answer({ pod: killed(3_000) })).toMatchObject({
      line: 'web was killed for lack of memory (OOMKilled), 3 s ago, restarted 3 times: it needs more than its memory limit of 128Mi',
      rank: 1,
    });
    expect(answer({ pod: killed(7_200_000) }).rank).toBe(2);
    expect(answer({ pod: killed(86_400_000) }).codes).toEqual([]);
  });
});

describe('init containers and sidecars', () => {
  const init = { ...CALM, name: 'migrate' };
  const sidecar = { ...CALM, name: 'proxy', restartPolicy: 'Always' };
  const of = (parts: object, initContainers = [init]) =>
    podOf({
      spec: { initContainers },
      status: {
        phase: 'Pending',
        containerStatuses: [aStatus({ waiting: { reason: 'PodInitializing', message: '' } })],
        initContainerStatuses: [aStatus({ name: initContainers[0]!.name, ...parts })],
      },
    });

  it('are named as what they are', () => {
    expect(answer({ pod: of({ waiting: WAITING, restartCount: 2, lastTermination: ended(5_000) }) }).line).toMatch(
      /^the init container migrate exited with code 1/,
    );
    expect(
      answer({ pod: of({ waiting: WAITING, restartCount: 2, lastTermination: ended(5_000) }, [sidecar]) }).line,
    ).toMatch(/^the sidecar proxy exited with code 1/);
  });

  it('that have done their work are no finding', () => {
    expect(answer({ pod: of({ terminated: ended(5_000, { exitCode: 0 }), restartCount: 1 }) }).codes).toEqual([]);
  });

  it('that run for more than a minute hold the pod up, with what they say', () => {
    const running = (ms: number) => of({ running: { startedAt: at(-ms) } });
    expect(answer({ pod: running(60_000) })).toMatchObject({ codes: ['init_waiting'], rank: 3 });
    const logs = [quietLog('migrate', [shape({ level: 'warning', line: 'waiting for db' })])];
    expect(answer({ pod: running(61_000), logs })).toMatchObject({
      codes: ['init_waiting'],
      rank: 2,
      line: 'the init container migrate has been running for 1 min 1 s, and the pod’s own containers wait for it: “waiting for db”',
    });
    const calm = [{ ...quietLog('migrate'), newest: 'waiting for db:5432' }];
    expect(answer({ pod: running(61_000), logs: calm }).line).toContain('wait for it: “waiting for db:5432”');
  });
});

describe('a pod that is over', () => {
  it('finished: says when, and that it is no error', () => {
    const pod = withStatus({ terminated: ended(180_000, { exitCode: 0 }) }, {}, 'Succeeded');
    expect(answer({ pod })).toMatchObject({
      line: 'the pod finished 3 min ago: all its containers exited with code 0, which is no error',
      codes: expect.not.arrayContaining(['restarts']),
    });
    expect(answer({ pod }).healthy).toBeUndefined();
  });

  it('failed: by its last words, at any age', () => {
    const pod = withStatus({ terminated: ended(7_200_000) }, {}, 'Failed');
    expect(answer({ pod, lastWords: [words('no such table')] })).toMatchObject({
      line: 'web exited with code 1, 2 h ago: “no such table”',
      codes: ['restarts'],
      rank: 1,
    });
    const { status, ...rest } = pod;
    expect(answer({ pod: { ...rest, status: { ...status, containerStatuses: [] } } }).line).toBe('the pod failed');
    expect(
      answer({ pod: { ...rest, status: { ...status, containerStatuses: [], reason: 'DeadlineExceeded' } } }).line,
    ).toContain('longer than its activeDeadlineSeconds');
  });

  it('failed as a whole: what killed its containers is no end of their own', () => {
    const of = (exitCode: number) => {
      const { status, ...rest } = withStatus({ terminated: ended(2_000, { exitCode }) }, {}, 'Failed');
      return answer({ pod: { ...rest, status: { ...status, reason: 'DeadlineExceeded' } } });
    };
    expect(of(137)).toMatchObject({ line: expect.stringContaining('activeDeadlineSeconds'), codes: ['pod_failed'] });
    expect(of(3)).toMatchObject({ line: expect.stringContaining('exited with code 3') });
  });

  it('was evicted: why, and what replaced it', () => {
    const pod = podOf({
      status: {
        phase: 'Failed',
        reason: 'Evicted',
        message: 'The node was low on resource: memory. Threshold quantity: 100Mi',
        containerStatuses: [],
      },
    });
    const newer = podOf({ metadata: { name: 'web-2', uid: 'uid-2', creationTimestamp: at(-60_000) } });
    const { line, codes } = answer({ pod, versionedPods: [pod, newer] });
    expect(line).toMatch(
      /^the pod was evicted: its node ran low on memory: “.*; the Deployment web has started web-2 since$/,
    );
    expect(codes[0]).toBe('evicted');
  });
});

describe('a pod that is being deleted', () => {
  const deleted = (ms: number, parts: object = {}) => podOf({ metadata: { deletionTimestamp: at(-ms), ...parts } });

  it('is stuck a minute after its time', () => {
    expect(answer({ pod: deleted(60_000) })).toMatchObject({ code: 'being_deleted', line: 'the pod is being deleted' });
    expect(answer({ pod: deleted(61_000) })).toMatchObject({
      code: 'stuck_deleting',
      line: 'the pod was deleted and should have been gone 1 min 1 s ago, and its containers have not ended',
    });
  });

  it('may use a long grace period, and says what it does with it', () => {
    const logs = [{ ...quietLog(), newest: 'draining, 1418 messages left' }];
    expect(answer({ pod: deleted(-30_000), logs }).line).toBe('the pod is being deleted');
    expect(answer({ pod: deleted(-600_000), logs }).line).toBe(
      'the pod is being deleted: web may take 10 min more to end; it says “draining, 1418 messages left”',
    );
  });

  it('is held by finalizers, by a lost node first', () => {
    const pod = deleted(90_000, { finalizers: ['shop.example.com/backup'] });
    expect(answer({ pod }).line).toContain('the finalizer shop.example.com/backup still holds it');
    const node = { name: 'node-a', conditions: [{ type: 'Ready', status: 'Unknown' }] };
    expect(answer({ pod, node })).toMatchObject({
      line: 'the pod’s node node-a no longer answers',
      codes: ['node_not_ready', 'stuck_deleting'],
    });
  });

  it('is told at once where only a finalizer can hold it, and not as a failure', () => {
    const pod = {
      ...deleted(6_000, { finalizers: ['a/b'] }),
      status: withStatus({ terminated: ended(6_000, { exitCode: 137 }) }, {}, 'Failed').status,
    };
    expect(answer({ pod }).codes).toEqual(['stuck_deleting']);
  });
});

describe('a pod that a helper keeps from its end', () => {
  const helped = (msAgo: number, kind?: string) =>
    podOf({
      metadata: { ownerReferences: kind === undefined ? [] : [{ kind, name: 'report', controller: true }] },
      spec: { containers: [CALM, { ...CALM, name: 'proxy' }] },
      status: {
        containerStatuses: [
          aStatus({ terminated: ended(msAgo, { exitCode: 0 }) }),
          aStatus({ name: 'proxy', ready: true, running: { startedAt: at(-3_600_000) } }),
        ],
        unmetConditions: [{ type: 'Ready', reason: 'ContainersNotReady', message: '', since: at(-msAgo) }],
      },
    });

  it('is told after a minute, with how to make the helper a sidecar', () => {
    expect(answer({ pod: helped(61_000) })).toMatchObject({
      line: 'web finished with code 0 1 min 1 s ago, and proxy still runs, so the pod does not end',
      codes: ['helper_runs_on'],
      rank: 2,
    });
    expect(answer({ pod: helped(60_000, 'Job') })).toMatchObject({ codes: ['helper_runs_on'], rank: 3 });
  });

  it('is not one whose containers are started again', () => {
    expect(answer({ pod: helped(61_000, 'ReplicaSet') }).codes).not.toContain('helper_runs_on');
  });
});

it('says no usual meaning of an exit code that the last words know better', () => {
  const line = '/app/x: error while loading shared libraries: libvips.so.42: cannot open shared object file';
  const pod = withStatus({ terminated: ended(5_000, { exitCode: 127 }) });
  expect(answer({ pod, lastWords: [{ containerName: 'web', line, more: [] }] }).line).toMatch(
    /^the library libvips\.so\.42 is not in the image: web exited with code 127, 5 s ago/,
  );
});
