import { expect, it } from 'vitest';
import type { BatchEvent } from '../../../../src/core/batch/batch.ts';
import { newBatch } from '../../../../src/core/batch/new-batch.ts';
import { indexText, podHead } from '../../../../src/core/say/batch/batch-files.ts';
import { aPlan, aPod, START_MS } from '../../../support/builders.ts';
import { aBatchRun, ended } from './a-batch-run.ts';

it('the index says why logs are missing that their heads promise', () => {
  const run = aBatchRun({ size: 1, events: ended(0, 0) });
  expect([...indexText(run)].join('')).not.toContain('kept');
  expect([...indexText(run, 'spool_full')].join('')).toContain('Some logs are missing (spool_full)');
});

it('the head of one of several containers says what that one came to, while its pod is still at work', () => {
  const two = newBatch({
    pods: [{ pod: aPod(), plans: [aPlan(), aPlan()] }],
    requested: { canary: false },
    nowMs: START_MS,
  });
  const first: BatchEvent = {
    kind: 'ended',
    index: 0,
    container: 0,
    result: { outcome: 'succeeded', exitCode: 0, reason: 'Completed' },
  };
  const run = aBatchRun({ size: 1, events: [{ kind: 'launched', index: 0 }] });
  const pods = two.pods.map((pod) => ({ ...pod, state: 'running' as const, results: [first.result, null] }));
  expect(podHead({ ...run, batch: { ...two, pods } }, 0, { bytes: 3 })).toContain(' | container 1 | succeeded | ');
});
