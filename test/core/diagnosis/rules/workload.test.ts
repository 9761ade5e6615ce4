import { describe, expect, it } from 'vitest';
import type { WorkloadFacts } from '../../../../src/core/diagnosis/facts/facts.ts';
import { firstWorkloadAnswer } from '../../../../src/core/diagnosis/workload/workload-answer.ts';
import { START_MS } from '../../../support/builders.ts';
import { about, at, aWorkload, ended, factsOf, podOf, unscheduled, withStatus, workloadFacts } from './facts.ts';

const answerTo = (parts: Partial<WorkloadFacts> = {}) => {
  const verdict = firstWorkloadAnswer(workloadFacts(parts));
  return { ...verdict, codes: verdict.findings.map(({ code }) => code), next: verdict.findings[0]?.next ?? '' };
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
      line: 'Healthy: 3 of 3 pods ready, no errors in their logs; no look inside yet',
      healthy: true,
      findings: [],
      groups: [{ text: 'all 3 pods: ready, nothing found', podNames: ['web-1', 'web-2', 'web-3'] }],
    });
    const [first, ...others] = workloadFacts().pods;
    expect(answerTo({ pods: [{ ...first!, logs: [] }, ...others] })).toMatchObject({
      line: 'Nothing found so far: 3 of 3 pods ready, the logs of 2 read',
      unseen: ['the logs of 1 of 3 pods: too many for one answer; ask for one of them by its name'],
    });
    expect(answerTo({ workload: undefined }).healthy).toBeUndefined();
  });

  it('is not settled while a rollout goes on', () => {
    const { codes, healthy, findings } = answerTo({ workload: aWorkload({ updated: 1 }) });
    expect([codes, healthy, findings[0]?.rank]).toEqual([['rollout_going_on'], undefined, 3]);
  });

  it('counts what it wants, and what is beyond that apart', () => {
    const pods = [1, 2, 3].map((number) => factsOf({ pod: named(podOf(), `web-${number}`), logs: [] }));
    expect(answerTo({ pods, workload: aWorkload({ wanted: 2, ready: 3, updated: 2 }) })).toMatchObject({
      line: 'a rollout of the Deployment web is in progress: the new pods are there, and 1 more is still to go',
    });
    const crash = [...pods.slice(0, 2), crashing('web-3')];
    expect(answerTo({ pods: crash, workload: aWorkload({ wanted: 1, ready: 2 }) }).line).toMatch(
      / \(1 of 3 pods\) · 1 of 1 pod ready, and 1 more$/,
    );
  });

  it('is held back by its own strategy, which waiting does not change', () => {
    const answer = answerTo({ workload: aWorkload({ updated: 1, heldBack: 'partition 2' }) });
    expect(answer.line).toBe(
      'the rollout of the Deployment web is held back by its updateStrategy (partition 2): 1 of 3 pods is of the new version',
    );
    expect(answer.next).toMatch(/^Lower the partition/);
    expect(answer.healthy).toBeUndefined();
    expect(answerTo({ workload: aWorkload({ updated: 1, heldBack: 'OnDelete' }) }).next).toMatch(/^Delete the pods/);
  });

  it('says of how many pods the log was read', () => {
    const [first, ...others] = workloadFacts().pods;
    const pods = [first!, ...others.map((each) => ({ ...each, logs: [] }))];
    expect(answerTo({ pods })).toMatchObject({
      line: 'Nothing found so far: 3 of 3 pods ready, the logs of 1 read',
      groups: [{ text: 'all 3 pods: ready, nothing found (log of 1 of 3 read)' }],
      unseen: ['the logs of 2 of 3 pods: too many for one answer; ask for one of them by its name'],
    });
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
      'web exited with code 1, 5 s ago, restarted 4 times: “no database” (2 of 3 pods) · 1 of 3 pods ready',
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
      line: expect.stringMatching(/^web exited .* \(1 of 4 pods\) · 3 of 3 pods ready$/),
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
      'no node can run the pod: its nodes hold as many pods as they may · 0 of 1 pod ready',
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
      'a LimitRange allows 64Mi of memory for a container, but its limit is 256Mi',
    ],
    [
      'error looking up service account shop/app: serviceaccount "app" not found',
      'the ServiceAccount app does not exist',
    ],
    ['something new', '“something new”'],
  ])('says why: %s', (why, words) => {
    expect(answerTo({ ...EMPTY, warnings: NOT_CREATED(why) })).toMatchObject({
      line: `no pod can be created: ${words} · 0 of 3 pods ready`,
      codes: ['cannot_create'],
    });
  });

  it('is not told to wait for a rollout that cannot go on', () => {
    const workload = aWorkload({ ready: 0, updated: 0 });
    expect(answerTo({ pods: [], workload, warnings: NOT_CREATED('something new') }).codes).toEqual(['cannot_create']);
  });

  it('names the ReplicaSet only where nobody asked for its workload, and says whether there are pods', () => {
    const warnings = NOT_CREATED('exceeded quota');
    const one = { pods: workloadFacts().pods.slice(0, 1), workload: aWorkload({ ready: 1 }), warnings };
    expect(answerTo(one).line).toContain('no further pod can be created: ');
    expect(answerTo({ ...one, kind: 'selector', name: '-l app=web', workload: undefined }).line).toContain(
      'the ReplicaSet web-aaa cannot create pods: ',
    );
  });

  it('names an admission policy, also in the last of many similar events', () => {
    const message =
      "(combined from similar events): Error creating: pods \"web-x\" is forbidden: ValidatingAdmissionPolicy 'team' with binding 'team' denied request: every pod needs the label team";
    expect(answerTo({ ...EMPTY, warnings: [about('ReplicaSet', 'web-aaa', 'FailedCreate', message)] }).line).toBe(
      'no pod can be created: the admission policy team refuses them: “every pod needs the label team” · 0 of 3 pods ready',
    );
    const unknown = [
      about('ReplicaSet', 'web-aaa', 'FailedCreate', '(combined from similar events): Error creating: odd'),
    ];
    expect(answerTo({ ...EMPTY, warnings: unknown }).line).toContain('created: “odd”');
  });

  it('lists what Pod Security wants, however long its words are', () => {
    const why =
      'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "web" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "web" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "web" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "web" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")';
    expect(answerTo({ ...EMPTY, warnings: NOT_CREATED(why) })).toMatchObject({
      line: 'no pod can be created: Pod Security restricted of its namespace forbids them: “allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile” · 0 of 3 pods ready',
      next: 'Set securityContext.allowPrivilegeEscalation and what else it asks for in the manifest of the Deployment web. It asks for securityContext.allowPrivilegeEscalation=false, securityContext.capabilities.drop=["ALL"], securityContext.runAsNonRoot=true, securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost".',
    });
  });

  it('says what is wrong with a webhook, without its address', () => {
    const message =
      'Error creating: Internal error occurred: failed calling webhook "pods.example.com": failed to call webhook: Post "https://hook.shop.svc:443/check?timeout=1s": service "hook" not found';
    expect(answerTo({ ...EMPTY, warnings: [about('ReplicaSet', 'web-aaa', 'FailedCreate', message)] }).line).toContain(
      'does not answer: “service "hook" not found”',
    );
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
      'web exited with code 1, 5 s ago: “no such column” · the Job failed',
    );
  });

  it('that has removed its pods is told by its condition, or by its event', () => {
    const line =
      'the Job migrate failed 3 min ago: it ran for longer than its activeDeadlineSeconds; its pods are gone, and their last words with them';
    expect(
      answerTo({ ...job({ conditions: [condition('Failed', 'True', 'DeadlineExceeded')] }), pods: [] }),
    ).toMatchObject({ line, codes: ['job_too_slow'] });
    const warnings = [
      about('Job', 'migrate', 'DeadlineExceeded', 'Job was active longer than specified deadline', 180_000),
    ];
    expect(answerTo({ ...job(), workload: undefined, pods: [], warnings }).line).toBe(line);
  });

  it('that works says how long its pods have run, and that nothing of it is unchecked', () => {
    const pods = [factsOf({ pod: named(podOf({ metadata: { creationTimestamp: at(-120_000) } }), 'migrate-x') })];
    const answer = answerTo({ ...job({ active: 1 }), pods });
    expect(answer.line).toBe('Nothing found so far: 1 pod runs, for 2 min, 0 of 1 succeeded');
    expect([answer.unseen, answer.healthy]).toEqual([undefined, undefined]);
  });

  it('of a CronJob has finished: the newest is told about, and no Job at all is said with the schedule', () => {
    const done = (name: string, msAgo: number) =>
      factsOf({
        pod: named(withStatus({ terminated: ended(msAgo, { exitCode: 0 }) }, {}, 'Succeeded'), name),
        logs: [],
      });
    const cron = (parts = {}) =>
      ({
        kind: 'cronjob',
        name: 'cronjob/report',
        workload: {
          ...aWorkload({ kind: 'cronjob', name: 'report', schedule: '0 0 30 2 *', ...parts }),
          wanted: undefined,
        },
      }) as never;
    expect(
      answerTo({ ...Object(cron()), pods: [done('report-1-a', 90_000), done('report-2-b', 30_000)] }).line,
    ).toMatch(/^both pods: the newest finished 30 s ago: /);
    const failed = named(withStatus({ terminated: ended(90_000) }, {}, 'Failed'), 'report-1-a');
    const healed = answerTo({
      ...Object(cron()),
      pods: [factsOf({ pod: failed, logs: [] }), done('report-2-b', 30_000)],
    });
    expect([healed.line, healed.findings[0]?.rank]).toEqual([
      'web exited with code 1, 1 min 30 s ago (1 of 2 pods) · its newest pod finished well',
      2,
    ]);
    expect(answerTo({ ...Object(cron()), pods: [] })).toMatchObject({
      line: 'the schedule “0 0 30 2 *” has started no Job since the CronJob was created, 1 h ago',
      codes: ['no_job_now'],
    });
    expect(answerTo({ ...Object(cron({ lastScheduledAtMs: START_MS - 60_000 })), pods: [] }).line).toBe(
      'no Job of the schedule “0 0 30 2 *” runs: the last was started 1 min ago, and none of its pods is left',
    );
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
