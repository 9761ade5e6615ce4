import type { Plan } from '../../../src/core/container/plan.ts';
import type { Verdict } from '../../../src/core/diagnosis/facts/verdict.ts';
import { FILE_PROBLEMS, type RunFile } from '../../../src/core/files/run-file.ts';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import type { Outcome, OutcomeKind } from '../../../src/core/outcome.ts';
import type { Vote } from '../../../src/core/planning/vote.ts';
import { tripwireEnv } from '../../../src/core/request/tripwire.ts';
import type { Run, RunLog } from '../../../src/core/run/run.ts';
import { logsMessage, showMessage } from '../../../src/core/say/answers/run-for-one.ts';
import { fileMessage, secretFilesMessage } from '../../../src/core/say/parts/file-parts.ts';
import { approvedMessage } from '../../../src/core/say/run/approved-message.ts';
import { copyMessage, reminderMessage } from '../../../src/core/say/run/copy-messages.ts';
import { anchorMessage, type RenderContext, resultMessage } from '../../../src/core/say/run/run-messages.ts';
import { aGrant, anApproval, aPlan, aRequest, aRun, aTermination, START_MS } from '../builders.ts';
import type { Example, MessageKind } from './kinds.ts';

const APPROVERS = {
  sre: { usergroup: 'S0SRE', users: [] },
  leads: { channel: asChannelId('C0OPS'), users: [asUserId('U0ALICE')] },
};
const NOW: RenderContext = { approvers: APPROVERS, nowMs: START_MS + 12_000 };
const PERMALINK = 'https://local.slack.com/archives/C0SHOP/p1795246200000100';

const aFile = (name: string, bytes: number, parts: Partial<RunFile> = {}): RunFile => ({
  name,
  kind: 'text',
  bytes,
  sha256: 'a'.repeat(64),
  isRedacted: true,
  ...parts,
});
const FILES: readonly RunFile[] = [
  aFile('threads.txt', 12_345),
  aFile('cpu.svg', 81_000, { kind: 'profile' }),
  aFile('capture.pcap', 1_300_000, { kind: 'capture', isRedacted: false }),
];
const BROKEN: readonly RunFile[] = FILE_PROBLEMS.map((problem, index) => aFile(`part-${index}.txt`, 100, { problem }));
const SHARED = Object.fromEntries(FILES.map(({ name }, index) => [`kdebug-abcdefghij.${name}`, `F${index}`]));

const LOG: RunLog = {
  bytes: 23,
  lines: 2,
  sha256: 'feed',
  redactions: 0,
  completeness: { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] },
  head: 'listening on :8080\nbye\n',
  tail: '',
  omittedLines: 0,
};

const at = (parts: Partial<Run> = {}): Run =>
  aRun({
    plan: aPlan(),
    planHash: '0123456789abcdef',
    launchedAtMs: START_MS,
    commandLine: 'web-1 --image=autodiagnose',
    ...parts,
  });

const ended = (parts: Partial<Run> = {}): Run =>
  at({ state: 'finished', outcome: { kind: 'succeeded' }, termination: aTermination(), log: LOG, ...parts });

const OUTCOMES: { readonly [Kind in OutcomeKind]: Extract<Outcome, { kind: Kind }> } = {
  succeeded: { kind: 'succeeded' },
  answered: { kind: 'answered' },
  failed: { kind: 'failed', exitCode: 3, reason: 'Error' },
  'oom-killed': { kind: 'oom-killed', exitCode: 137 },
  'start-failed': {
    kind: 'start-failed',
    reason: 'ImagePullBackOff',
    message: 'Back-off pulling image "registry.example.com/autodiagnose:1"',
  },
  'no-status': { kind: 'no-status' },
  'timed-out': { kind: 'timed-out' },
  stopped: { kind: 'stopped', by: 'U0BOB' },
  'target-ended': { kind: 'target-ended', exitCode: 137 },
  'pod-gone': { kind: 'pod-gone' },
  'pod-replaced': { kind: 'pod-replaced' },
  'node-lost': { kind: 'node-lost' },
  refused: {
    kind: 'refused',
    by: 'pod-security',
    message:
      'pods "web-1" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "kdebug-abcdefghij" must set securityContext.allowPrivilegeEscalation=false)',
  },
  denied: { kind: 'denied', code: 'channel_unknown' },
  rejected: { kind: 'rejected', by: 'U0BOB' },
  expired: { kind: 'expired' },
  cancelled: { kind: 'cancelled', by: 'U0ROY' },
  internal: { kind: 'internal', code: 'cluster_unreachable' },
};

