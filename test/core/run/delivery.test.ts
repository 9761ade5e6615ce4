import { describe, expect, it } from 'vitest';
import { type Delivery, type DeliveryEvent, deliveryTransition, reopened } from '../../../src/core/run/delivery.ts';
import { PLANNED_STATES, type RunState } from '../../../src/core/run/run-state.ts';

const CARD = { channelId: 'C0SHOP', ts: '1.0' };
const RESULT = { channelId: 'C0SHOP', ts: '2.0' };

const EVENTS: Readonly<Record<DeliveryEvent['kind'], DeliveryEvent>> = {
  'anchor-posted': { kind: 'anchor-posted', ref: CARD },
  'anchor-lost': { kind: 'anchor-lost' },
  'approval-posted': { kind: 'approval-posted' },
  'result-posted': { kind: 'result-posted', ref: RESULT, settled: { files: { 'a.log': 'F1' } } },
  'result-lost': { kind: 'result-lost', code: 'slack_refused' },
  'files-settled': {
    kind: 'files-settled',
    settled: { files: { 'a.log': 'F1' }, filesLost: { 'b.svg': 'slack_refused' } },
  },
  'private-answer-sent': { kind: 'private-answer-sent', lost: 'slack_refused' },
  'resolved-posted': { kind: 'resolved-posted' },
  completed: { kind: 'completed', grantClosed: true, alertVersion: 2, alertClosed: true },
};

/** What each event puts on record, and the states of the run in which it may happen. */
const TABLE: Readonly<Record<DeliveryEvent['kind'], { readonly record: Delivery; readonly in: readonly RunState[] }>> =
  {
    'anchor-posted': { record: { anchor: CARD }, in: PLANNED_STATES },
    'anchor-lost': { record: { anchorGone: true }, in: PLANNED_STATES },
    'approval-posted': { record: { approvalPosted: true }, in: PLANNED_STATES },
    'result-posted': {
      record: { result: RESULT, files: { 'a.log': 'F1' } },
      in: ['rejected', 'expired', 'cancelled', 'finished'],
    },
    'result-lost': { record: { lost: 'slack_refused' }, in: ['rejected', 'expired', 'cancelled', 'finished'] },
    'files-settled': {
      record: { files: { 'a.log': 'F1' }, filesLost: { 'b.svg': 'slack_refused' } },
      in: ['finished'],
    },
    'private-answer-sent': { record: { told: true, lost: 'slack_refused' }, in: ['denied', 'cancelled'] },
    'resolved-posted': {
      record: { resolvedPosted: true },
      in: ['denied', 'rejected', 'expired', 'cancelled', 'finished'],
    },
    completed: {
      record: { closed: true, grantClosed: true, alertVersion: 2, alertClosed: true },
      in: ['denied', 'rejected', 'expired', 'cancelled', 'finished'],
    },
  };

const STATES: readonly RunState[] = ['received', ...PLANNED_STATES];
const kinds = Object.keys(EVENTS) as DeliveryEvent['kind'][];

describe.each(kinds)('%s', (kind) => {
  it.each(STATES)('in the state %s', (state) => {
    const { record, in: allowed } = TABLE[kind];
    expect(deliveryTransition({}, EVENTS[kind], state)).toEqual(allowed.includes(state) ? record : undefined);
  });

  it('changes nothing that is on record already', () => {
    const { record, in: allowed } = TABLE[kind];
    for (const state of allowed) expect(deliveryTransition({ ...record }, EVENTS[kind], state)).toBeUndefined();
  });
});

it('keeps what was delivered before', () => {
  const files = { 'a.txt': 'F1' };
  expect(deliveryTransition({ anchor: CARD, files }, EVENTS['result-posted'], 'finished')).toEqual({
    anchor: CARD,
    files: { 'a.txt': 'F1', 'a.log': 'F1' },
    result: RESULT,
  });
  const without = { kind: 'result-posted', ref: RESULT, settled: { filesLost: { 'a.log': 'log_gone' } } } as const;
  expect(deliveryTransition({ anchor: CARD }, without, 'finished')).toEqual({
    anchor: CARD,
    result: RESULT,
    filesLost: { 'a.log': 'log_gone' },
  });
});

it.each(['anchor-posted', 'approval-posted', 'result-posted', 'files-settled'] as const)(
  'keeps which thread is gone in the record of a post: %s',
  (kind) => {
    const event = { ...EVENTS[kind], threadGone: '5.0' } as DeliveryEvent;
    const { record } = TABLE[kind];
    const once = deliveryTransition({}, event, 'finished');
    expect(once).toEqual({ ...record, threadsGone: ['5.0'] });
    expect(deliveryTransition(once ?? {}, event, 'finished')).toBeUndefined();
    const another = { ...event, threadGone: '6.0' } as DeliveryEvent;
    expect(deliveryTransition(once ?? {}, another, 'finished')?.threadsGone).toEqual(['5.0', '6.0']);
  },
);

it('closes the grant once, after the rest', () => {
  const open = deliveryTransition({}, { kind: 'completed', grantClosed: false }, 'finished');
  expect(open).toEqual({ closed: true });
  expect(deliveryTransition(open ?? {}, { kind: 'completed', grantClosed: true }, 'finished')).toEqual({
    closed: true,
    grantClosed: true,
  });
});

it('is open again before a late end, with its posts to be updated and another log to be shared', () => {
  const settled = { files: { 'a.log': 'F1' }, filesLost: { 'b.svg': 'x' } };
  const before: Delivery = { anchor: CARD, result: RESULT, ...settled, lost: 'y', closed: true };
  expect(reopened(before)).toEqual({ anchor: CARD, result: RESULT, ...settled });
});
