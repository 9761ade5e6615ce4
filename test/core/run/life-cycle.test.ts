import { describe, expect, it } from 'vitest';
import { dueAtMs, isGivenUp, isSettled, type NextPost, nextPost, nextStep } from '../../../src/core/run/life-cycle.ts';
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

describe('dueAtMs', () => {
  it('is the expiry of an approval whose card stands', () => {
    const run = aRun({ state: 'pending-approval', approval: anApproval(), delivery: { anchor }, asked });
    expect(dueAtMs(run)).toBe(START_MS + 60_000);
    expect(dueAtMs({ ...run, delivery: {} })).toBe(0);
  });

  it('is the reminder before that, and now while somebody is still to be told', () => {
    const { asked: _, ...unasked } = aRun({ state: 'pending-approval', approval: anApproval(), delivery: { anchor } });
    expect(dueAtMs(unasked)).toBe(0);
    const { remindedAtMs: _reminded, ...before } = asked;
    expect(dueAtMs({ ...unasked, asked: before })).toBe(START_MS + 30_000);
    expect(dueAtMs({ ...unasked, asked: { ...asked, waiting: [{ kind: 'copy', userId: 'U0BOB' }] } })).toBe(0);
    const copy = { channelId: 'D0BOB', ts: '2.0', userId: 'U0BOB' };
    expect(dueAtMs({ ...unasked, asked: { ...asked, copies: [{ ...copy, shows: '' }] } })).toBe(0);
    expect(dueAtMs({ ...unasked, asked: { ...asked, copies: [{ ...copy, shows: 'waiting' }] } })).toBeGreaterThan(0);
  });

  it('is the next look for approvers whom Slack did not tell, and now once that has begun', () => {
    const run = aRun({ state: 'pending-approval', approval: anApproval(), delivery: { anchor } });
    const lookingAt = (again: { looks: number; atMs?: number }) => dueAtMs({ ...run, asked: { ...asked, again } });
    expect(lookingAt({ looks: 1, atMs: START_MS + 5_000 })).toBe(START_MS + 5_000);
    expect(lookingAt({ looks: 1, atMs: START_MS + 90_000 })).toBe(START_MS + 60_000);
    expect(lookingAt({ looks: 1 })).toBe(0);
  });

  it('is the end of an open grant of a run that is through', () => {
    const run = aRun({
      state: 'finished',
      outcome: { kind: 'succeeded' },
      grant: aGrant(),
      delivery: { closed: true },
    });
    expect(dueAtMs(run)).toBe(START_MS + 30 * 60_000);
    expect(dueAtMs({ ...run, delivery: {} })).toBe(0);
    expect(dueAtMs({ ...run, delivery: { closed: true, grantClosed: true } })).toBe(Number.POSITIVE_INFINITY);
    expect(dueAtMs({ ...run, state: 'running' })).toBe(0);
    // Its late end is waited for beside that.
    expect(dueAtMs({ ...run, outcome: { kind: 'no-status' } })).toBe(START_MS + 30 * 60_000);
    expect(dueAtMs({ ...run, grant: aGrant({ endedBy: 'U0BOB' }) })).toBe(0);
    const use = { runId: 'bbbbbbbbbb', userId: 'U0ROY', atMs: START_MS };
    expect(dueAtMs({ ...run, grant: aGrant({ maxRuns: 1, uses: [use] }) })).toBe(0);
    expect(dueAtMs({ ...run, grant: aGrant({ maxRuns: 1 }) })).toBeGreaterThan(0);
  });

  it('is now for a run that somebody must work on', () => {
    expect(dueAtMs(aRun({ state: 'running' }))).toBe(0);
    expect(dueAtMs(aRun({ state: 'finished' }))).toBe(0);
  });
});

