import { describe, expect, it } from 'vitest';
import type { Verdict, VerdictFinding } from '../../../src/core/diagnosis/facts/verdict.ts';
import { afterLook, afterNoLook, withLeftOpen, withoutLook } from '../../../src/core/lookup/merge-verdicts.ts';

const finding = (code: string, rank: 1 | 2 | 3): VerdictFinding => ({ code, text: `it has ${code}`, next: '', rank });
const verdict = (over: Partial<Verdict>): Verdict => ({ line: 'Nothing found', findings: [], ...over });

describe('a first answer after a look without a report', () => {
  const first = verdict({ healthy: true, readAtMs: 7, findings: [finding('no_requests', 3)] });

  it('stays as it was, but no longer says that all is well', () => {
    const { healthy: _, ...rest } = first;
    expect(afterNoLook(first, { kind: 'pod-gone' }, undefined)).toEqual(rest);
    expect(afterNoLook(first, { kind: 'succeeded' }, undefined)).toEqual(first);
  });

  it('is led by what the end of the look shows, where it had found nothing', () => {
    const explanation = verdict({ findings: [finding('no_room_to_start', 1)] });
    const outcome = { kind: 'start-failed', reason: 'StartError', message: '' } as const;
    expect(afterNoLook(first, outcome, explanation)).toMatchObject({ line: 'it has no_room_to_start', readAtMs: 7 });
    const sick = verdict({ line: 'it crashes', findings: [finding('crash_loop', 1)] });
    expect(afterNoLook(sick, outcome, explanation)).toEqual(sick);
  });
});

describe('what a look has left open in the pod', () => {
  const left: VerdictFinding = { text: 'the inspector may be open', next: 'Wait.', rank: 2 };

  it('leads the first answer, which no longer says that all is well', () => {
    const sick = verdict({ healthy: true, findings: [finding('a', 1), finding('b', 2), finding('c', 2)] });
    expect(withLeftOpen(sick, left)).toEqual({
      line: left.text,
      findings: [left, finding('a', 1), finding('b', 2)],
    });
  });

  it('explains how the run ended, where there was no first answer', () => {
    expect(withLeftOpen(undefined, left)).toEqual({ findings: [left] });
  });
});

it('a first answer whose look is refused stays, and says what stands in the way of the look', () => {
  const first = verdict({ line: 'it crashes', findings: [finding('crash_loop', 1)], unseen: ['its node: late'] });
  const refusal = { code: 'rehearsal_refused', message: 'the cluster would refuse this: quota', hint: 'Ask them.' };
  expect(withoutLook(first, refusal)).toEqual({
    ...first,
    unseen: ['its node: late', 'the inside: The cluster would refuse this: quota. Ask them.'],
  });
});

describe('what a look adds', () => {
  it('to the answer about its pod replaces it, but for its siblings and the last change', () => {
    const looked = verdict({ line: 'leaks', findings: [finding('leak', 1)] });
    const first = verdict({ siblings: 2, changed: 'Deployment changed', findings: [finding('crash_loop', 1)] });
    expect(afterLook(looked, first, 'web-1')).toEqual({ ...looked, siblings: 2, changed: 'Deployment changed' });
  });

  const groups = [{ text: 'ready', podNames: ['web-1'] }];

  it('to the answer about a workload leaves what is wrong with the workload in the headline', () => {
    const first = verdict({ line: '1 of 3 pods ready: quota', groups, findings: [finding('cannot_create', 1)] });
    const looked = verdict({ line: 'leaks', healthy: true, findings: [finding('leak', 1), finding('slow', 2)] });
    expect(afterLook(looked, first, 'web-1')).toEqual({
      line: '1 of 3 pods ready: quota',
      groups,
      findings: [finding('cannot_create', 1), finding('leak', 1), finding('slow', 2)],
    });
  });

  it('to the answer about a workload leaves the state of its rollout in the headline', () => {
    const first = verdict({ line: 'held back', groups, findings: [finding('rollout_going_on', 3)] });
    const looked = verdict({ line: 'no limit', findings: [finding('no_memory_limit', 3)] });
    expect(afterLook(looked, first, 'web-1')).toMatchObject({
      line: 'held back',
      findings: [finding('rollout_going_on', 3), finding('no_memory_limit', 3)],
    });
  });

  it('to a workload without trouble is the headline, and all is well only where both say so', () => {
    const well = verdict({ line: 'Healthy', healthy: true, groups });
    const looked = verdict({ line: 'leaks', findings: [finding('leak', 2)] });
    expect(afterLook(looked, well, 'web-1')).toMatchObject({ line: 'it has leak', findings: [finding('leak', 2)] });
    expect(afterLook(looked, well, 'web-1').healthy).toBeUndefined();
    expect(afterLook(verdict({ healthy: true }), well, 'web-1').healthy).toBe(true);
    expect(afterLook(verdict({ healthy: true }), verdict({ groups }), 'web-1').healthy).toBeUndefined();
  });

  it('to the answer about several pods names the pod that it was found in', () => {
    const first = verdict({
      line: 'Healthy: 3 of 3 pods ready',
      groups: [{ text: 'ready', podNames: ['web-1'], more: 2 }],
    });
    const looked = verdict({ line: '1 finding: it has leak.', findings: [finding('leak', 2)] });
    expect(afterLook(looked, first, 'web-1')).toMatchObject({
      line: 'web-1: it has leak',
      findings: [{ code: 'leak', text: 'web-1: it has leak' }],
    });
  });
});
