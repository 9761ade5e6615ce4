import { expect, it } from 'vitest';
import { describeOutcome, happenedSpans } from '../../../src/core/report/outcome-text.ts';
import type { Outcome } from '../../../src/core/run/outcome.ts';

const ALL: { readonly [Kind in Outcome['kind']]: Extract<Outcome, { kind: Kind }> } = {
  succeeded: { kind: 'succeeded' },
  failed: { kind: 'failed', exitCode: 3, reason: 'Error' },
  'oom-killed': { kind: 'oom-killed', exitCode: 137 },
  'start-failed': { kind: 'start-failed', reason: 'ImagePullBackOff', message: 'Back-off pulling image "nope:1"' },
  'no-status': { kind: 'no-status' },
  'timed-out': { kind: 'timed-out' },
  stopped: { kind: 'stopped', by: 'U0ROY' },
  'target-ended': { kind: 'target-ended', exitCode: 137 },
  'pod-gone': { kind: 'pod-gone' },
  'pod-replaced': { kind: 'pod-replaced' },
  'node-lost': { kind: 'node-lost' },
  refused: { kind: 'refused', by: 'pod-security', message: 'violates PodSecurity' },
  denied: { kind: 'denied', code: 'channel_unknown' },
  rejected: { kind: 'rejected', by: 'Bob' },
  expired: { kind: 'expired' },
  cancelled: { kind: 'cancelled', by: 'Roy' },
  internal: { kind: 'internal', code: 'cluster_unreachable' },
};

it.each(Object.values(ALL))(
  '$kind has a title, a sentence on what happened and one on what to do, if there is anything to do',
  (outcome) => {
    const words = describeOutcome(outcome);
    expect(words.title).not.toBe('');
    expect(words.happened).not.toBe('');
    expect(words.next).toMatch(outcome.kind === 'succeeded' || outcome.kind === 'stopped' ? /^$/ : /\.$/);
    expect(words.next.length).toBeLessThan(120);
  },
);

it('the cluster’s and the kubelet’s own words are told', () => {
  expect(describeOutcome(ALL['start-failed']).happened).toContain('nope:1');
  expect(describeOutcome(ALL.refused).happened).toContain('violates PodSecurity');
});

it('whoever decided is a mention; nothing that a cluster says is one', () => {
  expect(happenedSpans({ kind: 'rejected', by: 'U0BOB' })).toEqual([
    { kind: 'person', userId: 'U0BOB' },
    { kind: 'text', text: ' rejected it.' },
  ]);
  expect(happenedSpans({ kind: 'cancelled', by: 'U0ROY' })[0]).toEqual({ kind: 'person', userId: 'U0ROY' });
  expect(happenedSpans({ kind: 'refused', by: 'webhook', message: 'ask U0BOB' })).toEqual([
    { kind: 'text', text: 'ask U0BOB' },
  ]);
});
