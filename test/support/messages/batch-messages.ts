import type { BatchEvent } from '../../../src/core/batch/batch.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import type { Vote } from '../../../src/core/planning/vote.ts';
import type { BatchRun } from '../../../src/core/run/life-cycle.ts';
import { batchForOne } from '../../../src/core/say/answers/run-for-one.ts';
import { outliersMessage } from '../../../src/core/say/batch/outliers-message.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import { anchorMessage, type RenderContext, resultMessage } from '../../../src/core/say/run/run-messages.ts';
import { aBatchRun, type BatchRunParts, ended } from '../../core/say/batch/a-batch-run.ts';
import { anApproval, START_MS } from '../builders.ts';
import type { Example, MessageKind } from './kinds.ts';

const NOW: RenderContext = {
  approvers: { sre: { usergroup: 'S0SRE', users: [] }, leads: { channel: asChannelId('C0OPS'), users: [] } },
  nowMs: START_MS + 12_000,
};

const result = (index: number, parts: Partial<Extract<BatchEvent, { kind: 'ended' }>['result']>) => [
  { kind: 'launched', index } as const,
  { kind: 'ended', index, result: { outcome: 'succeeded', ...parts } } as const,
];
const started = (index: number) => [{ kind: 'launched', index } as const, { kind: 'started', index } as const];
const found = (index: number, ...findings: string[]) =>
  result(index, { findings, message: 'memory at 95% of its limit (114 of 120 MiB)' });
const missing = (index: number) => result(index, { outcome: 'start-failed', reason: 'ImagePullBackOff' });

const CANCELLED: BatchEvent = { kind: 'cancelled', byUserId: 'U0BOB' };
const PENDING = { state: 'pending-approval', approval: anApproval() } as const;

const REJECTION: Vote = {
  userId: 'U0BOB',
  kind: 'reject',
  atMs: START_MS,
  reason: 'Not during the sale',
};

const RUNNING: Readonly<Record<string, BatchRunParts>> = {
  'about to begin': {},
  running: {
    size: 8,
    request: { batch: { canary: false, parallelism: 4 } },
    events: [...ended(0, 0), ...ended(1, 1), ...started(2), ...started(3)],
  },
  'with two kinds of failures': {
    size: 8,
    request: { batch: { canary: false, parallelism: 4 } },
    events: [...ended(0, 1), ...missing(1), ...ended(2, 0), ...started(3)],
  },
  paused: { size: 8, events: [...ended(0, 0), { kind: 'paused', byUserId: 'U0BOB' }] },
  'canary succeeded': { size: 8, request: { batch: { canary: true } }, events: ended(0, 0) },
  'canary failed': { size: 2, request: { batch: { canary: true } }, events: ended(0, 1) },
  'cancelled, with a pod still running': { size: 4, events: [...started(0), CANCELLED] },
  'of a job': { size: 4, events: ended(0, 0), run: { job: { name: 'nginx-audit', requests: [], paused: false } } },
};

const ENDED: Readonly<Record<string, BatchRunParts>> = {
  'all succeeded': { size: 2, events: [...ended(0, 0), ...ended(1, 0)] },
  'some failed': { size: 3, events: [...ended(0, 0), ...ended(1, 1), ...ended(2, 1)] },
  'all failed, in two ways': { size: 3, events: [...ended(0, 1), ...ended(1, 1), ...ended(2, 137)] },
  'problems found in some': { size: 3, events: [...found(0, 'memory_near_limit'), ...ended(1, 0), ...ended(2, 0)] },
  'some failed, problems found in others': {
    size: 4,
    events: [...found(0, 'memory_near_limit'), ...ended(1, 0), ...ended(2, 1), ...ended(3, 0)],
  },
  'stopped: three did not start': { size: 9, events: [...missing(0), ...missing(1), ...missing(2)] },
  cancelled: { size: 4, events: [...ended(0, 0), CANCELLED] },
  'cancelled before it began': { size: 4, events: [CANCELLED] },
};

const APPROVALS: Readonly<Record<string, BatchRunParts>> = {
  'waiting for approval': { size: 8, run: PENDING },
  expired: { run: { state: 'expired', approval: anApproval() } },
  withdrawn: { run: { state: 'cancelled', approval: anApproval() } },
  rejected: { run: { state: 'rejected', approval: anApproval({ votes: [REJECTION] }) } },
};

const examplesOf = (
  all: Readonly<Record<string, BatchRunParts>>,
  messageOf: (run: BatchRun) => Message,
): readonly Example[] => Object.entries(all).map(([name, parts]) => ({ name, message: messageOf(aBatchRun(parts)) }));

const finished = (run: BatchRun): Message => resultMessage({ ...run, state: 'finished' });
const dashboard = (run: BatchRun): Message => anchorMessage(run, NOW);

const codes = [0, 0, 0, 0, 0, 1, 1, 137];
const many = aBatchRun({ size: codes.length, events: codes.flatMap((code, index) => ended(index, code)) });
const waiting = aBatchRun({ size: 8, request: { batch: { canary: true, parallelism: 3 } }, run: PENDING });
const explained = { ...waiting, plan: { ...waiting.plan, reason: 'checkout is slow since the rollout' } };
const leaking = aBatchRun({ size: 2, events: [...found(0, 'oom_kill'), ...ended(1, 0)] });

/** What a batch of pods shows: its card, its dashboard, its result, and the answers about it. */
export const BATCH_MESSAGES: readonly MessageKind[] = [
  {
    file: 'batch/dashboards',
    isCard: true,
    examples: [
      ...examplesOf(RUNNING, dashboard),
      ...examplesOf(ENDED, dashboard),
      { name: 'private output', message: anchorMessage(leaking, { ...NOW, isPrivate: true }) },
    ],
  },
  {
    file: 'batch/approvals',
    isCard: true,
    examples: [
      ...examplesOf(APPROVALS, dashboard),
      { name: 'waiting for approval, with a reason', message: dashboard(explained) },
    ],
  },
  {
    file: 'batch/results',
    isCard: true,
    isResult: true,
    examples: [
      ...examplesOf(ENDED, finished),
      { name: 'in a direct message', message: resultMessage({ ...many, state: 'finished' }, { isPrivate: true }) },
    ],
  },
  {
    file: 'batch/answers',
    examples: [
      { name: 'outliers', message: outliersMessage(many, false) },
      { name: 'outliers of private output', message: outliersMessage(leaking, true) },
      { name: 'show', message: batchForOne(many, { ...NOW, links: {} }) },
      { name: 'show while it waits', message: batchForOne(waiting, { ...NOW, links: {} }) },
    ],
  },
];
