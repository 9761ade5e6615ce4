import { describe, expect, it } from 'vitest';
import { deadlineOf } from '../../../src/core/run/life-cycle.ts';
import { aPlan, aRun, START_MS } from '../../support/builders.ts';

const launched = aRun({
  state: 'starting',
  plan: aPlan({ startDeadlineMs: 60_000, timeoutMs: 120_000 }),
  launchedAtMs: START_MS,
});

describe('deadlineOf', () => {
  it('has no clock before the launch', () => {
    expect(deadlineOf(aRun({ plan: aPlan() }), { kind: 'unseen' })).toBeUndefined();
  });

  it('ends a container that the kubelet never mentioned as no-status, at the start deadline', () => {
    expect(deadlineOf(launched, { kind: 'unseen' })).toEqual({
      atMs: START_MS + 60_000,
      outcome: { kind: 'no-status' },
    });
  });

  it("ends one that still waits as start-failed, in the kubelet's words", () => {
    expect(deadlineOf(launched, { kind: 'waiting', reason: 'ErrImagePull', message: 'no such image' })).toEqual({
      atMs: START_MS + 60_000,
      outcome: { kind: 'start-failed', reason: 'ErrImagePull', message: 'no such image' },
    });
  });

  it('gives a started one its run clock from its start', () => {
    const running = { ...launched, startedAtMs: START_MS + 5_000 };
    expect(deadlineOf(running, { kind: 'unseen' })).toEqual({
      atMs: START_MS + 125_000,
      outcome: { kind: 'timed-out' },
    });
  });
});
