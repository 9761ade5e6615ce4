import { describe, expect, it } from 'vitest';
import type { BatchEvent } from '../../../../src/core/batch/batch.ts';
import { groupResults } from '../../../../src/core/batch/pod-result.ts';
import { countPods } from '../../../../src/core/batch/pod-state.ts';
import { batchHeadline, batchReason } from '../../../../src/core/say/batch/batch-headline.ts';
import { anApproval, START_MS } from '../../../support/builders.ts';
import { aBatchRun, type BatchRunParts, ended } from './a-batch-run.ts';

const headOf = (parts: BatchRunParts, afterMs = 20_000) => {
  const run = aBatchRun(parts);
  const { tone, words } = batchHeadline(run, countPods(run.batch), START_MS + afterMs);
  return `${tone} ${words}`;
};
function reasonOf(parts: BatchRunParts): string {
  const { batch } = aBatchRun(parts);
  const { spans } = batchReason({ batch }, groupResults(batch));
  return spans.map((span) => ('text' in span ? span.text : '')).join('');
}

const CANCELLED: BatchEvent = { kind: 'cancelled', byUserId: 'U0ROY' };
const LAUNCHED: BatchEvent = { kind: 'launched', index: 1 };
const STARTED: BatchEvent = { kind: 'started', index: 1 };
const result = (
  index: number,
  parts: Partial<Extract<BatchEvent, { kind: 'ended' }>['result']>,
): readonly BatchEvent[] => [
  { kind: 'launched', index },
  { kind: 'ended', index, result: { outcome: 'succeeded', ...parts } },
];
const found = (index: number, ...findings: string[]) => result(index, { findings, message: 'something' });

describe('the first line of a batch', () => {
  it.each<[string, BatchRunParts, string]>([
    ['that may begin', {}, 'progress autodiagnose on 4 pods in shop: starting'],
    ['whose first pod runs', { events: [LAUNCHED, STARTED] }, 'progress autodiagnose on 4 pods in shop: 1 running'],
    ['on its way', { events: ended(0, 0) }, 'progress autodiagnose on 4 pods in shop: 1 done, 3 to go (about 1 min)'],
    [
      'that is paused',
      { events: [...ended(0, 0), { kind: 'paused', byUserId: 'U0ROY' }] },
      'attention Paused: autodiagnose on 4 pods in shop, 1 done, 3 to go',
    ],
    [
      'whose canary ended',
      { request: { batch: { canary: true } }, events: ended(0, 0) },
      'attention Canary finished: review it before autodiagnose runs on the other 3 pods in shop',
    ],
    [
      'that ends early',
      { events: [LAUNCHED, CANCELLED] },
      'progress Finishing: autodiagnose on 4 pods in shop, 1 pod still running',
    ],
    [
      'that ended well',
      { size: 2, events: [...ended(0, 0), ...ended(1, 0)] },
      'ended autodiagnose on 2 pods in shop: all runs succeeded',
    ],
    [
      'that failed',
      { size: 2, events: [...ended(0, 1), ...ended(1, 1)] },
      'failure autodiagnose on 2 pods in shop: all runs failed',
    ],
    [
      'of one pod that succeeded',
      { size: 1, events: ended(0, 0) },
      'ended autodiagnose on 1 pod in shop: the run succeeded',
    ],
    [
      'of one pod that found something wrong',
      { size: 1, events: found(0, 'close_wait') },
      'attention autodiagnose on 1 pod in shop: problems found',
    ],
    [
      'that failed in part',
      { size: 2, events: [...ended(0, 0), ...ended(1, 1)] },
      'attention autodiagnose on 2 pods in shop: 1 run succeeded, 1 failed',
    ],
    [
      'that was cancelled',
      { events: [...ended(0, 0), CANCELLED] },
      'ended autodiagnose on 4 pods in shop: cancelled, 1 run succeeded, 3 not started',
    ],
    [
      'that found nothing',
      { size: 2, events: [0, 1].flatMap((index) => result(index, { outcome: 'succeeded', looked: true })) },
      'ended autodiagnose on 2 pods in shop: nothing found',
    ],
    [
      'that found nothing, and failed in part',
      { size: 2, events: [...result(0, { outcome: 'succeeded', looked: true }), ...ended(1, 1)] },
      'attention autodiagnose on 2 pods in shop: nothing found in 1, 1 run failed',
    ],
    [
      'that found something wrong',
      { size: 2, events: [...found(0, 'close_wait'), ...found(1)] },
      'attention autodiagnose on 2 pods in shop: problems found in 1',
    ],
    [
      'that found something wrong everywhere',
      { size: 2, events: [...found(0, 'close_wait'), ...found(1, 'someone_elses')] },
      'attention autodiagnose on 2 pods in shop: problems found in all',
    ],
    [
      'that waits for approval',
      { run: { state: 'pending-approval', approval: anApproval() } },
      'decision autodiagnose on 4 pods in shop',
    ],
    [
      'that expired',
      { run: { state: 'expired', approval: anApproval() } },
      'attention Expired: autodiagnose on 4 pods in shop',
    ],
  ])('%s', (_what, parts, line) => {
    expect(headOf(parts)).toBe(line);
  });
});

