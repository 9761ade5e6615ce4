import { expect, it } from 'vitest';
import type { Run } from '../../../src/core/run/run.ts';
import { namesRequester } from '../../../src/core/say/run/run-messages.ts';
import { anApproval, aRun, START_MS } from '../../support/builders.ts';

const ended = (afterMs: number, parts: Partial<Run> = {}): Run =>
  aRun({
    state: 'finished',
    outcome: { kind: 'succeeded' },
    endedAtMs: START_MS + afterMs,
    finishedAtMs: START_MS + afterMs,
    ...parts,
  });

const found = (rank: 1 | 2 | 3) => ({ line: 'x', findings: [{ text: 'x', next: '', rank }] });

it.each<[string, Run, boolean]>([
  ['quick and fine', ended(9_000), false],
  ['just quick enough', ended(10_000), false],
  ['longer than ten seconds', ended(10_001), true],
  ['approved by somebody', ended(1_000, { approval: anApproval() }), true],
  ['failed', ended(1_000, { outcome: { kind: 'failed', exitCode: 1, reason: 'Error' } }), true],
  ['gone', ended(1_000, { outcome: { kind: 'pod-gone' } }), true],
  ['without an outcome', (({ outcome: _, ...run }) => run)(ended(1_000)), true],
  ['fine, with something wrong found', ended(1_000, { verdict: found(2) }), true],
  ['fine, with something worth knowing', ended(1_000, { verdict: found(3) }), false],
  ['fine, with nothing found', ended(1_000, { verdict: { line: 'No problems found', findings: [] } }), false],
])('a run that was %s', (_what, run, expected) => {
  expect(namesRequester(run)).toBe(expected);
});
