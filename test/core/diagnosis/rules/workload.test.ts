import { describe, expect, it } from 'vitest';
import type { WorkloadFacts } from '../../../../src/core/diagnosis/facts.ts';
import { firstWorkloadAnswer } from '../../../../src/core/diagnosis/first-answer.ts';
import { about, at, aWorkload, ended, factsOf, podOf, unscheduled, withStatus, workloadFacts } from './facts.ts';

const answerTo = (parts: Partial<WorkloadFacts> = {}) => {
  const { verdict, groups } = firstWorkloadAnswer(workloadFacts(parts));
  return { ...verdict, groups, codes: verdict.findings.map(({ code }) => code), next: verdict.findings[0]?.next ?? '' };
};

const condition = (type: string, status: string, reason: string, msAgo = 180_000) => ({
  type,
  status,
  reason,
  message: '',
  since: at(-msAgo),
});
const named = (pod: ReturnType<typeof podOf>, name: string) => ({
  ...pod,
  metadata: { ...pod.metadata, name, uid: name },
});
const crashing = (name: string) =>
  factsOf({
    pod: named(
      withStatus({
        waiting: { reason: 'CrashLoopBackOff', message: '' },
        restartCount: 4,
        lastTermination: ended(5_000),
      }),
      name,
    ),
    logs: [],
    lastWords: [{ containerName: 'web', line: 'no database', more: [] }],
  });
const NOT_CREATED = (why: string) => [
  about('ReplicaSet', 'web-aaa', 'FailedCreate', `Error creating: pods "web-aaa-x" is forbidden: ${why}`),
];
const EMPTY = { pods: [], workload: aWorkload({ ready: 0 }) };

describe('a workload that is well', () => {
  it('has a tick only where each of its pods has one, and all that it wants are there', () => {
    expect(answerTo()).toMatchObject({
      line: 'Healthy: 3 of 3 pods ready, and their logs are calm',
      healthy: true,
      findings: [],
      groups: [{ text: 'all 3 pods: ready, nothing found', podNames: ['web-1', 'web-2', 'web-3'] }],
    });
    const [first, ...others] = workloadFacts().pods;
    expect(answerTo({ pods: [{ ...first!, logs: [] }, ...others] })).toMatchObject({
      line: 'Nothing found so far: 3 of 3 pods ready',
      unseen: ['the log of web: it was not read', 'the logs of 1 of 3 pods'],
    });
    expect(answerTo({ workload: undefined }).healthy).toBeUndefined();
  });

  it('is not settled while a rollout goes on', () => {
    const { codes, healthy, findings } = answerTo({ workload: aWorkload({ updated: 1 }) });
    expect([codes, healthy, findings[0]?.rank]).toEqual([['rollout_going_on'], undefined, 3]);
  });

  it('has finished, as a Job', () => {
    const workload = aWorkload({
      kind: 'job',
      name: 'seed',
      wanted: 1,
      ready: 1,
      conditions: [condition('Complete', 'True', '')],
    });
    expect(answerTo({ kind: 'job', name: 'job/seed', workload, pods: [] })).toMatchObject({
      line: 'the Job seed finished 3 min ago: 1 pod succeeded',
      codes: ['job_done'],
    });
  });
});

describe('a workload whose pods fail', () => {
  it('groups them by their worst finding, the worst first', () => {
    const pods = [crashing('web-1'), factsOf({ pod: named(podOf(), 'web-2') }), crashing('web-3')];
    const found = answerTo({ pods, workload: aWorkload({ ready: 1 }) });
    expect(found.groups).toEqual([
      {
        text: '2 of 3 pods: web exited with code 1, 5 s ago, restarted 4 times: “no database”',
        rank: 1,
        podNames: ['web-1', 'web-3'],
      },
      { text: '1 of 3 pods: ready, nothing found', podNames: ['web-2'] },
    ]);
    expect(found.line).toBe(
      '1 of 3 pods ready: 2 of 3 pods: web exited with code 1, 5 s ago, restarted 4 times: “no database”',
    );
    expect(found.evidence).toEqual([{ title: 'Last words of web', lines: ['no database'] }]);
    expect(found.codes).toEqual(['crash_loop']);
  });

  it('does not progress: the cause first', () => {
    const workload = aWorkload({
      ready: 3,
      updated: 1,
      conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')],
    });
    const pods = [...workloadFacts().pods, crashing('web-4')];
    expect(answerTo({ workload, pods })).toMatchObject({
      codes: ['crash_loop', 'rollout_stuck'],
      line: expect.stringMatching(/^3 of 3 pods ready, but 1 of 4 pods: web exited/),
    });
  });

  it('has too few that are ready, where nothing else says why', () => {
    expect(answerTo({ workload: aWorkload({ ready: 2 }) })).toMatchObject({
      line: '2 of 3 pods of the Deployment web are ready',
      codes: ['too_few_ready'],
    });
  });

  it('asks of its pods what the scheduler says', () => {
    const pods = [factsOf({ pod: unscheduled('0/1 nodes are available: 1 Too many pods.'), logs: [] })];
    expect(answerTo({ pods, workload: aWorkload({ wanted: 1, ready: 0 }) }).line).toBe(
      '0 of 1 pod ready: no node can run the pod: its nodes hold as many pods as they may',
    );
  });
});

