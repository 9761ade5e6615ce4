import { expect, it } from 'vitest';
import { batchMessage } from '../../../../src/core/report/batch/batch-message.ts';
import { START_MS } from '../../../support/builders.ts';
import { aBatchRun, type BatchRunParts, ended } from './a-batch-run.ts';

const progressAfter = (ms: number, parts: BatchRunParts): string =>
  JSON.stringify(batchMessage(aBatchRun(parts), { approvers: {}, nowMs: START_MS + ms }).parts);

const LAUNCHED = { kind: 'launched', index: 1 } as const;
const STARTED = { kind: 'started', index: 1 } as const;

it('says how long it may still take while pods run or wait for their turn', () => {
  const running = { size: 2, events: [...ended(0, 0), LAUNCHED, STARTED] };
  expect(progressAfter(20_000, running)).toContain('about 20 s left');
  expect(progressAfter(20_000, { size: 3, events: [...ended(0, 0), LAUNCHED] })).toContain('about 40 s left');
});

it('does not guess when what is left is only starting, or would be over before it is read', () => {
  const starting = { size: 2, events: [...ended(0, 0), LAUNCHED] };
  expect(progressAfter(20_000, starting)).not.toContain(' left');
  expect(progressAfter(500, { size: 2, events: [...ended(0, 0), LAUNCHED, STARTED] })).not.toContain(' left');
});
