import type { BatchEvent } from '../../../src/core/batch/batch.ts';
import type { Pod } from '../../../src/core/container/pod.ts';
import type { ClusterFacts } from '../../../src/core/diagnosis/facts/facts.ts';
import type { Verdict } from '../../../src/core/diagnosis/facts/verdict.ts';
import type { Target } from '../../../src/core/request/command.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { type PodDescription, podMessage } from '../../../src/core/say/answers/describe-message.ts';
import { listMessage } from '../../../src/core/say/answers/list-message.ts';
import { showMessage } from '../../../src/core/say/answers/run-for-one.ts';
import { copyMessage } from '../../../src/core/say/run/copy-messages.ts';
import { anchorMessage, type RenderContext, resultMessage } from '../../../src/core/say/run/run-messages.ts';
import { aBatchRun } from '../../core/say/batch/a-batch-run.ts';
import { anApproval, aPlan, aPod, aRun, aTermination, START_MS } from '../builders.ts';
import type { Example, MessageKind } from './kinds.ts';
import { armed } from './run-messages.ts';

const NOW: RenderContext = {
  approvers: { sre: { usergroup: 'S0SRE', users: [] } },
  nowMs: START_MS + 3_000,
};

const LONG_NAME = 'checkout-worker-payments-eu-west-7d9f8b6c5-abcde';

const CRASH: Verdict = {
  line: 'web exited with code 1, 12 s ago: “DATABASE_URL is not set”',
  findings: [
    {
      code: 'crash_loop',
      text: 'web exited with code 1, 12 s ago: “DATABASE_URL is not set”',
      next: 'Set DATABASE_URL in the pod template; Kubernetes starts it again in 20 s.',
      rank: 1,
    },
    { code: 'no_memory_limit', text: 'web has no memory limit', next: 'Set resources.limits.memory.', rank: 3 },
  ],
  evidence: [
    {
      title: 'Last words of web',
      lines: [
        'starting',
        'loading /etc/app.yaml',
        'Error: DATABASE_URL is not set',
        '    at config (/app/config.js:12:9)',
      ],
    },
  ],
  unseen: ['node: kdebug may not read it (missing optional right: get nodes)'],
  readAtMs: START_MS + 400,
};

const LONG_LINE =
  'web cannot start: the Secret shop/payments-database-credentials-production has no key “connection-string”, which its variable DATABASE_URL takes, last 2 min 3 s ago; 4 other keys are there';
const LONG: Verdict = {
  line: LONG_LINE,
  findings: [
    { code: 'not_starting', text: LONG_LINE, next: 'Add the key, or correct the name of the variable.', rank: 1 },
  ],
  readAtMs: START_MS + 400,
};

const ERRORS_TEXT =
  'the pool of connections is exhausted: web logs 20 × “Timeout waiting for connection from pool”, last 3 min ago';
const ERRORS: Verdict = {
  line: `Ready; worth knowing: ${ERRORS_TEXT}`,
  findings: [
    {
      code: 'log_errors',
      text: ERRORS_TEXT,
      next: 'Look for connections that are not given back, or allow more of them on both sides.',
      rank: 3,
    },
  ],
  evidence: [{ title: 'Errors in the log of web', lines: ['20 × Timeout waiting for connection from pool'] }],
  readAtMs: START_MS + 400,
};

const UNREAD: Verdict = {
  line: 'Nothing found so far: ready, never restarted',
  findings: [],
  fine: 'restarts, probes, events, memory, cpu',
  unseen: [
    'node: kdebug may not read it (missing optional right: get nodes)',
    'its own log (the rule does not allow it)',
  ],
  readAtMs: START_MS + 400,
};
const { unseen: _, ...seen } = UNREAD;
const HEALTHY: Verdict = {
  ...seen,
  line: 'Healthy: ready, never restarted, no errors in its log; no look inside yet',
  healthy: true,
};
/** Of a run that looked: its image reported. */
const BY = 'autodiagnose 0.2.0';
const LOOKED = {
  line: 'Ready, never restarted; nothing found in 13 sections; no look into its threads',
  nextImage: 'stacks',
  by: BY,
};
/** Only an image that sees inside the program can call it well. */
const SAW_INSIDE = {
  line: 'Healthy: ready, never restarted, no errors in its log; no deadlock, and no queue at a lock.',
  by: 'stacks 0.2.0',
};