/** Those of a container that ran; the others have no log. */
const RAN: ReadonlySet<OutcomeKind> = new Set([
  'succeeded',
  'failed',
  'oom-killed',
  'timed-out',
  'stopped',
  'target-ended',
]);

function ofOutcome(outcome: Outcome): Run {
  const { termination: _none, ...run } = ended({ outcome, startedAtMs: START_MS, endedAtMs: START_MS + 2_000 });
  const { log: _log, ...without } = run;
  return RAN.has(outcome.kind) ? run : without;
}

/** Decided by people before any container: they have states and messages of their own. */
const UNDECIDED: ReadonlySet<OutcomeKind> = new Set(['denied', 'rejected', 'expired', 'cancelled']);
const ends = Object.values(OUTCOMES).filter(({ kind }) => !UNDECIDED.has(kind));

const MEMORY = {
  text: 'memory at 95% of its limit (114 of 120 MiB)',
  limit: '90%',
  next: 'Raise the memory limit or look for a leak; at the limit the kernel kills the container.',
  rank: 1 as const,
};
const SOCKETS = {
  text: '300 sockets in CLOSE_WAIT',
  limit: '100',
  next: 'The program does not close connections that its peers have closed.',
  rank: 2 as const,
};
const NO_LIMIT = { text: 'web has no memory limit', next: 'Set one.', rank: 3 as const };
const BY = 'autodiagnose 0.2.0 · ran as 65532:65532 with no capabilities · 0.9 s';

const VERDICTS: readonly (readonly [string, Verdict])[] = [
  [
    'nothing found',
    {
      line: 'Ready, never restarted; nothing found in 13 sections; no look into its threads',
      findings: [],
      fine: 'context, processes, memory, cpu, io, files, sockets, dns',
      nextImage: 'stacks',
      by: BY,
    },
  ],
  ['one finding', { line: `1 finding: ${MEMORY.text}`, findings: [MEMORY], fine: 'cpu, io', by: BY }],
  [
    'four findings, with what was not checked',
    {
      line: `4 findings: ${MEMORY.text}; ${SOCKETS.text}; and so on`,
      findings: [MEMORY, SOCKETS, { text: 'dns is slow', next: 'Ask the resolver.', rank: 2 }],
      more: 1,
      fine: 'cpu, io',
      unseen: [
        'files, environment: ptrace access: look again as 7:0',
        'node: kdebug may not read it (missing optional right: get nodes)',
      ],
      lookAgain: { kind: 'identity', runAs: { uid: 7, gid: 0 } },
      nextImage: 'stacks',
      nextAs: { kind: 'identity', runAs: { uid: 7, gid: 0 } },
      by: BY,
    },
  ],
  [
    'worth knowing',
    {
      line: `Ready, never restarted, no errors in its log; worth knowing: ${NO_LIMIT.text}`,
      findings: [NO_LIMIT],
      by: BY,
    },
  ],
  [
    'the words of another image',
    { line: 'disk /data is full.', findings: [{ text: '/data has 0 B left', next: 'Delete old segments.' }] },
  ],
  ['another image without findings', { line: 'all 3 queues are empty', findings: [] }],
  [
    'could not look',
    {
      line: 'Could not look: it lacks the uid and gid of its target, 7:0.',
      findings: [],
      unseen: ['stacks: the uid and gid of its target, 7:0: look again as 7:0'],
      lookAgain: { kind: 'identity', runAs: { uid: 7, gid: 0 } },
      by: 'stacks 0.2.0 · ran as 65532:65532 with no capabilities · 0.9 s',
    },
  ],
];

