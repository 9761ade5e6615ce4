import { expect, it } from 'vitest';
import { asUserId } from '../../../src/core/ids.ts';
import { matchesFilter } from '../../../src/core/lookup/matching-runs.ts';
import type { RunFilter } from '../../../src/core/request/command.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { anOrigin, aPlan, aRequest, aRun } from '../../support/builders.ts';

const matches = (run: Run, filter: RunFilter): boolean => matchesFilter(run, filter, 'U0ROY');

const found = (rank: 1 | 2 | 3): Run =>
  aRun({
    state: 'finished',
    outcome: { kind: 'succeeded' },
    verdict: { line: 'Memory', findings: [{ text: 'Memory at 95%', next: '', rank }] },
  });

it.each<[string, Run, readonly string[], readonly string[]]>([
  ['that runs', aRun({ state: 'running' }), ['running'], ['waiting', 'problems', 'succeeded']],
  ['that was just received', aRun({ state: 'received' }), ['running'], ['waiting']],
  ['that waits for an approval', aRun({ state: 'pending-approval' }), ['waiting'], ['running']],
  ['that was denied', aRun({ state: 'denied' }), ['denied', 'refused'], ['problems', 'failed']],
  ['that was rejected', aRun({ state: 'rejected' }), ['rejected', 'refused'], ['expired']],
  ['that expired', aRun({ state: 'expired' }), ['expired', 'refused'], ['rejected']],
  ['that was withdrawn', aRun({ state: 'cancelled' }), ['cancelled'], ['refused']],
  ['that succeeded', found(3), ['succeeded'], ['problems', 'failed']],
  ['that found a problem', found(2), ['succeeded', 'problems'], ['failed']],
  [
    'that ran out of memory',
    aRun({ state: 'finished', outcome: { kind: 'oom-killed', exitCode: 137 } }),
    ['oom-killed', 'failed', 'problems'],
    ['succeeded', 'timed-out'],
  ],
])('a run %s is found by %j words and no other', (_, run, words, others) => {
  for (const outcome of words) expect(matches(run, { outcome: outcome as never })).toBe(true);
  for (const outcome of others) expect(matches(run, { outcome: outcome as never })).toBe(false);
});

it('a person finds their own runs', () => {
  const others = aRun({ origin: anOrigin({ requesterId: asUserId('U0BOB') }) });
  expect(matches(aRun(), { mine: true })).toBe(true);
  expect(matches(others, { mine: true })).toBe(false);
  expect(matches(others, {})).toBe(true);
});

it('a part of the pod that was planned is found; without a plan, of the name that was typed', () => {
  const planned = aRun({ plan: aPlan({ podName: 'web-7d9f-x1' }), request: aRequest({ target: { kind: 'all' } }) });
  expect(matches(planned, { pod: '7d9f' })).toBe(true);
  expect(matches(planned, { pod: 'cart' })).toBe(false);
  expect(matches(aRun(), { pod: 'web-' })).toBe(true);
  expect(matches(aRun({ request: aRequest({ target: { kind: 'all' } }) }), { pod: 'web' })).toBe(false);
});
