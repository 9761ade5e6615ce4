import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { podResult, resultOfPod, stateOfResults } from '../../../src/core/batch/pod-result.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import { anyCharacter } from '../../support/any-text.ts';
import { aTermination } from '../../support/builders.ts';
import { aResult } from './a-batch.ts';

const of = (outcome: Outcome, message = '') => podResult({ outcome, termination: aTermination({ message }) });

describe('what is kept of an ended container', () => {
  it('is its outcome, exit code, reason, message, findings and log size', () => {
    expect(
      podResult({
        outcome: { kind: 'failed', exitCode: 2, reason: 'Error' },

        termination: aTermination({ exitCode: 2, reason: 'Error', message: ' disk full\n' }),
        findings: ['b', 'a', 'b'],
        logBytes: 12,
      }),
    ).toEqual({
      outcome: 'failed',

      exitCode: 2,
      reason: 'Error',
      message: 'disk full',
      findings: ['a', 'b'],
      logBytes: 12,
    });
    expect(podResult({ outcome: { kind: 'refused', by: 'webhook', message: 'no' } })).toEqual({
      outcome: 'refused',
      reason: 'webhook',
      message: 'no',
    });
  });

  it('is the word of its report, not the document that holds it', () => {
    const termination = aTermination({ message: '{"kdebug":1,"verdict":"No problems found"}' });
    const verdict = 'No problems found';
    expect(podResult({ outcome: { kind: 'succeeded' }, termination, findings: [], verdict }).message).toBe(verdict);
  });

  it('is one clean, short line whatever the container wrote', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 6_000 }), (message) => {
        const kept = of({ kind: 'succeeded' }, message).message ?? '';
        expect(kept.length).toBeLessThanOrEqual(200);
        expect(kept).not.toMatch(/[\x00-\x1f\x7f\u2028\u202e\u200b]/);
        expect(kept).not.toMatch(/\p{Surrogate}/u);
      }),
    );
    expect(of({ kind: 'succeeded' }, '\u001b[31mred\u001b[0m\r10 %\r\n100 %').message).not.toContain('\u001b');
  });

  it('holds no secret, by the built-in rules or the policy’s own', () => {
    expect(of({ kind: 'succeeded' }, 'password=hunter2hunter2').message).not.toContain('hunter2');
    const outcome = { kind: 'start-failed', reason: 'X', message: 'customer 4711 ' } as const;
    expect(podResult({ outcome, redact: ['customer \\d+'] }).message).toBe('[redacted:custom]');
  });

  it.each<readonly [Outcome, string]>([
    [{ kind: 'succeeded' }, 'succeeded'],
    [{ kind: 'oom-killed', exitCode: 137 }, 'failed'],
    [{ kind: 'target-ended', exitCode: 137 }, 'failed'],
    [{ kind: 'start-failed', reason: 'x', message: '' }, 'start-failed'],
    [{ kind: 'no-status' }, 'start-failed'],
    [{ kind: 'denied', code: 'x' }, 'start-failed'],
    [{ kind: 'timed-out' }, 'timed-out'],
    [{ kind: 'node-lost' }, 'lost'],
    [{ kind: 'pod-replaced' }, 'lost'],
    [{ kind: 'stopped', by: 'U0ROY' }, 'cancelled'],
    [{ kind: 'internal', code: 'x' }, 'failed'],
  ])('%j makes its pod %s', (outcome, state) => {
    expect(stateOfResults([of(outcome)])).toBe(state);
  });

  it('of several containers the worst speaks, once all have ended', () => {
    const failed = aResult({ outcome: 'failed', exitCode: 7 });
    expect(stateOfResults([aResult(), null])).toBeUndefined();
    expect(stateOfResults([aResult(), failed])).toBe('failed');
    expect(resultOfPod([aResult(), null, failed])).toBe(failed);
    expect(resultOfPod(undefined)).toBeUndefined();
  });
});
