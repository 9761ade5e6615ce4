import { describe, expect, it } from 'vitest';
import type { Run } from '../../../../src/core/run/run.ts';
import { askPart, runButtons, type Surface } from '../../../../src/core/say/parts/run-buttons.ts';
import { defined } from '../../../../src/lib/object.ts';
import { aPlan, aRequest, aRun } from '../../../support/builders.ts';
import { aBatchRun } from '../batch/a-batch-run.ts';

const log = {
  bytes: 7,
  lines: 1,
  sha256: '',
  redactions: 0,
  completeness: { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] },
  head: 'a line\n',
  tail: '',
  omittedLines: 0,
};
const done = { state: 'finished', outcome: { kind: 'succeeded' }, log } as const;
const lookAgain = { line: 'x', findings: [], lookAgain: { kind: 'general' } } as const;

const labels = (parts: Partial<Run>, surface: Surface) =>
  runButtons(aRun({ plan: aPlan(), ...parts }), surface).map(({ label }) => label);

describe('the buttons of a run fit its state', () => {
  it.each<[string, Partial<Run>, readonly string[], readonly string[]]>([
    ['received', { state: 'received' }, [], []],
    ['denied', { state: 'denied' }, [], []],
    ['waiting for an approval', { state: 'pending-approval' }, [], []],
    ['being launched', { state: 'launching' }, ['Details'], []],
    ['running', { state: 'running' }, ['Stop', 'Show log so far', 'Details'], []],
    ['rejected', { state: 'rejected' }, ['Details'], []],
    ['expired', { state: 'expired' }, ['Ask again', 'Details'], []],
    ['withdrawn', { state: 'cancelled' }, ['Ask again', 'Details'], []],
    ['finished', done, ['Run again', 'Copy command', 'Show log', 'Details'], ['Run again', 'Copy command', 'Details']],
    [
      'past its timeout and still running',
      { ...done, outcome: { kind: 'timed-out' }, startedAtMs: 1 },
      ['Stop', 'Run again', 'Copy command', 'Show log', 'Details'],
      ['Run again', 'Copy command', 'Details'],
    ],
    [
      'past its timeout and being stopped',
      {
        ...done,
        outcome: { kind: 'timed-out' },
        startedAtMs: 1,
        stop: { byUserId: 'U0BOB', requestedAtMs: 2, attempt: 1 },
      },
      ['Run again', 'Copy command', 'Show log', 'Details'],
      ['Run again', 'Copy command', 'Details'],
    ],
    [
      'finished without a line',
      { ...done, log: { ...log, bytes: 0 } },
      ['Run again', 'Copy command', 'Details'],
      ['Run again', 'Copy command', 'Details'],
    ],
    [
      'finished with more to see',
      { ...done, verdict: lookAgain },
      ['Look again as root', 'Run again', 'Copy command', 'Show log', 'Details'],
      ['Look again as root', 'Run again', 'Copy command', 'Details'],
    ],
    [
      'finished with a finding that another image can explain',
      { ...done, verdict: { ...lookAgain, nextImage: 'stacks' } },
      ['Look again as root', 'Get its stacks', 'Run again', 'Copy command', 'Details'],
      ['Look again as root', 'Get its stacks', 'Run again', 'Copy command', 'Details'],
    ],
    [
      'finished with its pod',
      { state: 'finished', outcome: { kind: 'pod-gone' } },
      ['Copy command', 'Details'],
      ['Copy command', 'Details'],
    ],
  ])('%s', (_, parts, card, result) => {
    expect(labels(parts, 'card')).toEqual(card);
    expect(labels(parts, 'result')).toEqual(result);
  });

  const workload = { kind: 'deployment', name: 'web' } as const;
  const wrong = { text: 'memory at 95%', next: 'raise it', rank: 1 } as const;
  const everyLead = { ...lookAgain, nextImage: 'stacks', findings: [wrong] } as const;
  const outcomes = [{ kind: 'succeeded' }, { kind: 'timed-out' }, { kind: 'pod-gone' }] as const;
  const finished = outcomes.flatMap((outcome) =>
    [undefined, lookAgain, { ...lookAgain, nextImage: 'stacks' }, everyLead].map((verdict) =>
      aRun({
        plan: aPlan({ workload }),
        ...done,
        outcome,
        startedAtMs: 1,
        ...defined({ verdict }),
      }),
    ),
  );

  it.each(finished)(
    'the card has every button of the result: a message with files may deliver no click (%#)',
    (run) => {
      const card = runButtons(run, 'card');
      expect(card).toEqual(expect.arrayContaining([...runButtons(run, 'result')]));
      expect(card.length).toBeLessThanOrEqual(card.some(({ action }) => action === 'stop') ? 6 : 5);
    },
  );

  it('the card of a private run has no button that gives the verdict away', () => {
    const run = aRun({ plan: aPlan({ workload }), ...done, verdict: everyLead });
    expect(runButtons(run, 'card').map(({ action }) => action)).toEqual(
      expect.arrayContaining(['look-again', 'next-image', 'compare']),
    );
    const quiet = aRun({ plan: aPlan({ workload }), ...done });
    expect(runButtons(run, 'private-card')).toEqual(runButtons(quiet, 'private-card'));
  });

  it('each carries the run’s id and nothing else', () => {
    const run = aRun({ plan: aPlan(), ...done });
    for (const { value } of [...runButtons(run, 'card'), ...runButtons(run, 'result')]) expect(value).toBe(run.id);
  });

  it('a batch has its own', () => {
    expect(runButtons(aBatchRun(), 'card')).toEqual([]);
    expect(runButtons(aBatchRun(), 'result')).toEqual([]);
  });
});

describe('Ask for it', () => {
  const shown = (code: string, profile: 'auto' | 'sysadmin' = 'auto') =>
    askPart(aRun({ request: aRequest({ profile }) }), { code, message: 'x', hint: 'y' }).length > 0;

  it('is shown where a reason or another profile would help', () => {
    expect(shown('reason_required')).toBe(true);
    expect(shown('profile_not_allowed')).toBe(true);
    expect(shown('profile_refused_here')).toBe(true);
    expect(shown('class_not_allowed', 'sysadmin')).toBe(true);
  });

  it('is not shown where neither would', () => {
    expect(shown('class_not_allowed')).toBe(false);
    expect(shown('namespace_not_allowed', 'sysadmin')).toBe(false);
  });
});