describe('a workload whose pods cannot be created', () => {
  it.each([
    [
      'failed quota: compute: must specify limits.cpu for: web',
      'the quota compute requires limits.cpu, which its containers do not set',
    ],
    [
      'exceeded quota: compute, requested: limits.cpu=2, used: limits.cpu=1, limited: limits.cpu=1',
      'the quota compute is used up: requested limits.cpu=2, used limits.cpu=1, limited to limits.cpu=1',
    ],
    [
      'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false',
      'Pod Security restricted of its namespace forbids them: “allowPrivilegeEscalation != false”',
    ],
    [
      'maximum memory usage per Container is 64Mi, but limit is 256Mi',
      'a LimitRange allows at most 64Mi of memory for each container, and the limit is 256Mi',
    ],
    [
      'error looking up service account shop/app: serviceaccount "app" not found',
      'the ServiceAccount app does not exist',
    ],
    ['something new', '“something new”'],
  ])('says why: %s', (why, words) => {
    expect(answerTo({ ...EMPTY, warnings: NOT_CREATED(why) })).toMatchObject({
      line: `0 of 3 pods ready: the ReplicaSet web-aaa cannot create pods: ${words}`,
      codes: ['cannot_create'],
    });
  });

  it('names a webhook that is down or refuses', () => {
    const message =
      'Error creating: Internal error occurred: failed calling webhook "pods.example.com": failed to call webhook: Post "https://hook.shop.svc:443/": dial tcp 10.0.0.9:443: connect: connection refused';
    expect(answerTo({ ...EMPTY, warnings: [about('ReplicaSet', 'web-aaa', 'FailedCreate', message)] }).line).toContain(
      'the admission webhook pods.example.com does not answer: “connect: connection refused”',
    );
    const denied = 'admission webhook "pods.example.com" denied the request: no latest tag';
    expect(answerTo({ ...EMPTY, warnings: NOT_CREATED(denied) }).line).toContain('refuses them: “no latest tag”');
  });

  it('believes a warning for 20 minutes, while pods are missing', () => {
    const old = (ms: number) => [about('ReplicaSet', 'web-aaa', 'FailedCreate', 'x', ms)];
    expect(answerTo({ ...EMPTY, warnings: old(1_200_000) }).codes).toEqual(['cannot_create']);
    expect(answerTo({ ...EMPTY, warnings: old(1_201_000) }).codes).not.toContain('cannot_create');
    expect(answerTo({ warnings: old(1_000) }).codes).toEqual([]);
  });
});

describe('a Job', () => {
  const job = (parts = {}) =>
    ({
      kind: 'job',
      name: 'job/migrate',
      workload: aWorkload({ kind: 'job', name: 'migrate', wanted: 1, ready: 0, backoffLimit: 2, ...parts }),
    }) as const;

  it('that failed says so, with the last words of its pods', () => {
    const pod = named(withStatus({ terminated: ended(5_000) }, {}, 'Failed'), 'migrate-x');
    const pods = [factsOf({ pod, logs: [], lastWords: [{ containerName: 'web', line: 'no such column', more: [] }] })];
    expect(answerTo({ ...job({ conditions: [condition('Failed', 'True', 'BackoffLimitExceeded')] }), pods }).line).toBe(
      'the Job migrate failed 3 min ago: its pods failed more often than its backoffLimit of 2 allows: web exited with code 1, 5 s ago: “no such column”',
    );
  });

  it('that has removed its pods is told by its condition, or by its event', () => {
    const line =
      'the Job migrate failed 3 min ago: it ran for longer than its activeDeadlineSeconds; its pods are gone, and their last words with them';
    expect(
      answerTo({ ...job({ conditions: [condition('Failed', 'True', 'DeadlineExceeded')] }), pods: [] }),
    ).toMatchObject({ line, codes: ['job_failed'] });
    const warnings = [
      about('Job', 'migrate', 'DeadlineExceeded', 'Job was active longer than specified deadline', 180_000),
    ];
    expect(answerTo({ ...job(), workload: undefined, pods: [], warnings }).line).toBe(line);
  });

  it('that is suspended starts no pods', () => {
    expect(answerTo({ ...job({ suspended: true }), pods: [] })).toMatchObject({
      line: 'the Job migrate is suspended: it starts no pods',
      codes: ['suspended'],
    });
    const cron = {
      kind: 'cronjob',
      name: 'cronjob/report',
      workload: aWorkload({ kind: 'cronjob', name: 'report', suspended: true }),
    } as const;
    expect(answerTo({ ...cron, pods: [] }).codes).toEqual(['suspended']);
  });
});

describe('a workload without pods', () => {
  it('wants none, is paused, or nothing says why', () => {
    expect(answerTo({ pods: [], workload: aWorkload({ wanted: 0, ready: 0, updated: 0 }) })).toMatchObject({
      line: 'the Deployment web wants 0 pods: it is scaled to zero',
      codes: ['none_wanted'],
    });
    expect(answerTo({ workload: aWorkload({ suspended: true, updated: 1 }) })).toMatchObject({
      line: 'the Deployment web is paused: it does not roll out changes, and 1 of 3 pods are of the new version',
      codes: ['suspended'],
    });
    const notRead = [{ what: 'workload', why: 'forbidden' }] as const;
    expect(answerTo({ pods: [], workload: undefined, warnings: undefined, notRead })).toMatchObject({
      codes: ['no_pods'],
      unseen: [
        'its workload: the right is missing (get this kind of workload, optional)',
        'its warnings and probes: they were not read',
      ],
    });
  });
});
