import type { OnceMore } from '../../../src/core/container/once-more.ts';
import type { Plan } from '../../../src/core/container/plan.ts';
import type { Diagnosis } from '../../../src/core/diagnosis/facts/report.ts';
import { onceMoreVerdict } from '../../../src/core/diagnosis/once-more-verdict.ts';
import { asUserId } from '../../../src/core/ids.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { canIMessage } from '../../../src/core/say/answers/explain-messages.ts';
import { showMessage } from '../../../src/core/say/answers/run-for-one.ts';
import { anchorMessage, resultMessage } from '../../../src/core/say/run/run-messages.ts';
import { anApproval, anOrigin, aPlan, aRequest, aRun, aTermination, START_MS } from '../builders.ts';
import type { MessageKind } from './kinds.ts';

const ONCE_MORE: OnceMore = {
  container: 'web',
  command: ['/app/shop'],
  args: ['--port=8080', '--password=[redacted:secret]'],
  variables: ['DB_URL', 'JAVA_OPTS', 'REGION'],
  sources: ['Secret shop-db', 'ConfigMap shop as SHOP_…'],
  mounts: [
    'log (hostPath /var/log) at /host/log',
    'data (PersistentVolumeClaim shop-data) at /var/lib/shop',
    'kube-api-access at /var/run/secrets/kubernetes.io/serviceaccount (read-only)',
  ],
  unmountable: ['settings at /etc/shop/app.yaml (read-only)'],
  withoutEnv: [],
  switches: [
    { name: 'GOTRACEBACK', value: 'all' },
    { name: 'PYTHONFAULTHANDLER', value: '1' },
  ],
  serviceAccount: 'shop',
  user: 10_001,
};
const WITHOUT: OnceMore = { ...ONCE_MORE, withoutEnv: ['JAVA_OPTS'] };
const EARLIER: OnceMore = { ...ONCE_MORE, command: [], args: [], revision: 41 };
const TRACED: OnceMore = {
  ...ONCE_MORE,
  carrier: { image: 'registry.example.com/blackbox:1', volume: 'tmp', endsAfterMs: 60_000 },
};
const LOG = 'starting\npanic: relation "orders" does not exist\n';

const IMAGE = `registry.example.com/shop/web@sha256:${'a1'.repeat(32)}`;

function planOf(onceMore: OnceMore): Plan {
  const { targetContainerName: _, ...plan } = aPlan({
    imageAlias: 'once more',
    image: onceMore.revision === undefined ? IMAGE : 'registry.example.com/shop/web:2026-11-20',
    profile: 'baseline',
    class: 'elevated',
    classReasons: [
      { fact: 'second-run', container: 'web' },
      { fact: 'shared-volume', container: 'web', detail: 'hostPath log' },
    ],
    timeoutMs: 60_000,
    requesterId: 'U0THURSTON',
    reason: 'dies at start since 10:40',
    onceMore,
  });
  return plan;
}

const keptFromChannel = (): Plan => ({
  ...planOf(ONCE_MORE),
  observed: { earlierContainers: 0, withholdsLog: true },
});

function run(onceMore: OnceMore, parts: Partial<Run> = {}): Run {
  const { withoutEnv } = onceMore;
  return aRun({
    origin: anOrigin({ requesterId: asUserId('U0THURSTON') }),
    request: aRequest({ onceMore: { withoutEnv } }),
    commandLine: 'once-more web-1 -n shop --reason="dies at start since 10:40"',
    plan: planOf(onceMore),
    planHash: '0123456789abcdef',
    approval: anApproval({ expiresAtMs: START_MS + 900_000 }),
    ...parts,
  });
}

const FAULT = 'Process 7 (shop) died of SIGSEGV (address 0x0, a nil pointer) in Ledger::pay+0x24 (shop)';
const DEATH: Diagnosis = { verdict: `${FAULT}.`, findings: [{ code: 'died_of_signal', text: FAULT }], sections: [] };
const OVERTIME: Diagnosis = {
  verdict: 'Process 7 (shop) was still running after 60 s and was ended; it was in accept+0x12 (libc.so.6).',
  findings: [],
  sections: [],
};

