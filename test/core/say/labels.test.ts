import { expect, it } from 'vitest';
import type { BatchEvent } from '../../../src/core/batch/batch.ts';
import { NEXT_LABELS } from '../../../src/core/diagnosis/facts/rules.ts';
import type { RunState } from '../../../src/core/run/run-state.ts';
import { sameAgainMessage } from '../../../src/core/say/answers/click-messages.ts';
import { refusalMessage } from '../../../src/core/say/answers/private-messages.ts';
import { resizeForm } from '../../../src/core/say/batch/batch-forms.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import { anchorMessage, resultMessage } from '../../../src/core/say/run/run-messages.ts';
import { aGrant, anApproval, aPlan, aRun, START_MS } from '../../support/builders.ts';
import { aBatchRun, type BatchRunParts, ended } from './batch/a-batch-run.ts';

/** Slack cuts a label on a phone near thirty characters; a few are kept for larger letters. */
const MAX_LENGTH = 24;

const STATES: readonly RunState[] = ['received', 'pending-approval', 'approved', 'starting', 'running', 'finished'];
const plan = aPlan({ podName: 'p'.repeat(253), securityContext: { runAsUser: 2_147_483_647, runAsGroup: 0 } });
const approval = { ...anApproval(), grants: 'allowed' as const };
const moment = { approvers: {}, nowMs: START_MS };

const runs = STATES.map((state) => aRun({ state, plan, approval, outcome: { kind: 'succeeded' } }));
const granted = aRun({ state: 'finished', plan, outcome: { kind: 'succeeded' }, grant: aGrant() });
const again = [{ kind: 'general' }, { kind: 'identity', runAs: { uid: 1_000_650_000, gid: 1_000_650_000 } }] as const;
const looks = again.map((lookAgain) =>
  aRun({ state: 'finished', plan, outcome: { kind: 'succeeded' }, verdict: { line: 'x', findings: [], lookAgain } }),
);

const nexts = [...Object.keys(NEXT_LABELS), 'n'.repeat(63)].map((nextImage) =>
  aRun({ state: 'finished', plan, outcome: { kind: 'succeeded' }, verdict: { line: 'x', findings: [], nextImage } }),
);
const wrong = { line: 'x', findings: [{ text: 'x', next: '', rank: 1 as const }] };
const owned = aRun({
  state: 'finished',
  plan: { ...plan, workload: { kind: 'deployment', name: 'web' } },
  outcome: { kind: 'succeeded' },
  verdict: wrong,
});

const CANCELLED: BatchEvent = { kind: 'cancelled', byUserId: 'U0BOB' };
const failing = Array.from({ length: 4 }, (_, index) => ended(index, 1)).flat();
const CANARY = { request: { batch: { canary: true } } };
const batches: readonly BatchRunParts[] = [
  {},
  { run: { state: 'pending-approval', approval } },
  { pausedBy: 'U0ROY' },
  { ...CANARY, events: ended(0, 0) },
  { ...CANARY, events: ended(0, 1) },
  { events: failing },
  { events: [...ended(0, 0), CANCELLED] },
  { size: 2, events: [...ended(0, 0), ...ended(1, 1)] },
];

const messages: readonly Message[] = [
  ...[...runs, granted].map((run) => anchorMessage(run, moment)),
  ...[...runs, ...looks, ...nexts, owned].filter(({ state }) => state === 'finished').map((run) => resultMessage(run)),
  sameAgainMessage(granted, { requestId: granted.id, nowMs: START_MS }),
  refusalMessage(runs[0] ?? granted, { code: 'reason_required', message: 'x', hint: 'y' }),
  ...batches.map((parts) => anchorMessage(aBatchRun(parts), moment)),
];

const buttons = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'actions' ? part.buttons : [])));

it('every button of every card is read whole on a phone', () => {
  const labels = [
    ...new Set(buttons.flatMap(({ label, confirm }) => [label, ...(confirm ? [confirm.yes, confirm.no] : [])])),
  ];
  expect(labels.filter((label) => label.length > MAX_LENGTH)).toEqual([]);
  expect(labels).toEqual(expect.arrayContaining(['Approve', 'Approve for 30 min', 'Reject', 'Withdraw request']));
  expect(new Set(buttons.map(({ action }) => action))).toEqual(
    new Set([
      'approve',
      'approve-grant',
      'reject',
      'cancel',
      'end-grant',
      'look-again',
      'next-image',
      'compare',
      'pause',
      'resume',
      'continue',
      'resize',
      'rerun-failed',
      'show-outliers',
      'rerun',
      'run-anyway',
      'ask-for-it',
      'logs',
      'details',
      'copy-command',
      'stop',
    ]),
  );
});

it('no two buttons of one message have the same label', () => {
  for (const { parts } of messages) {
    const labels = parts.flatMap((part) => (part.kind === 'actions' ? part.buttons.map(({ label }) => label) : []));
    expect(new Set(labels).size).toBe(labels.length);
  }
});

it('so are the words of a form’s buttons', () => {
  const { title, submit } = resizeForm(aBatchRun());
  expect([title, submit].filter((words) => (words ?? '').length > MAX_LENGTH)).toEqual([]);
});