const WORKLOAD: Verdict = {
  line: `${CRASH.line} (2 of 3 pods) · 1 of 3 pods ready`,
  findings: CRASH.findings.slice(0, 1).map((finding) => ({ ...finding, text: `${finding.text} (2 of 3 pods)` })),
  groups: [
    { text: `2 of 3 pods: ${CRASH.line}`, rank: 1, podNames: ['web-7d9f8b6c5-abcde', 'web-7d9f8b6c5-fghij'] },
    { text: '1 of 3 pods: ready, nothing found', podNames: ['web-7d9f8b6c5-klmno'] },
  ],
  readAtMs: START_MS + 400,
};

const asked = (verdict: Verdict, parts: Partial<Run> = {}): Run =>
  aRun({
    plan: aPlan(),
    planHash: '0123456789abcdef',
    commandLine: 'web-1',
    approvedAtMs: START_MS,
    decision: { kind: 'allow', rule: 'look' },
    verdict,
    ...parts,
  });
const answered = (verdict: Verdict, parts: Partial<Run> = {}): Run =>
  asked(verdict, {
    state: 'finished',
    outcome: { kind: 'answered' },
    endedAtMs: START_MS + 500,
    finishedAtMs: START_MS + 500,
    ...parts,
  });
const looked = (verdict: Verdict, parts: Partial<Run> = {}): Run =>
  asked(verdict, {
    state: 'finished',
    outcome: { kind: 'succeeded' },
    termination: aTermination(),
    launchedAtMs: START_MS,
    finishedAtMs: START_MS + 2_500,
    ...parts,
  });

const DEPLOYMENT: Target = { kind: 'workload', workload: 'deployment', name: 'web' };
const ofWorkload = (run: Run): Run => ({ ...run, request: { ...run.request, target: DEPLOYMENT } });
const lookedInto = (index: number): readonly BatchEvent[] => [
  { kind: 'launched', index },
  {
    kind: 'ended',
    index,
    result:
      index === 0
        ? { outcome: 'succeeded', looked: true }
        : {
            outcome: 'succeeded',
            looked: true,
            findings: ['memory_near_limit'],
            message: '1 finding: memory at 95% of its limit',
          },
  },
];
const batchOf = (verdict: Verdict, run: Partial<Run> = {}) => {
  const batch = aBatchRun({ size: 2, events: run.state === 'finished' ? [0, 1].flatMap(lookedInto) : [] });
  return { ...batch, ...run, verdict, request: { ...batch.request, target: DEPLOYMENT } };
};
const FINISHED: Partial<Run> = { outcome: { kind: 'answered', because: 'pod_finished' } };

const card = (name: string, run: Run, context: Partial<RenderContext> = {}): Example => ({
  name,
  message: anchorMessage(run, { ...NOW, ...context }),
});
const result = (name: string, run: Run, isPrivate = false): Example => ({
  name,
  message: resultMessage(run, { isPrivate }),
});

const described = (pod: Pod, facts: Partial<ClusterFacts> = {}): PodDescription => ({
  facts: {
    pod,
    targetContainerName: 'web',
    versionedPods: [],
    events: [],
    node: undefined,
    nowMs: START_MS + 60_000,
    ...facts,
  },
  cluster: 'prod',
  podSecurity: 'baseline',
  possible: { kind: 'deny', code: 'channel_unknown', subject: 'C1' },
  earlier: [],
});

const CHANGED = 'Deployment changed 12 min ago by Argo CD (application shop), revision 14, version 4f2d9c1';