/** What moved while it looked. */
const CHARTED: Run = ended({
  verdict: {
    ...VERDICTS[1]![1],
    charts: [
      {
        title: 'CPU in use',
        unit: 'millicores',
        moments: ['0.3 s', '0.6 s', '0.9 s', '1.2 s'],
        lines: [
          { name: 'CPU in use', values: [20, 480, 500, 35] },
          { name: 'limit', values: [500, 500, 500, 500] },
        ],
      },
      {
        title: 'Throttled periods',
        unit: '%',
        moments: ['0.3 s', '0.6 s', '0.9 s', '1.2 s'],
        lines: [{ name: 'Throttled periods', values: [0, 66, 100, 0] }],
      },
    ],
  },
});

const EXPLAINED: Run = ended({
  outcome: OUTCOMES['target-ended'],
  verdict: {
    findings: [
      {
        text: 'web restarted 4 times, last exited 6 s ago: exit code 137 (OOMKilled)',
        next: 'Raise its memory limit.',
        rank: 1,
      },
    ],
  },
});

const TYPED = ['gdb', '-p', '1', '-batch', '-ex', 'bt'];
/** Beside the containers of its pod, not in one. */
function alone({ targetContainerName: _, ...plan }: Plan): Plan {
  return plan;
}

function bare(run: Run): Run {
  const { reason: _, ...plan } = alone(run.plan ?? aPlan());
  return { ...run, plan };
}

const typed = (parts: Partial<Plan> = {}): Plan =>
  aPlan({
    podName: 'neato-5x9k3',
    targetContainerName: 'neato',
    imageAlias: 'debugger',
    image: 'registry.example.com/debugger:3',
    command: TYPED,
    profile: 'sysadmin',
    profileAsked: 'sysadmin',
    class: 'elevated',
    classReasons: [{ fact: 'privileged' }],
    reason: 'hang',
    requesterId: 'U0THURSTON',
    observed: { earlierContainers: 2, memoryLimit: '256Mi' },
    ...parts,
  });

const BY_THURSTON = { ...aRun().origin, requesterId: asUserId('U0THURSTON') };
const APPROVAL = anApproval({ expiresAtMs: START_MS + 900_000 });
const LINE = 'neato-5x9k3 --image=debugger --profile=sysadmin --reason=hang -- gdb -p 1 -batch -ex bt';
const requested = (plan: Partial<Plan> = {}, parts: Partial<Run> = {}): Run =>
  aRun({
    state: 'pending-approval',
    origin: BY_THURSTON,
    plan: typed(plan),
    planHash: '0123456789abcdef',
    commandLine: LINE,
    approval: APPROVAL,
    ...parts,
  });

const approve: Vote = { userId: 'U0BOB', kind: 'approve', atMs: START_MS + 5_000 };
const reject: Vote = {
  userId: 'U0BOB',
  kind: 'reject',
  reason: 'Not on this node, use a copy of the pod',
  atMs: START_MS + 5_000,
};
const decided = (state: Run['state'], votes: readonly Vote[] = [], parts: Partial<Run> = {}): Run =>
  requested({}, { state, approval: { ...APPROVAL, votes }, ...parts });
const SENT = {
  remindAtMs: START_MS,
  here: false,
  waiting: [],
  copies: [
    { channelId: 'D1', ts: '1', userId: 'U0BOB', shows: '' },
    { channelId: 'C0OPS', ts: '2', shows: '' },
  ],
  beyond: 2,
  unreached: 1,
};

const card = (name: string, run: Run, context: Partial<RenderContext> = {}): Example => ({
  name,
  message: anchorMessage(run, { ...NOW, ...context }),
});
const result = (name: string, run: Run, isPrivate = false): Example => ({
  name,
  message: resultMessage(run, { isPrivate }),
});

