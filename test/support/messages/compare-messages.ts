import { newBatch } from '../../../src/core/batch/new-batch.ts';
import { openBatch, recordOf } from '../../../src/core/batch/open-batch.ts';
import { batchTransition } from '../../../src/core/batch/transition.ts';
import type { FactGroup, PodFact, PodFacts } from '../../../src/core/compare/facts.ts';
import type { BatchRun } from '../../../src/core/run/life-cycle.ts';
import { anchorMessage, type RenderContext, resultMessage } from '../../../src/core/say/run/run-messages.ts';
import { aBatchRun } from '../../core/say/batch/a-batch-run.ts';
import { anApproval, aPlan, aPod, START_MS } from '../builders.ts';
import type { MessageKind } from './kinds.ts';

type Told = readonly (readonly [FactGroup, string, PodFact['value']])[];

const factsOf = (told: Told): PodFacts => ({
  facts: told.map(([group, name, value]) => ({ group, name, value })),
  cut: [],
});

const EQUAL: Told = [
  ['env', 'HOME', '#0001'],
  ['env', 'PATH', '#0002'],
  ['limit', 'open files', '1024'],
  ['dns', 'server', '10.96.0.10'],
  ['threads', 'threads', 12],
];

const probeOf = (isSick: boolean): PodFacts =>
  factsOf([
    ...EQUAL,
    ...(isSick
      ? ([['finding', 'close_wait', '412 sockets in CLOSE_WAIT, most towards 10.0.0.9 port 5432']] as const)
      : []),
    ['env', 'DB_HOST', isSick ? '#aaaa' : '#bbbb'],
    ['sockets', 'CLOSE_WAIT', isSick ? 412 : 2],
    ['peer', '10.0.0.9 port 5432', isSick ? 400 : 20],
  ]);

const clusterOf = (index: number): PodFacts =>
  factsOf([
    ['version', '', '7f9c'],
    ['node', 'node', `node-${index}`],
    ['image', 'web', index === 0 ? 'sha256:9f86d081884c' : 'sha256:60303ae22b99'],
    ['restarts', 'web', index === 0 ? 4 : 0],
  ]);

interface Parts {
  readonly state?: BatchRun['state'];
  readonly isFinished?: true;
  /** How many have ended. */
  readonly ended?: number;
  readonly isEqual?: boolean;
  /** Whose probe failed. */
  readonly failed?: readonly number[];
}

/** `compare web-0`: three pods, of which the first is sick. */
function aComparison({ state = 'running', ended = 3, isEqual = false, failed = [] }: Parts): BatchRun {
  const indexes = [0, 1, 2];
  const made = newBatch({
    pods: indexes.map((index) => {
      const [podName, podUid, nodeName] = [`web-${index}`, `uid-${index}`, `node-${index}`];
      const pod = aPod({ metadata: { name: podName, uid: podUid }, spec: { nodeName } });
      return { pod, plans: [aPlan({ podName, podUid, nodeName })] };
    }),
    requested: { canary: false },
    nowMs: START_MS,
    comparison: {
      key: 'a'.repeat(26),
      facts: Object.fromEntries(indexes.map((index) => [`uid-${index}`, clusterOf(isEqual ? 1 : index)])),
      notes: failed.length > 0 ? ['1 sibling not ready, so not compared with.'] : [],
      nextImage: 'stacks',
    },
  });
  const open = openBatch(made, START_MS);
  for (const index of indexes) if (state === 'running') batchTransition(open, { kind: 'launched', index }, START_MS);
  for (const index of indexes.slice(0, state === 'running' ? ended : 0)) {
    const result = failed.includes(index)
      ? ({ outcome: 'start-failed', reason: 'ImagePullBackOff' } as const)
      : ({ outcome: 'succeeded', exitCode: 0, facts: probeOf(index === 0 && !isEqual) } as const);
    batchTransition(open, { kind: 'ended', index, result }, START_MS + 4_000);
  }
  const request = { target: { kind: 'compare', name: 'web-0' } } as const;
  const run = aBatchRun({ size: 3, request, run: { state, commandLine: 'compare web-0 -n shop' } });
  return { ...run, ...(state === 'pending-approval' && { approval: anApproval() }), batch: recordOf(open) };
}

const NOW: RenderContext = { approvers: { sre: { usergroup: 'S0SRE', users: [] } }, nowMs: START_MS + 12_000 };
const card = ({ isFinished, ...parts }: Parts, isPrivate = false) =>
  anchorMessage({ ...aComparison(parts), ...(isFinished && { state: 'finished' }) }, { ...NOW, isPrivate });
const result = (parts: Parts) => resultMessage({ ...aComparison(parts), state: 'finished' });

/** What `compare POD` shows. */
export const COMPARE_MESSAGES: readonly MessageKind[] = [
  {
    file: 'compare/cards',
    isCard: true,
    examples: [
      { name: 'waiting for approval', message: card({ state: 'pending-approval' }) },
      { name: 'running', message: card({ ended: 1 }) },
      { name: 'ended', message: card({ isFinished: true }) },
      { name: 'ended, nothing differs', message: card({ isEqual: true, isFinished: true }) },
      { name: 'ended, private output', message: card({ isFinished: true }, true) },
    ],
  },
  {
    file: 'compare/results',
    isCard: true,
    examples: [
      { name: 'differences', message: result({}) },
      { name: 'nothing differs', message: result({ isEqual: true }) },
      { name: 'one sibling could not be looked at', message: result({ failed: [2] }) },
      { name: 'the sick pod could not be looked at', message: result({ failed: [0] }) },
    ],
  },
];
