import { describe, expect, it } from 'vitest';
import { isGivenUp, isSettled, parkedUntilMs } from '../../../src/core/run/life-cycle.ts';
import { aGrant, anApproval, aRun, START_MS } from '../../support/builders.ts';

const anchor = { channelId: 'C0SHOP', ts: '1.0' };
const asked = { remindAtMs: START_MS + 30_000, remindedAtMs: START_MS + 30_000, here: true, waiting: [], copies: [] };

describe('isSettled', () => {
  it('a denied run once it was told, any other final one once it is closed', () => {
    expect(isSettled(aRun({ state: 'denied' }))).toBe(false);
    expect(isSettled(aRun({ state: 'denied', delivery: { closed: true } }))).toBe(false);
    expect(isSettled(aRun({ state: 'denied', delivery: { told: true } }))).toBe(true);
    for (const state of ['finished', 'rejected', 'expired', 'cancelled'] as const) {
      expect(isSettled(aRun({ state }))).toBe(false);
      expect(isSettled(aRun({ state, delivery: { told: true } }))).toBe(false);
      expect(isSettled(aRun({ state, delivery: { closed: true } }))).toBe(true);
    }
  });

  it('a rehearsal once it was told', () => {
    const rehearsal = { accepted: true, cluster: '', patch: '' };
    expect(isSettled(aRun({ state: 'cancelled', rehearsal }))).toBe(false);
    expect(isSettled(aRun({ state: 'cancelled', rehearsal, delivery: { told: true } }))).toBe(true);
  });

  it('never a run that is not final, nor one whose grant was not shown to its end', () => {
    expect(isSettled(aRun({ state: 'running', delivery: { told: true, closed: true } }))).toBe(false);
    const run = aRun({ state: 'finished', grant: aGrant(), delivery: { closed: true } });
    expect(isSettled(run)).toBe(false);
    expect(isSettled({ ...run, delivery: { closed: true, grantClosed: true } })).toBe(true);
  });
});

describe('parkedUntilMs', () => {
  it('is the expiry of an approval whose card stands', () => {
    const run = aRun({ state: 'pending-approval', approval: anApproval(), delivery: { anchor }, asked });
    expect(parkedUntilMs(run)).toBe(START_MS + 60_000);
    expect(parkedUntilMs({ ...run, delivery: {} })).toBeUndefined();
  });

  it('is the reminder before that, and nothing while somebody is still to be told', () => {
    const { asked: _, ...unasked } = aRun({ state: 'pending-approval', approval: anApproval(), delivery: { anchor } });
    expect(parkedUntilMs(unasked)).toBeUndefined();
    const { remindedAtMs: _reminded, ...before } = asked;
    expect(parkedUntilMs({ ...unasked, asked: before })).toBe(START_MS + 30_000);
    expect(
      parkedUntilMs({ ...unasked, asked: { ...asked, waiting: [{ kind: 'copy', userId: 'U0BOB' }] } }),
    ).toBeUndefined();
    const copy = { channelId: 'D0BOB', ts: '2.0', userId: 'U0BOB' };
    expect(parkedUntilMs({ ...unasked, asked: { ...asked, copies: [{ ...copy, shows: '' }] } })).toBeUndefined();
    expect(parkedUntilMs({ ...unasked, asked: { ...asked, copies: [{ ...copy, shows: 'waiting' }] } })).toBeDefined();
  });

  it('is the end of an open grant of a run that is through', () => {
    const run = aRun({
      state: 'finished',
      outcome: { kind: 'succeeded' },
      grant: aGrant(),
      delivery: { closed: true },
    });
    expect(parkedUntilMs(run)).toBe(START_MS + 30 * 60_000);
    expect(parkedUntilMs({ ...run, delivery: {} })).toBeUndefined();
    expect(parkedUntilMs({ ...run, delivery: { closed: true, grantClosed: true } })).toBeUndefined();
    expect(parkedUntilMs({ ...run, state: 'running' })).toBeUndefined();
    // Its late end is waited for beside that.
    expect(parkedUntilMs({ ...run, outcome: { kind: 'no-status' } })).toBe(START_MS + 30 * 60_000);
    expect(parkedUntilMs({ ...run, grant: aGrant({ endedBy: 'U0BOB' }) })).toBeUndefined();
    const use = { runId: 'bbbbbbbbbb', userId: 'U0ROY', atMs: START_MS };
    expect(parkedUntilMs({ ...run, grant: aGrant({ maxRuns: 1, uses: [use] }) })).toBeUndefined();
    expect(parkedUntilMs({ ...run, grant: aGrant({ maxRuns: 1 }) })).toBeDefined();
  });

  it('is nothing for a run that somebody must work on', () => {
    expect(parkedUntilMs(aRun({ state: 'running' }))).toBeUndefined();
    expect(parkedUntilMs(aRun({ state: 'finished', delivery: { closed: true } }))).toBeUndefined();
  });
});

describe('isGivenUp', () => {
  it('when we stopped waiting and the cluster may not have', () => {
    expect(isGivenUp(aRun({ state: 'finished', outcome: { kind: 'no-status' } }))).toBe(true);
    expect(isGivenUp(aRun({ state: 'finished', outcome: { kind: 'no-status' }, late: true }))).toBe(false);
    expect(isGivenUp(aRun({ state: 'collecting', outcome: { kind: 'timed-out' } }))).toBe(false);
    expect(isGivenUp(aRun({ state: 'finished', outcome: { kind: 'succeeded' } }))).toBe(false);
    expect(isGivenUp(aRun({ state: 'finished' }))).toBe(false);
  });

  it('of a run that something of ours ended: when its launch was sent and never answered', () => {
    const run = aRun({ state: 'finished', outcome: { kind: 'internal', code: 'cluster_unreachable' } });
    expect(isGivenUp(run)).toBe(false);
    expect(isGivenUp({ ...run, containerName: 'kdebug-x' })).toBe(true);
    expect(isGivenUp({ ...run, containerName: 'kdebug-x', late: true })).toBe(false);
    expect(isGivenUp({ ...run, containerName: 'kdebug-x', launchedAtMs: START_MS })).toBe(false);
  });
});