describe('the second line of an ended batch', () => {
  it('names the pods that failed, and what to do where that is known', () => {
    expect(reasonOf({ size: 3, events: [...ended(0, 0), ...ended(1, 7), ...ended(2, 7)] })).toBe(
      'In 2 pods the run failed, exit code 7: web-1, web-2',
    );
    const missing = { outcome: 'start-failed', reason: 'ErrImageNeverPull' } as const;
    expect(reasonOf({ size: 1, events: result(0, missing) })).toBe(
      'In 1 pod kdebug’s container did not start (ErrImageNeverPull): web-0',
    );
    expect(reasonOf({ size: 1, events: result(0, { outcome: 'timed-out' }) })).toBe(
      'In 1 pod the run timed out: web-0. Use a longer --timeout, or a smaller diagnosis.',
    );
  });

  it('is the worst finding and its next step, also where runs failed', () => {
    expect(reasonOf({ size: 2, events: [...found(0, 'zombies', 'oom_kill'), ...found(1, 'zombies')] })).toBe(
      'something. Raise the memory limit or find what grows; the log of the previous container may name it.',
    );
    expect(reasonOf({ size: 1, events: found(0, 'someone_elses') })).toBe('something.');
    expect(reasonOf({ size: 2, events: [...found(0, 'zombies'), ...ended(1, 1)] })).toMatch(/^something\. /);
  });

  it('says what a look that found nothing leaves open, and nothing of a command that succeeded', () => {
    expect(reasonOf({ size: 1, events: result(0, { outcome: 'succeeded', looked: true }) })).toBe(
      'Not checked: the pods’ own logs, and what Kubernetes says of them.',
    );
    expect(reasonOf({ size: 2, events: [...ended(0, 0), ...ended(1, 0)] })).toBe('');
    const { batch } = aBatchRun({ size: 1, events: result(0, { outcome: 'succeeded', looked: true }) });
    const verdict = { line: 'web exited with code 1', findings: [], readAtMs: START_MS };
    expect(batchReason({ batch, verdict }, groupResults(batch)).spans).toEqual([]);
  });

  const threeNotStarted = (reason: string) =>
    [0, 1, 2].flatMap((index) => result(index, { outcome: 'start-failed', reason }));

  it('says why it ended early', () => {
    expect(reasonOf({ events: [...ended(0, 1), CANCELLED] })).toBe('Cancelled by , . No more pods will start.');
    expect(reasonOf({ size: 9, events: threeNotStarted('ErrImagePull') })).toBe(
      'Stopped: three runs did not start (ErrImagePull). Check the image name and tag, and that the node may pull it.',
    );
    expect(reasonOf({ size: 9, events: threeNotStarted('CreateContainerConfigError') })).toBe(
      'Stopped: three runs did not start (CreateContainerConfigError). The others would fail too.',
    );
  });

  it('fits two lines of a phone, whatever failed', () => {
    const size = 2_000;
    const all = Array.from({ length: size }, (_, index) =>
      result(index, { outcome: 'failed', exitCode: 1, reason: 'x'.repeat(64), findings: ['y'.repeat(64)] }),
    ).flat();
    expect(reasonOf({ size, events: all }).length).toBeLessThan(120);
    const many = Array.from({ length: size }, (_, index) => ended(index, 1)).flat();
    expect(reasonOf({ size, events: many })).toBe(
      'In 2,000 pods the run failed, exit code 1: web-0, web-1, web-2 and 1,997 more',
    );
  });
});