/** What a question about a pod or a workload shows: the answer at once, and what the look inside adds. */
export const ANSWER_MESSAGES: readonly MessageKind[] = [
  {
    file: 'answers/cards',
    isCard: true,
    examples: [
      card('launching', asked(CRASH, { state: 'launching', launchedAtMs: START_MS })),
      card('approved', asked(ERRORS, { state: 'approved' })),
      card(
        'starting, and waiting',
        asked(ERRORS, {
          state: 'starting',
          launchedAtMs: START_MS,
          waiting: { reason: 'ErrImagePull', message: 'not found' },
        }),
      ),
      card('running', asked(ERRORS, { state: 'running', startedAtMs: START_MS + 1_000 }), { tail: 'line 8\n' }),
      card('collecting', asked(CRASH, { state: 'collecting' })),
      card('nothing found yet, its log not read', asked(UNREAD, { state: 'running', startedAtMs: START_MS })),
      card('nothing found yet, its log read', asked(HEALTHY, { state: 'running', startedAtMs: START_MS })),
      card('output private', asked(CRASH, { state: 'running', startedAtMs: START_MS }), { isPrivate: true }),
      card('waiting for approval', asked(CRASH, { state: 'pending-approval', approval: anApproval() })),
      card(
        'waiting for approval, output private',
        asked(CRASH, { state: 'pending-approval', approval: anApproval() }),
        {
          isPrivate: true,
        },
      ),
      {
        name: 'the copy for an approver',
        message: copyMessage(asked(CRASH, { state: 'pending-approval', approval: anApproval() }), NOW, undefined),
      },
      card('expired', asked(CRASH, { state: 'expired', approval: anApproval() })),
      card('answered', answered(CRASH)),
      card('answered: the pod has finished', answered(CRASH, FINISHED)),
      card(
        'answered, with siblings',
        answered(
          { ...CRASH, siblings: 2, nextImage: 'stacks' },
          { plan: aPlan({ workload: { kind: 'deployment', name: 'web' } }) },
        ),
      ),
      card('answered, output private', answered(CRASH), { isPrivate: true }),
      card('answered, changed a short while ago', answered({ ...CRASH, changed: CHANGED })),
      card('a long cause and a long name', answered(LONG, { plan: aPlan({ podName: LONG_NAME }) })),
      card('the look has ended: nothing more, its log not read', looked({ ...UNREAD, ...LOOKED })),
      card('the look has ended: healthy', looked({ ...HEALTHY, ...SAW_INSIDE })),
      card(
        'the look could not start',
        looked(CRASH, { outcome: { kind: 'start-failed', reason: 'ErrImagePull', message: 'not found' } }),
      ),
      card('one pod of a workload', ofWorkload(asked(WORKLOAD, { state: 'running', startedAtMs: START_MS }))),
      card('no pod of a workload runs', ofWorkload(answered(WORKLOAD))),
      card('a look into a pod of each group', batchOf(WORKLOAD)),
      card('the looks into a workload have ended', batchOf(WORKLOAD, { state: 'finished' })),
      card('a workload waits for approval', batchOf(WORKLOAD, { state: 'pending-approval', approval: anApproval() })),
      card('a workload, output private', batchOf(WORKLOAD), { isPrivate: true }),
    ],
  },
  {
    file: 'answers/results',
    isCard: true,
    isResult: true,
    examples: [
      result('answered', answered(CRASH)),
      result('answered, changed a short while ago', answered({ ...CRASH, changed: CHANGED })),
      result('errors in its log', answered(ERRORS)),
      result('a long cause', answered(LONG, { plan: aPlan({ podName: LONG_NAME }) })),
      result('in a direct message', answered(LONG, { plan: aPlan({ podName: LONG_NAME }) }), true),
      result('nothing found, its log not read', looked({ ...UNREAD, ...LOOKED })),
      result('healthy', looked({ ...HEALTHY, ...SAW_INSIDE })),
      result('a workload', ofWorkload(answered(WORKLOAD))),
      result('a workload, with looks', batchOf(WORKLOAD, { state: 'finished' })),
    ],
  },
  {
    file: 'answers/lookups',
    examples: [
      { name: 'show', message: showMessage(answered(CRASH), { links: {}, isHidden: false }, []) },
      {
        name: 'show, output of somebody else',
        message: showMessage(answered(CRASH), { links: {}, isHidden: true }, []),
      },
      {
        name: 'list',
        message: listMessage({
          filter: { outcome: 'answered' },
          runs: [
            { run: answered(CRASH), isHidden: false },
            { run: answered(CRASH), isHidden: true },
            { run: ofWorkload(answered(WORKLOAD)), isHidden: false },
            { run: looked({ ...HEALTHY, ...SAW_INSIDE }), isHidden: false },
            { run: looked({ ...UNREAD, ...LOOKED }), isHidden: false },
            { run: armed, isHidden: false },
          ],
          hasMore: false,
          channelsLeftOut: 0,
        }),
      },
      { name: 'describe', message: podMessage(described(aPod())) },
    ],
  },
];
