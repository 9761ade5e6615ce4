import { describe, expect, it } from 'vitest';
import type { Run, Stop } from '../../../src/core/run/run.ts';
import type { StopEvent } from '../../../src/core/run/run-event.ts';
import {
  canBeStopped,
  isStopping,
  outcomeAfterStop,
  type StoppingRun,
  stopDeadlineMs,
} from '../../../src/core/run/stop.ts';
import { transition } from '../../../src/core/run/transition.ts';
import { aPlan, aRun, START_MS } from '../../support/builders.ts';
import { aBatch } from '../batch/a-batch.ts';

const ASK: StopEvent = { kind: 'stop-requested', byUserId: 'U0BOB', atMs: START_MS };
const container = { name: 'kdebug-stop', image: 'autodiagnose:1', notAfterMs: START_MS + 60_000 };

const live = (parts: Partial<Run> = {}) =>
  aRun({ state: 'running', plan: aPlan(), containerName: 'kdebug-a', startedAtMs: START_MS, ...parts });

function moved(run: Run, ...events: readonly StopEvent[]): Run {
  return events.reduce((before, event) => {
    const next = transition(before, event);
    if (next.kind !== 'moved') throw new Error(`${event.kind} is illegal`);
    return next.run;
  }, run);
}

const kindOf = (run: Run, event: StopEvent): string => transition(run, event).kind;

describe('a stop', () => {
  it.each(['launching', 'starting', 'running'] as const)('is asked for in the state %s, once at a time', (state) => {
    const asked = moved(live({ state }), ASK);
    expect(asked).toMatchObject({ state, stop: { byUserId: 'U0BOB', requestedAtMs: START_MS, attempt: 1 } });
    expect(isStopping(asked)).toBe(true);
    expect(kindOf(asked, ASK)).toBe('illegal');
  });

  it.each(['received', 'pending-approval', 'collecting', 'denied', 'cancelled'] as const)(
    'is not asked for in the state %s',
    (state) => {
      expect(kindOf(live({ state }), ASK)).toBe('illegal');
    },
  );

  it('withdraws a run that is not launched yet', () => {
    expect(moved(live({ state: 'approved' }), ASK)).toMatchObject({
      state: 'cancelled',
      outcome: { kind: 'cancelled', by: 'U0BOB' },
      finishedAtMs: START_MS,
    });
  });

  it('is asked for after a timeout, but not after a run that never started or has ended', () => {
    const finished = (parts: Partial<Run>) => live({ state: 'finished', ...parts });
    expect(canBeStopped(finished({ outcome: { kind: 'timed-out' } }))).toBe(true);
    expect(canBeStopped(finished({ outcome: { kind: 'timed-out' }, late: true }))).toBe(false);
    expect(canBeStopped(finished({ outcome: { kind: 'succeeded' } }))).toBe(false);
    const { startedAtMs: _, ...never } = finished({ outcome: { kind: 'no-status' } });
    expect(canBeStopped(never)).toBe(false);
  });

  it('is never asked for of a batch, which is cancelled instead', () => {
    expect(kindOf(live({ state: 'approved', batch: aBatch() }), ASK)).toBe('illegal');
    expect(kindOf(live({ batch: aBatch() }), ASK)).toBe('illegal');
  });

  it('has one container, one end, and no second failure', () => {
    const launching = moved(live(), ASK, { kind: 'stop-launching', container });
    expect(launching.stop?.container).toEqual(container);
    expect(kindOf(launching, { kind: 'stop-launching', container: { ...container, name: 'other' } })).toBe('illegal');
    const END: StopEvent = { kind: 'stop-ended', exitCode: 2, message: 'none', atMs: START_MS };
    const ended = moved(launching, END);
    expect(kindOf(ended, END)).toBe('illegal');
    const failed = moved(ended, { kind: 'stop-failed', why: 'none', atMs: START_MS });
    expect(isStopping(failed)).toBe(false);
    expect(kindOf(failed, { kind: 'stop-failed', why: 'again', atMs: START_MS })).toBe('illegal');
  });

  it('may be asked for again after a failure, with another container', () => {
    const failed = moved(live(), ASK, { kind: 'stop-failed', why: 'none', atMs: START_MS });
    expect(moved(failed, { ...ASK, byUserId: 'U0ROY' }).stop).toEqual({
      byUserId: 'U0ROY',
      requestedAtMs: START_MS,
      attempt: 2,
    });
  });

  it('is given up in time, whatever it waits for', () => {
    const asked = moved(live(), ASK) as StoppingRun;
    expect(stopDeadlineMs(asked)).toBe(START_MS + 75_000);
    expect(stopDeadlineMs({ ...asked, startedAtMs: START_MS + 10_000 })).toBe(START_MS + 85_000);
    const sent = moved(asked, { kind: 'stop-launching', container }) as StoppingRun;
    expect(stopDeadlineMs(sent)).toBe(START_MS + 75_000);
    const ended = moved(sent, { kind: 'stop-ended', exitCode: 0, message: '', atMs: START_MS + 1_000 }) as StoppingRun;
    expect(stopDeadlineMs(ended)).toBe(START_MS + 6_000);
  });
});

describe('the outcome of a run that somebody stopped', () => {
  const stop: Stop = { byUserId: 'U0BOB', requestedAtMs: START_MS, attempt: 1, container };
  const stopped = { kind: 'stopped', by: 'U0BOB' } as const;
  const failed = (exitCode: number) => ({ kind: 'failed', exitCode, reason: 'Error' }) as const;
  const succeeded = { kind: 'succeeded' } as const;

  it.each([
    ['a signal ended it', failed(143), 0, stopped],
    ['it caught the signal', succeeded, 0, stopped],
    ['it caught the signal and failed', failed(3), 0, stopped],
    ['it had ended before', succeeded, 2, succeeded],
    ['it had failed before', failed(143), 2, failed(143)],
    ['a signal ended it, though not all of its processes', failed(137), 1, stopped],
    ['it failed beside a stop that could not', failed(3), 1, failed(3)],
    ['nobody knows, and a signal ended it', failed(143), undefined, stopped],
    ['nobody knows, and it ended well', succeeded, undefined, succeeded],
    ['its target ended', { kind: 'target-ended', exitCode: 137 }, 0, { kind: 'target-ended', exitCode: 137 }],
    ['its pod is gone', { kind: 'pod-gone' }, 0, { kind: 'pod-gone' }],
  ] as const)('when %s', (_name, outcome, exitCode, expected) => {
    expect(outcomeAfterStop(outcome, stop, exitCode)).toEqual(expected);
  });

  it('is its own where nothing was sent, or the stop had failed', () => {
    const { container: _, ...unsent } = stop;
    expect(outcomeAfterStop(failed(143), unsent, 0)).toEqual(failed(143));
    expect(outcomeAfterStop(failed(143), { ...stop, failed: { why: 'w', atMs: 1 } }, 0)).toEqual(failed(143));
    expect(outcomeAfterStop(failed(143), undefined, 0)).toEqual(failed(143));
  });
});
