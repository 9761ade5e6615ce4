import { describe, expect, it } from 'vitest';
import { recordOf } from '../../../src/core/batch/open-batch.ts';
import { groupResults, paceOf, podsToRerun } from '../../../src/core/batch/pod-result.ts';
import { batchTransition } from '../../../src/core/batch/transition.ts';
import { START_MS } from '../../support/builders.ts';
import { aResult, aStartFailure, end, launchAll, opened, runThrough } from './a-batch.ts';

describe('equal results', () => {
  it('are one group by exit code, reason and findings, the largest first', () => {
    const open = opened({ size: 9, batch: { parallelism: 9 } });
    runThrough(open, ({ index }) => {
      if (index === 3) return aResult({ findings: ['close_wait'], message: '1 finding: 300 in CLOSE_WAIT' });
      if (index > 6) return aResult({ outcome: 'failed', exitCode: 1, reason: 'Error' });
      return aResult();
    });
    expect(groupResults(recordOf(open))).toEqual([
      {
        state: 'succeeded',
        exitCode: 0,
        findings: [],
        count: 6,
        examples: ['web-0', 'web-1', 'web-2', 'web-4', 'web-5'].map((name) => ({ name })),
      },
      {
        state: 'failed',
        exitCode: 1,
        reason: 'Error',
        findings: [],
        count: 2,
        examples: [{ name: 'web-7' }, { name: 'web-8' }],
      },
      {
        state: 'succeeded',
        exitCode: 0,
        findings: ['close_wait'],
        count: 1,
        examples: [{ name: 'web-3', verdict: '1 finding: 300 in CLOSE_WAIT' }],
      },
    ]);
  });
});

describe('a rerun', () => {
  it('takes up what failed and what never had its turn, not what was skipped', () => {
    const open = opened({ size: 6, batch: { parallelism: 2, replicas: 4 } });
    launchAll(open);
    end(open, 0);
    end(open, 1, aStartFailure());
    batchTransition(open, { kind: 'cancelled', byUserId: 'U0ROY' }, START_MS);
    expect(podsToRerun(recordOf(open)).map(({ uid }) => uid)).toEqual(['uid-1', 'uid-2', 'uid-3']);
  });
});

describe('the pace', () => {
  it('is known once a pod has ended, and leaves out time in which nothing could be launched', () => {
    const open = opened({ size: 4, batch: { parallelism: 1 } });
    const pace = (nowMs: number) => paceOf(recordOf(open), open.counts, nowMs);
    launchAll(open);
    expect(pace(START_MS + 1)).toBeUndefined();
    end(open, 0, aResult(), START_MS + 2_000);
    expect(pace(START_MS + 2_000)).toEqual({ perMinute: 30, leftMs: 6_000 });
    batchTransition(open, { kind: 'paused', byUserId: 'U0ROY' }, START_MS + 2_000);
    expect(pace(START_MS + 60_000)).toEqual({ perMinute: 30 });
    batchTransition(open, { kind: 'resumed' }, START_MS + 60_000);
    expect(pace(START_MS + 62_000)).toEqual({ perMinute: 15, leftMs: 12_000 });
  });
});
