import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFinal } from '../../../src/core/run/life-cycle.ts';
import type { RunEvent } from '../../../src/core/run/run-event.ts';
import type { RunState } from '../../../src/core/run/run-state.ts';
import { transition } from '../../../src/core/run/transition.ts';
import { aGrant, anAlertCard, anApproval, aPlan, aRule, aRun, aTermination, START_MS } from '../../support/builders.ts';
import { aBatch } from '../batch/a-batch.ts';

const approval = {
  from: ['sre'],
  count: 1,
  expiresMs: 1,
  reason: 'optional',
  voteReason: 'optional',
  grants: 'allowed',
} as const;
const planned = (decision: Extract<RunEvent, { kind: 'planned' }>['decision']): RunEvent => ({
  kind: 'planned',
  plan: aPlan(),
  planHash: 'h',
  decision,
  atMs: START_MS,
});

const EVENTS: Readonly<Record<RunEvent['kind'], RunEvent>> = {
  planned: planned({ kind: 'allow', rule: 'look' }),
  answered: {
    kind: 'answered',
    verdict: { line: 'web exited', findings: [] },
    plan: aPlan(),
    planHash: 'h',
    decision: { kind: 'allow', rule: 'look' },
    atMs: START_MS,
  },
  voted: {
    kind: 'voted',
    vote: { userId: 'U0BOB', kind: 'approve', atMs: START_MS },
    voter: { userId: 'U0BOB', isRequester: false, isAlso: () => false, isApprover: true },
  },
  expired: { kind: 'expired', atMs: START_MS + 60_000 },
  cancelled: { kind: 'cancelled', byUserId: 'U0ROY', atMs: START_MS },
  rehearsed: {
    kind: 'rehearsed',
    plan: aPlan(),
    planHash: 'h',
    decision: { kind: 'allow', rule: 'look' },
    rehearsal: { cluster: 'accepted', accepted: true, patch: '{}' },
    atMs: START_MS,
  },
  'grant-used': { kind: 'grant-used', use: { runId: 'bbbbbbbbbb', userId: 'U0ROY', atMs: START_MS } },
  'grant-ended': { kind: 'grant-ended', byUserId: 'U0BOB', atMs: START_MS },
  denied: { kind: 'denied', refusal: { code: 'c', message: 'm', hint: 'h' }, atMs: START_MS },
  unheard: { kind: 'unheard', refusal: { code: 'c', message: 'm', hint: 'h' }, atMs: START_MS },
  launching: { kind: 'launching', containerName: 'kdebug-a', notAfterMs: START_MS, ref: 'r' },
  launched: { kind: 'launched', atMs: START_MS },
  waiting: { kind: 'waiting', reason: 'ErrImagePull', message: 'm' },
  started: { kind: 'started', atMs: START_MS, imageId: 'i' },
  ended: { kind: 'ended', outcome: { kind: 'succeeded' }, termination: aTermination(), imageId: 'i', atMs: START_MS },
  finished: { kind: 'finished', outcome: { kind: 'succeeded' }, atMs: START_MS },
  'came-late': {
    kind: 'came-late',
    outcome: { kind: 'succeeded' },
    termination: aTermination(),
    imageId: 'i',
    atMs: START_MS,
  },
  // A batch is cancelled instead; for a single run, see stop.test.ts.
  'stop-requested': { kind: 'stop-requested', byUserId: 'U0ROY', atMs: START_MS },
  'stop-launching': {
    kind: 'stop-launching',
    container: { name: 'kdebug-b', image: 'autodiagnose:1', notAfterMs: START_MS },
  },
  'stop-ended': { kind: 'stop-ended', exitCode: 0, message: 'm', atMs: START_MS },
  'stop-failed': { kind: 'stop-failed', why: 'w', atMs: START_MS },
  batch: { kind: 'batch', event: { kind: 'paused', byUserId: 'U0ROY' }, atMs: START_MS },
  alerted: { kind: 'alerted', alert: anAlertCard({ version: 2 }) },
  joined: { kind: 'joined', threadOf: 'key', alert: anAlertCard({ joined: { to: 'node', name: 'node-1' } }) },
  threaded: { kind: 'threaded', threadTs: '1.0' },
  asked: { kind: 'asked', asked: { remindAtMs: START_MS, here: true, waiting: [], copies: [] } },
  delivered: { kind: 'delivered', event: { kind: 'anchor-posted', ref: { channelId: 'C0SHOP', ts: '1.0' } } },
};

const STATES: readonly RunState[] = [
  'received',
  'denied',
  'pending-approval',
  'rejected',
  'expired',
  'cancelled',
  'approved',
  'launching',
  'starting',
  'running',
  'collecting',
  'finished',
];

const same = (...states: readonly RunState[]): Partial<Record<RunState, RunState>> =>
  Object.fromEntries(states.map((state) => [state, state]));

/** A run on which every event of the table can happen in the right state. */
const aRunIn = (state: RunState) =>
  aRun({ state, approval: anApproval(), grant: aGrant(), batch: aBatch(), alert: anAlertCard() });

