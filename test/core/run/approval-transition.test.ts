import { describe, expect, it } from 'vitest';
import type { Run } from '../../../src/core/run/run.ts';
import type { RunEvent } from '../../../src/core/run/run-event.ts';
import { transition } from '../../../src/core/run/transition.ts';
import { aGrant, anApproval, aPlan, aRun, START_MS } from '../../support/builders.ts';

const bob = { userId: 'U0BOB', isRequester: false, isAlso: () => false, isApprover: true };
const voted = (kind: 'approve' | 'reject', parts: object = {}): RunEvent => ({
  kind: 'voted',
  vote: { userId: 'U0BOB', kind, atMs: START_MS },
  voter: bob,
  ...parts,
});
const pending = (parts: Partial<Run> = {}) => aRun({ state: 'pending-approval', approval: anApproval(), ...parts });

function runAfter(run: Run, event: RunEvent): Run | 'illegal' {
  const step = transition(run, event);
  return step.kind === 'moved' ? step.run : step.kind;
}

describe('a run that needs an approval', () => {
  const terms = {
    from: ['sre'],
    count: 2,
    expiresMs: 5_000,
    reason: 'optional',
    voteReason: 'required',
    grants: 'allowed',
  } as const;
  const planned = (parts: object = {}): RunEvent => ({
    kind: 'planned',
    plan: aPlan(),
    planHash: 'h',
    decision: { kind: 'needs-approval', rule: 'attach', approval: terms },
    atMs: START_MS,
    ...parts,
  });

  it('waits on the terms that the rule has at that moment', () => {
    expect(runAfter(aRun(), planned())).toMatchObject({
      state: 'pending-approval',
      approval: {
        rule: 'attach',
        from: ['sre'],
        count: 2,
        expiresAtMs: START_MS + 5_000,
        voteReason: 'required',
        grants: 'allowed',
        votes: [],
      },
    });
  });

  it('goes on at once on a grant', () => {
    const run = runAfter(aRun(), planned({ grantedBy: 'cccccccccc' }));
    expect(run).toMatchObject({ state: 'approved', grantedBy: 'cccccccccc', approvedAtMs: START_MS });
    expect(run).not.toHaveProperty('approval');
  });
});

describe('a vote', () => {
  it('that grants approves, keeps the vote, and the grant that came with it', () => {
    const run = runAfter(pending(), voted('approve', { grant: aGrant() }));
    expect(run).toMatchObject({ state: 'approved', approvedAtMs: START_MS, grant: { rule: 'attach' } });
    expect(run).toMatchObject({ approval: { votes: [{ userId: 'U0BOB', kind: 'approve' }] } });
    expect(runAfter(pending(), voted('approve'))).not.toHaveProperty('grant');
  });

  it('that rejects ends the run by that person', () => {
    expect(runAfter(pending(), voted('reject'))).toMatchObject({
      state: 'rejected',
      outcome: { kind: 'rejected', by: 'U0BOB' },
      finishedAtMs: START_MS,
    });
  });

  it('of several is only kept', () => {
    const run = runAfter(pending({ approval: anApproval({ count: 2 }) }), voted('approve'));
    expect(run).toMatchObject({ state: 'pending-approval', approval: { votes: [{ userId: 'U0BOB' }] } });
  });

  it('that does not count changes nothing', () => {
    expect(runAfter(pending(), voted('approve', { voter: { ...bob, isApprover: false } }))).toBe('illegal');
    expect(runAfter(pending({ approval: anApproval({ voteReason: 'required' }) }), voted('approve'))).toBe('illegal');
    const { approval: _, ...without } = pending();
    expect(runAfter(without, voted('approve'))).toBe('illegal');
  });
});

describe('an approval', () => {
  it('expires at its time and not before', () => {
    expect(runAfter(pending(), { kind: 'expired', atMs: START_MS + 59_999 })).toBe('illegal');
    expect(runAfter(pending(), { kind: 'expired', atMs: START_MS + 60_000 })).toMatchObject({
      state: 'expired',
      outcome: { kind: 'expired' },
      finishedAtMs: START_MS + 60_000,
    });
    const { approval: _, ...without } = pending();
    expect(runAfter(without, { kind: 'expired', atMs: START_MS + 60_000 })).toBe('illegal');
  });

  it('is cancelled by the requester only', () => {
    expect(runAfter(pending(), { kind: 'cancelled', byUserId: 'U0BOB', atMs: START_MS })).toBe('illegal');
    expect(runAfter(pending(), { kind: 'cancelled', byUserId: 'U0ROY', atMs: START_MS })).toMatchObject({
      state: 'cancelled',
      outcome: { kind: 'cancelled', by: 'U0ROY' },
      finishedAtMs: START_MS,
    });
  });
});

describe('a grant', () => {
  const use = { runId: 'bbbbbbbbbb', userId: 'U0ROY', atMs: START_MS };
  const carrying = (parts: object = {}) => aRun({ state: 'finished', grant: aGrant(parts) });

  it('counts a use, each run once', () => {
    const once = runAfter(carrying(), { kind: 'grant-used', use });
    expect(once).toMatchObject({ grant: { uses: [use] } });
    expect(once === 'illegal' ? once : runAfter(once, { kind: 'grant-used', use })).toBe('illegal');
  });

  it('is not used after its end or beyond its runs, nor where there is none', () => {
    expect(runAfter(carrying({ expiresAtMs: START_MS }), { kind: 'grant-used', use })).toBe('illegal');
    expect(runAfter(carrying({ maxRuns: 0 }), { kind: 'grant-used', use })).toBe('illegal');
    expect(runAfter(aRun({ state: 'finished' }), { kind: 'grant-used', use })).toBe('illegal');
  });

  it('is ended once, by a person', () => {
    const ended = runAfter(carrying(), { kind: 'grant-ended', byUserId: 'U0BOB', atMs: START_MS });
    expect(ended).toMatchObject({ grant: { endedBy: 'U0BOB' } });
    expect(
      ended === 'illegal' ? ended : runAfter(ended, { kind: 'grant-ended', byUserId: 'U0EVE', atMs: START_MS }),
    ).toBe('illegal');
    expect(runAfter(aRun({ state: 'finished' }), { kind: 'grant-ended', byUserId: 'U0BOB', atMs: START_MS })).toBe(
      'illegal',
    );
  });
});

describe('a rehearsal', () => {
  it('ends the run with what was found out', () => {
    const rehearsal = { accepted: true, cluster: 'yes', patch: '{}' };
    const decision = { kind: 'allow', rule: 'look' } as const;
    const run = runAfter(aRun(), {
      kind: 'rehearsed',
      plan: aPlan(),
      planHash: 'h',
      decision,
      rehearsal,
      atMs: START_MS,
    });
    expect(run).toMatchObject({ state: 'cancelled', rehearsal, planHash: 'h', decision, finishedAtMs: START_MS });
  });
});