/** Of `watch web-1 --when=memory>92% --for=6h`. */
export const armed: Run = at({
  state: 'running',
  startedAtMs: START_MS + 3_000,
  request: aRequest({ image: 'blackbox', env: tripwireEnv({ when: 'memory>92%,threads>500', forMs: 6 * 3_600_000 }) }),
  plan: aPlan({ imageAlias: 'blackbox', class: 'intrusive' }),
  commandLine: 'web-1 --image=blackbox --env=BLACKBOX_WHEN=memory>92%,threads>500 --env=BLACKBOX_FOR=6h',
});

/** Everything about a single run: its card, its result, the messages to approvers and requesters. */
export const RUN_MESSAGES: readonly MessageKind[] = [
  {
    file: 'replies/approved',
    isCard: true,
    examples: [
      {
        name: 'by one',
        message: approvedMessage(at({ state: 'approved', approval: anApproval({ votes: [approve] }) })),
      },
      {
        name: 'with a grant',
        message: approvedMessage(
          at({
            state: 'approved',
            approval: anApproval({ votes: [approve] }),
            grant: aGrant(),
            approvedAtMs: START_MS,
          }),
        ),
      },
    ],
  },
  {
    file: 'cards/states',
    isCard: true,
    examples: [
      card('approved', at({ state: 'approved' })),
      card('launching', at({ state: 'launching' })),
      card('starting', at({ state: 'starting' })),
      card(
        'starting, and waiting',
        at({
          state: 'starting',
          waiting: {
            reason: 'ErrImagePull',
            message: 'failed to resolve reference "registry.example.com/autodiagnose:1": not found',
          },
        }),
      ),
      card('running', at({ state: 'running', startedAtMs: START_MS + 3_000 })),
      card(
        'running, with its newest lines and a reason',
        at({
          state: 'running',
          plan: aPlan({ reason: 'checkout is slow since 3 AM' }),
          commandLine: 'web-1 --reason="checkout is slow since 3 AM"',
        }),
        { tail: 'line 8\nline 9\n' },
      ),
      card('an armed watch', armed),
      card('an armed watch, after an answer that found nothing', { ...armed, verdict: VERDICTS[0]![1] }),
      card('an armed watch, after an answer that found something', { ...armed, verdict: VERDICTS[1]![1] }),
      card('running a command', at({ state: 'running', plan: typed(), commandLine: LINE })),
      card('running, output private', at({ state: 'running' }), { isPrivate: true, tail: 'a secret' }),
      card('without a target', at({ state: 'running', plan: alone(aPlan()) })),
      card('collecting', at({ state: 'collecting' })),
      card(
        'denied',
        at({
          state: 'denied',
          refusal: {
            code: 'image_not_allowed',
            message: 'the image toolbox is not allowed in this channel',
            hint: 'Ask the policy owners, or use another image.',
          },
        }),
      ),
    ],
  },
  {
    file: 'cards/outcomes',
    isCard: true,
    examples: [
      ...ends.map((outcome) => card(outcome.kind, ofOutcome(outcome))),
      card('finished late', ended({ late: true })),
      card('finished, output private', ended({ verdict: VERDICTS[1]![1] }), { isPrivate: true }),
      card('failed, output private', ofOutcome(OUTCOMES.failed), { isPrivate: true }),
      card('a pod with a long name', ended({ plan: aPlan({ podName: `${'checkout-'.repeat(20)}7d9f8b6c5-abcde` }) })),
    ],
  },
  {
    file: 'cards/verdicts',
    isCard: true,
    examples: [
      ...VERDICTS.map(([name, verdict]) => card(name, ended({ verdict }))),
      card('with charts', CHARTED),
      card('with charts, output private', CHARTED, { isPrivate: true }),
      card('an explanation without a report', EXPLAINED),
      card('timed out, with a finding', { ...ofOutcome(OUTCOMES['timed-out']), verdict: VERDICTS[1]![1] }),
    ],
  },
  {
    file: 'cards/approvals',
    isCard: true,
    examples: [
      card('a short command', requested()),
      card(
        'the image’s own command',
        requested({
          imageAlias: 'autodiagnose',
          command: [],
          profile: 'restricted',
          profileAsked: 'auto',
          class: 'observe',
          classReasons: [],
          securityContext: { runAsUser: 7, runAsGroup: 8 },
        }),
      ),
      card(
        'a script, with variables',
        requested({
          command: ['sh', '-c', 'for p in /proc/[0-9]*; do\n  cat $p/status\ndone'],
          env: [{ name: 'LD_PRELOAD', value: '/x.so' }],
        }),
      ),
      card('arguments', requested({ command: ['--wipe'], argumentsOnly: true })),
      card(
        'a packet capture',
        requested({
          imageAlias: 'capture',
          command: [],
          profile: 'baseline',
          env: [{ name: 'NET_FILTER', value: 'host 10.0.0.5 and port 5432' }],
          files: ['text', 'capture'],
        }),
      ),
      card('no reason, no target', bare(requested())),
      card(
        'a long reason',
        requested({
          reason:
            'checkout has been slow since 3 AM and the usual report shows nothing, so I need the stacks of all threads before we restart it',
        }),
      ),
      card('a long name', requested({ podName: `${'checkout-'.repeat(20)}7d9f8b6c5-abcde` })),
      card(
        'two approvals of two groups, one given',
        requested({}, { approval: { ...APPROVAL, from: ['sre', 'leads'], count: 2, votes: [approve] } }),
      ),
      card('copies sent', requested({}, { asked: SENT })),
      card('expires tomorrow', requested({}, { approval: { ...APPROVAL, expiresAtMs: START_MS + 86_400_000 } })),
      card('output private', requested(), { isPrivate: true }),
      { name: 'the copy for an approver', message: copyMessage(requested(), NOW, PERMALINK) },
    ],
  },
  {
    file: 'cards/decided',
    isCard: true,
    examples: [
      card('approved, running', decided('running', [approve])),
      card(
        'approved with a grant',
        decided('running', [approve], {
          grant: aGrant({ uses: [{ runId: 'x', userId: 'U0THURSTON', atMs: START_MS }] }),
        }),
      ),
      card(
        'grant ended',
        decided('finished', [approve], { outcome: OUTCOMES.succeeded, grant: aGrant({ endedBy: 'U0BOB' }) }),
      ),
      card('approved by a grant', at({ state: 'running', grantedBy: aRun().id })),
      card('rejected with a reason', decided('rejected', [reject])),
      card('rejected after an approval', decided('rejected', [approve, { ...reject, userId: 'U0ALICE' }])),
      card('withdrawn', decided('cancelled')),
      card('expired', decided('expired')),
    ],
  },
  {
    file: 'cards/replies',
    isCard: true,
    examples: [
      result('rejected', decided('rejected', [reject])),
      result('withdrawn', decided('cancelled')),
      result('expired', decided('expired')),
      result(
        'expired with one of two approvals',
        decided('expired', [approve], { approval: { ...APPROVAL, count: 2, votes: [approve] } }),
      ),
      { name: 'the copy, approved', message: copyMessage(decided('running', [approve]), NOW, PERMALINK) },
      { name: 'the copy, rejected', message: copyMessage(decided('rejected', [reject]), NOW, PERMALINK) },
      { name: 'the copy, withdrawn', message: copyMessage(decided('cancelled'), NOW, PERMALINK) },
      { name: 'the copy, expired', message: copyMessage(decided('expired'), NOW, PERMALINK) },
      { name: 'the reminder in the thread', message: reminderMessage(requested(), { ...NOW, mentionsThem: true }) },
      { name: 'the reminder elsewhere', message: reminderMessage(requested(), { ...NOW, url: PERMALINK }) },
    ],
  },
  {
    file: 'cards/results',
    isCard: true,
    isResult: true,
    examples: [
      ...ends.map((outcome) => result(outcome.kind, ofOutcome(outcome))),
      ...VERDICTS.map(([name, verdict]) => result(name, ended({ verdict }))),
      result('with charts in words: the card draws them', CHARTED),
      result('an explanation without a report', EXPLAINED),
      result('a long report', ended({ verdict: VERDICTS[1]![1], log: { ...LOG, lines: 80, omittedLines: 40 } })),
      result(
        'a long log',
        ended({
          log: {
            ...LOG,
            lines: 2_000,
            bytes: 70_000,
            head: 'first\n',
            tail: 'last\n',
            omittedLines: 1_998,
            redactions: 2,
          },
        }),
      ),
      {
        name: 'with the links of the policy',
        message: resultMessage(ended({ verdict: VERDICTS[0]![1] }), {
          links: { Dashboard: 'https://grafana.example.com/d/pods?var-pod={pod}&from={from}' },
        }),
      },
      result('no output', ended({ log: { ...LOG, bytes: 0, lines: 0, head: '' } })),
      result(
        'failed without output',
        ended({ outcome: OUTCOMES.failed, log: { ...LOG, bytes: 0, lines: 0, head: '' } }),
      ),
      result(
        'a log in doubt',
        ended({
          rebuilt: true,
          log: {
            ...LOG,
            completeness: {
              complete: false,
              limitReached: true,
              beginningMayBeMissing: true,
              gaps: [{ fromStamp: '07:30:01', toStamp: '07:40:02', atByte: 9 }],
              interruptedBy: 'pod_not_found',
            },
          },
        }),
      ),
      result('a termination message', ended({ termination: aTermination({ message: 'no route to host' }) })),
      result('blind spots', ended({ plan: aPlan({ blindSpots: ['the target’s files', 'its environment'] }) })),
      result('in a direct message', ended({ verdict: VERDICTS[2]![1] }), true),
      result('files', ended({ verdict: VERDICTS[0]![1], log: { ...LOG, files: FILES } })),
      result('files in a direct message', ended({ log: { ...LOG, files: FILES } }), true),
      result(
        'files that are missing',
        ended({
          log: { ...LOG, files: [...FILES, ...BROKEN] },
          delivery: { filesLost: { 'kdebug-abcdefghij.cpu.svg': 'slack_refused' } },
        }),
      ),
      result('with charts, in a direct message', CHARTED, true),
    ],
  },
  {
    file: 'cards/for-one',
    examples: [
      {
        name: 'show, finished',
        message: showMessage(
          ended({ verdict: VERDICTS[1]![1], decision: { kind: 'allow', rule: 'look' } }),
          {
            links: { thread: PERMALINK, result: PERMALINK },
            isHidden: false,
          },
          [],
        ),
      },
      { name: 'show, waiting', message: showMessage(requested(), { links: {}, isHidden: false }, []) },
      { name: 'show, output of somebody else', message: showMessage(ended(), { links: {}, isHidden: true }, []) },
      { name: 'logs', message: logsMessage(ended(), { links: { result: PERMALINK }, isHidden: false }) },
      { name: 'the log of a late end', message: fileMessage(ended({ late: true }), ['kdebug-abcdefghij-late.log']) },
      { name: 'files alone', message: fileMessage(ended(), ['kdebug-abcdefghij.threads.txt']) },
      { name: 'files with secrets', message: secretFilesMessage(ended({ log: { ...LOG, files: FILES } })) },
      {
        name: 'show, with files',
        message: showMessage(
          ended({ log: { ...LOG, files: FILES }, delivery: { files: SHARED } }),
          {
            links: { result: PERMALINK },
            isHidden: false,
          },
          [],
        ),
      },
      { name: 'the log alone', message: fileMessage(ended(), ['kdebug-abcdefghij.log']) },
    ],
  },
];