/** Where each event leads from each state; what is not here must change nothing. */
const MOVES: Readonly<Partial<Record<RunEvent['kind'], Partial<Record<RunState, RunState>>>>> = {
  planned: { received: 'approved' },
  answered: { received: 'finished' },
  denied: { received: 'denied', approved: 'denied' },
  // A batch that may run is another matter: see below.
  unheard: { 'pending-approval': 'denied' },
  voted: { 'pending-approval': 'approved' },
  expired: { 'pending-approval': 'expired' },
  cancelled: { 'pending-approval': 'cancelled' },
  rehearsed: { received: 'cancelled' },
  'grant-used': same('approved', 'launching', 'starting', 'running', 'collecting', 'finished'),
  'grant-ended': same('approved', 'launching', 'starting', 'running', 'collecting', 'finished'),
  launching: { approved: 'launching', launching: 'launching' },
  launched: { launching: 'starting' },
  waiting: { starting: 'starting' },
  started: { starting: 'running', running: 'running' },
  ended: { approved: 'collecting', launching: 'collecting', starting: 'collecting', running: 'collecting' },
  finished: { collecting: 'finished' },
  batch: { approved: 'running', running: 'running' },
  // The people who may decide, beside the card.
  asked: same(...STATES.filter((state) => state !== 'received')),
  // Its source may tell of an alert again at any time.
  alerted: same(...STATES),
  joined: { received: 'received' },
  threaded: { received: 'received' },
};

const kinds = Object.keys(EVENTS) as RunEvent['kind'][];

describe('transition', () => {
  for (const kind of kinds.filter((each) => each !== 'delivered')) {
    it.each(STATES)(`${kind} in the state %s moves only where the table says`, (state) => {
      const moved = transition(aRunIn(state), EVENTS[kind]);
      const expected = MOVES[kind]?.[state];
      if (expected === undefined) expect(moved).toEqual({ kind: 'illegal', state });
      else expect(moved).toMatchObject({ kind: 'moved', run: { state: expected } });
    });
  }

  it.each(STATES.filter((state) => state !== 'received'))(
    'records in the state %s what Slack has, without moving it',
    (state) => {
      expect(transition(aRun({ state }), EVENTS.delivered)).toMatchObject({
        kind: 'moved',
        run: { state, delivery: { anchor: { ts: '1.0' } } },
      });
    },
  );

  it('has nothing in Slack before it was planned', () => {
    expect(transition(aRun({ state: 'received' }), EVENTS.delivered).kind).toBe('illegal');
  });

  it('of an approved run that cannot be heard is denied, but for a batch, whose pods may be at work already', () => {
    expect(transition(aRun({ state: 'approved' }), EVENTS.unheard)).toMatchObject({ run: { state: 'denied' } });
    const batch = aRun({ state: 'approved', batch: aBatch() });
    expect(transition(batch, EVENTS.unheard)).toEqual({ kind: 'illegal', state: 'approved' });
  });

  it('of a batch is over when its batch is, and keeps what moved', () => {
    const cancelled = { kind: 'cancelled', byUserId: 'U0ROY' } as const;
    const run = aRun({ state: 'running', batch: aBatch({ size: 2 }) });
    expect(transition(run, { kind: 'batch', event: cancelled, atMs: START_MS + 7 })).toMatchObject({
      kind: 'moved',
      run: { state: 'finished', finishedAtMs: START_MS + 7, batch: { closed: { because: 'cancelled' } } },
    });
    const resumed = { kind: 'batch', event: { kind: 'resumed' }, atMs: START_MS } as const;
    expect(transition(run, resumed)).toEqual({ kind: 'illegal', state: 'running' });
    expect(transition(aRun({ state: 'running' }), resumed).kind).toBe('illegal');
  });

  it('follows the decision: allow, needs-approval, deny', () => {
    const stateAfter = (event: RunEvent) => {
      const moved = transition(aRun(), event);
      return moved.kind === 'moved' ? moved.run.state : moved.kind;
    };
    expect(stateAfter(planned({ kind: 'allow', rule: aRule().id }))).toBe('approved');
    expect(stateAfter(planned({ kind: 'needs-approval', rule: 'r', approval }))).toBe('pending-approval');
    expect(stateAfter(planned({ kind: 'deny', code: 'channel_unknown', subject: 'C' }))).toBe('denied');
  });

  it.each(['start-failed', 'no-status', 'timed-out', 'node-lost'] as const)(
    'the end of a run that was %s may come late, once',
    (kind) => {
      const outcome = kind === 'start-failed' ? ({ kind, reason: 'r', message: 'm' } as const) : ({ kind } as const);
      const first = transition(aRun({ state: 'finished', outcome, delivery: { closed: true } }), EVENTS['came-late']);
      expect(first).toMatchObject({
        kind: 'moved',
        run: { state: 'finished', late: true, outcome: { kind: 'succeeded' } },
      });
      if (first.kind !== 'moved') return;
      expect(first.run.delivery.closed).toBeUndefined();
      expect(transition(first.run, EVENTS['came-late']).kind).toBe('illegal');
    },
  );

  it('never leaves a final state, whatever the order of events', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...kinds), { maxLength: 30 }), (sequence) => {
        let run = aRun();
        let ended: RunState | undefined;
        for (const kind of sequence) {
          const moved = transition(run, EVENTS[kind]);
          if (moved.kind === 'moved') run = moved.run;
          if (ended !== undefined) expect(run.state).toBe(ended);
          if (isFinal(run.state)) ended = run.state;
        }
      }),
    );
  });
});

it.each(STATES)('the state %s is final exactly when nothing can happen in it', (state) => {
  const moves = kinds
    .filter((kind) => !['delivered', 'asked', 'alerted'].includes(kind) && !kind.startsWith('grant-'))
    .filter((kind) => transition(aRunIn(state), EVENTS[kind]).kind === 'moved');
  expect(isFinal(state)).toBe(moves.length === 0);
});
