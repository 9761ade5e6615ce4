import { expect, it } from 'vitest';
import type { BatchEvent } from '../../../../src/core/batch/batch.ts';
import { countPods } from '../../../../src/core/batch/pod-state.ts';
import { buttonsPart } from '../../../../src/core/say/batch/batch-buttons.ts';
import { anApproval } from '../../../support/builders.ts';
import { aBatchRun, type BatchRunParts, ended } from './a-batch-run.ts';

const buttonsOf = (parts: BatchRunParts) => {
  const run = aBatchRun(parts);
  return buttonsPart(run, countPods(run.batch)).flatMap((part) => (part.kind === 'actions' ? part.buttons : []));
};
const labelsOf = (parts: BatchRunParts): readonly string[] => buttonsOf(parts).map(({ label }) => label);

const PAUSED: BatchEvent = { kind: 'paused', byUserId: 'U0ROY' };
const CANCELLED: BatchEvent = { kind: 'cancelled', byUserId: 'U0ROY' };
const LAUNCHED: BatchEvent = { kind: 'launched', index: 0 };
const CANARY = { request: { batch: { canary: true } } };

it.each<[string, BatchRunParts, readonly string[]]>([
  ['that may run', {}, ['Pause', 'Change size', 'Cancel batch']],
  ['that runs', { events: [LAUNCHED] }, ['Pause', 'Change size', 'Cancel batch']],
  ['that is paused', { events: [PAUSED] }, ['Resume', 'Change size', 'Cancel batch']],
  ['whose canary succeeded', { ...CANARY, events: ended(0, 0) }, ['Continue', 'Pause', 'Change size', 'Cancel batch']],
  [
    'whose canary failed',
    { ...CANARY, events: ended(0, 1) },
    ['Continue anyway', 'Pause', 'Change size', 'Cancel batch'],
  ],
  ['that is cancelled, with pods still at work', { events: [LAUNCHED, CANCELLED] }, []],
  ['that ended with pods left', { events: [...ended(0, 0), CANCELLED] }, ['Run 3 other pods']],
  [
    'that ended with different results',
    { size: 2, events: [...ended(0, 0), ...ended(1, 1)] },
    ['Retry 1 failed', 'Show outliers'],
  ],
  ['that ended well', { size: 1, events: ended(0, 0) }, []],
  ['that waits for its approval', { run: { state: 'pending-approval', approval: anApproval() } }, []],
])('a batch %s has the buttons that apply', (_where, parts, labels) => {
  expect(labelsOf(parts)).toEqual(labels);
});

it('every button carries the run’s id alone, and cancelling is asked for twice', () => {
  const buttons = buttonsOf({ events: [LAUNCHED] });
  expect(new Set(buttons.map(({ value }) => value))).toEqual(new Set([aBatchRun().id]));
  expect(buttons.find(({ action }) => action === 'cancel')?.confirm?.text).toContain(
    "can't be stopped and will finish",
  );
  expect(buttonsOf({}).find(({ action }) => action === 'cancel')?.confirm?.text).toContain(
    'No container is running now',
  );
});
