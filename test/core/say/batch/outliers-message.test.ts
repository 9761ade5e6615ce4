import { expect, it } from 'vitest';
import type { BatchEvent } from '../../../../src/core/batch/batch.ts';
import { outliersMessage } from '../../../../src/core/say/batch/outliers-message.ts';
import { textOf } from '../../../support/plain-message.ts';
import { aBatchRun, ended } from './a-batch-run.ts';

const saying = (index: number, message: string): readonly BatchEvent[] => [
  { kind: 'launched', index },
  { kind: 'ended', index, result: { outcome: 'failed', exitCode: 2, reason: 'Error', message } },
];

const found = (index: number, finding: string): readonly BatchEvent[] => [
  { kind: 'launched', index },
  { kind: 'ended', index, result: { outcome: 'succeeded', findings: [finding] } },
];

const EVENTS = [...saying(0, 'no such file'), ...ended(1, 0), ...ended(2, 0), ...ended(3, 9), ...saying(4, 'denied')];

it('names each pod that differs from the most, with what it says, equal ones together', () => {
  const run = aBatchRun({ size: 6, events: [...EVENTS, ...ended(5, 0)] });
  expect(textOf(outliersMessage(run, false)).split('\n')).toEqual([
    '3 pods ended differently. The other 3 pods: the run succeeded.',
    '3 pods ended differently. The other 3 pods: the run succeeded.',
    'Pod | Result | What it says',
    'web-0 | the run failed, exit code 2 | no such file',
    'web-4 | the run failed, exit code 2 | denied',
    'web-3 | the run failed, exit code 9 | ',
    `batch ${run.id}`,
  ]);
});

it('keeps what the containers wrote from whom it is not for', () => {
  const hidden = textOf(outliersMessage(aBatchRun({ size: 6, events: [...EVENTS, ...ended(5, 0)] }), true));
  expect(hidden).toContain('web-4 | the run failed, exit code 2 | ');
  expect(hidden).not.toContain('denied');
});

it('names no finding of a report to whom it is not for', () => {
  const run = aBatchRun({ size: 3, events: [...found(0, 'oom_kill'), ...ended(1, 0), ...ended(2, 0)] });
  expect(textOf(outliersMessage(run, false))).toContain('oom kill');
  expect(textOf(outliersMessage(run, true))).not.toContain('oom');
});

it('shows forty pods and the number of the others, and nothing where all are equal', () => {
  const size = 120;
  const events = Array.from({ length: size }, (_, index) => ended(index, index < 50 ? 1 : 0)).flat();
  const many = outliersMessage(aBatchRun({ size, events }), false);
  expect(many.parts.flatMap((part) => (part.kind === 'table' ? part.rows : []))).toHaveLength(40);
  expect(textOf(many)).toContain('10 more pods: see the files of the batch');
  const equal = outliersMessage(aBatchRun({ size: 2, events: [...ended(0, 0), ...ended(1, 0)] }), false);
  expect(textOf(equal)).toContain('All pods have the same result. 2 pods: the run succeeded.');
});