describe('nextStep', () => {
  const NOW = START_MS + 1_000;
  const pending = aRun({ state: 'pending-approval', approval: anApproval(), delivery: { anchor }, asked });
  const givenUp = aRun({ state: 'finished', outcome: { kind: 'no-status' }, delivery: { closed: true } });

  it.each(['received', 'approved', 'launching', 'starting', 'running', 'collecting'] as const)(
    'of a run that is %s is its next stage',
    (state) => {
      expect(nextStep(aRun({ state }), NOW)).toEqual({ kind: 'advance' });
    },
  );

  it('of a run that waits for votes is to park it until its reminder or its expiry, and then to end it', () => {
    expect(nextStep(pending, NOW)).toEqual({ kind: 'park', untilMs: START_MS + 60_000 });
    expect(nextStep({ ...pending, delivery: {} }, NOW)).toEqual({ kind: 'post' });
    expect(nextStep(pending, START_MS + 60_000)).toEqual({ kind: 'advance' });
    const { remindedAtMs: _, ...before } = asked;
    expect(nextStep({ ...pending, asked: before }, START_MS + 30_000)).toEqual({ kind: 'post' });
  });

  it.each(['denied', 'rejected', 'expired', 'cancelled', 'finished'] as const)(
    'of a run that is %s is to say so',
    (state) => {
      expect(nextStep(aRun({ state }), NOW)).toEqual({ kind: 'post' });
      expect(nextStep(aRun({ state, delivery: { told: true, closed: true } }), NOW)).toEqual({ kind: 'done' });
    },
  );

  it('of a run with an open grant is to park it until that ends, and then to show it', () => {
    const run = aRun({
      state: 'finished',
      outcome: { kind: 'succeeded' },
      grant: aGrant(),
      delivery: { closed: true },
    });
    const untilMs = START_MS + 30 * 60_000;
    expect(nextStep(run, NOW)).toEqual({ kind: 'park', untilMs });
    expect(nextStep(run, untilMs)).toEqual({ kind: 'post' });
    expect(nextStep({ ...run, grant: aGrant({ endedBy: 'U0BOB' }) }, NOW)).toEqual({ kind: 'post' });
  });

  it('of a run that was given up is to await its late end, but no longer than its grant is open', () => {
    expect(nextStep(givenUp, NOW)).toEqual({ kind: 'await-late-end', untilMs: Number.POSITIVE_INFINITY });
    const untilMs = START_MS + 30 * 60_000;
    expect(nextStep({ ...givenUp, grant: aGrant() }, NOW)).toEqual({ kind: 'await-late-end', untilMs });
    expect(nextStep({ ...givenUp, grant: aGrant() }, untilMs)).toEqual({ kind: 'post' });
    expect(nextStep({ ...givenUp, late: true }, NOW)).toEqual({ kind: 'done' });
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

describe('nextPost', () => {
  const NOW = START_MS + 1_000;
  const refusal = { code: 'image_not_allowed', message: 'no', hint: 'ask' };
  const rehearsal = { accepted: true, cluster: '', patch: '' };

  /** The kinds of all posts that a run lacks, in their order. */
  function posts(run: ReturnType<typeof aRun>): readonly string[] {
    const done = new Set<NextPost['kind']>();
    for (let post = nextPost(run, { done, nowMs: NOW }); post.kind !== 'nothing'; ) {
      done.add(post.kind);
      post = nextPost(run, { done, nowMs: NOW });
    }
    return [...done];
  }

  it('of a run that is not planned is nothing, and of one at work its card', () => {
    expect(posts(aRun({ state: 'received' }))).toEqual([]);
    for (const state of ['pending-approval', 'approved', 'launching', 'starting', 'running', 'collecting'] as const)
      expect(posts(aRun({ state }))).toEqual(['card']);
  });

  it('of a run that has ended is its last card, then the result, then the record of both', () => {
    for (const state of ['rejected', 'expired', 'cancelled', 'finished'] as const)
      expect(posts(aRun({ state }))).toEqual(['card', 'result', 'completion']);
  });

  it('of a denied run is the refusal, once, after the card if there is one', () => {
    expect(posts(aRun({ state: 'denied', refusal }))).toEqual(['refusal']);
    expect(posts(aRun({ state: 'denied', refusal, delivery: { anchor } }))).toEqual(['card', 'refusal']);
    expect(posts(aRun({ state: 'denied', refusal, delivery: { told: true } }))).toEqual([]);
  });

  it('of a dry run is its outcome, once', () => {
    expect(posts(aRun({ state: 'cancelled', rehearsal }))).toEqual(['dry-run']);
    expect(posts(aRun({ state: 'cancelled', rehearsal, delivery: { told: true } }))).toEqual([]);
  });

  it('records the end of a grant only when it has ended', () => {
    const done = new Set<NextPost['kind']>(['card', 'result']);
    const run = aRun({ state: 'finished', grant: aGrant() });
    expect(nextPost(run, { done, nowMs: NOW })).toEqual({ kind: 'completion', grantClosed: false });
    const endMs = START_MS + 30 * 60_000;
    expect(nextPost(run, { done, nowMs: endMs })).toEqual({ kind: 'completion', grantClosed: true });
  });
});