function ended(onceMore: OnceMore, outcome: Outcome, log = LOG, report?: Diagnosis): Run {
  const exitCode = outcome.kind === 'failed' ? outcome.exitCode : 0;
  const termination = aTermination({ exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' });
  const isEnded = outcome.kind !== 'timed-out' || report !== undefined;
  const verdict = onceMoreVerdict(onceMore, {
    outcome,
    report,
    logEnd: log,
    timeoutMs: 60_000,
    termination: isEnded ? termination : undefined,
    containerName: 'kdebug-a',
    pod: undefined,
    isPodGoing: false,
  });
  const lines = log.split('\n').length - 1;
  const completeness = { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] };
  return run(onceMore, {
    state: 'finished',
    outcome,
    startedAtMs: START_MS + 10_000,
    endedAtMs: START_MS + 70_000,
    finishedAtMs: START_MS + 70_100,
    ...(isEnded ? { termination } : {}),
    ...(verdict ? { verdict } : {}),
    log: {
      sha256: '00',
      bytes: log.length,
      lines,
      redactions: 0,
      omittedLines: 0,
      head: log.trimEnd(),
      tail: '',
      completeness,
    },
  });
}

const ENDS: readonly (readonly [name: string, run: Run])[] = [
  ['it ends at once', ended(ONCE_MORE, { kind: 'failed', exitCode: 1, reason: 'Error' })],
  ['it ends well without a variable', ended(WITHOUT, { kind: 'succeeded' }, 'starting\nmigrated\n')],
  ['it starts with the image of another revision', ended(EARLIER, { kind: 'timed-out' }, 'listening on :8080\n')],
  [
    'its tracer tells its death',
    ended(TRACED, { kind: 'failed', exitCode: 139, reason: 'Error' }, 'starting\n', DEATH),
  ],
  ['its tracer ends it', ended(TRACED, { kind: 'timed-out' }, 'starting\n', OVERTIME)],
  ['it starts', ended(ONCE_MORE, { kind: 'timed-out' }, 'starting\nlistening on :8080\n')],
];

const NOW = { nowMs: START_MS + 71_000, approvers: { sre: { usergroup: 'S0SRE', users: [] } } };

/** The card that asks for a second run, and what it found. */
export const ONCE_MORE_MESSAGES: readonly MessageKind[] = [
  {
    file: 'once-more/cards',
    isCard: true,
    examples: [
      { name: 'it waits for an approval', message: anchorMessage(run(ONCE_MORE, { state: 'pending-approval' }), NOW) },
      {
        name: 'with the image of another revision',
        message: anchorMessage(run(EARLIER, { state: 'pending-approval' }), NOW),
      },
      { name: 'with a tracer', message: anchorMessage(run(TRACED, { state: 'pending-approval' }), NOW) },
      {
        name: 'where the rule keeps the log of the program from the channel',
        message: anchorMessage(run(ONCE_MORE, { state: 'pending-approval', plan: keptFromChannel() }), NOW),
      },
      { name: 'without a variable', message: anchorMessage(run(WITHOUT, { state: 'pending-approval' }), NOW) },
      ...ENDS.map(([name, one]) => ({ name, message: anchorMessage(one, NOW) })),
    ],
  },
  {
    file: 'once-more/results',
    isResult: true,
    examples: ENDS.map(([name, one]) => ({ name, message: resultMessage(one) })),
  },
  {
    file: 'once-more/answers',
    examples: [
      { name: 'show', message: showMessage(run(WITHOUT), { links: {}, isHidden: false }, []) },
      { name: 'can-i', message: canIMessage(planOf(WITHOUT), { kind: 'allow', rule: 'again' }, []) },
    ],
  },
];
