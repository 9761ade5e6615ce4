import { expect, it } from 'vitest';
import { newsWaitMs } from '../../../src/flow/reply/schedule.ts';
import { aBatchRun } from '../../core/say/batch/a-batch-run.ts';
import { START_MS } from '../../support/builders.ts';

it('looks at a batch in flight soon enough that its age moves, ever later, and never at one that waits for people', () => {
  const inFlight = aBatchRun({ events: [{ kind: 'launched', index: 0 }] });
  expect([0, 1, 2, 3].map((waits) => newsWaitMs(inFlight, waits))).toEqual([15_000, 30_000, 60_000, 60_000]);
  const waiting = { ...inFlight, batch: { ...inFlight.batch, idleSinceMs: START_MS } };
  expect(newsWaitMs(waiting, 0)).toBe(Number.POSITIVE_INFINITY);
});
