import { expect, it } from 'vitest';
import { batchMessage } from '../../../../src/core/say/batch/batch-message.ts';
import type { Message } from '../../../../src/core/say/message/message.ts';
import { START_MS } from '../../../support/builders.ts';
import { textOf } from '../../../support/plain-message.ts';
import { aBatchRun, type BatchRunParts, ended } from './a-batch-run.ts';

const progressAfter = (ms: number, parts: BatchRunParts): string =>
  JSON.stringify(batchMessage(aBatchRun(parts), { approvers: {}, nowMs: START_MS + ms }).parts);

const LAUNCHED = { kind: 'launched', index: 1 } as const;
const STARTED = { kind: 'started', index: 1 } as const;

it('says how long it may still take while pods run or wait for their turn', () => {
  const running = { size: 2, events: [...ended(0, 0), LAUNCHED, STARTED] };
  expect(progressAfter(20_000, running)).toContain('1 done, 1 to go (about 20 s)');
  expect(progressAfter(20_000, { size: 3, events: [...ended(0, 0), LAUNCHED] })).toContain(
    '1 done, 2 to go (about 40 s)',
  );
});

it('does not guess when what is left is only starting, or would be over before it is read', () => {
  const starting = { size: 2, events: [...ended(0, 0), LAUNCHED] };
  expect(progressAfter(20_000, starting)).not.toContain('(about');
  expect(progressAfter(500, { size: 2, events: [...ended(0, 0), LAUNCHED, STARTED] })).not.toContain('(about');
});

const linesOf = (message: Message): readonly string[] =>
  message.parts
    .flatMap((part) => (part.kind === 'paragraph' ? [part.spans] : []))
    .map((spans) => spans.map((span) => ('text' in span ? span.text : '')).join(''))
    .filter((text) => / succeeded · /.test(text))
    .flatMap((text) => text.split('\n'));

it('counts its pods in words, on a line that fits a phone', () => {
  const run = aBatchRun({
    size: 4,
    events: [...ended(0, 0), ...ended(1, 1), { kind: 'launched', index: 2 }, { kind: 'started', index: 2 }],
  });
  const message = batchMessage(run, { approvers: {}, nowMs: START_MS + 5_000 });
  expect(linesOf(message)).toEqual(['Runs: 1 succeeded · 1 failed · 1 running · 1 waiting']);
  expect(message.parts.some(({ kind }) => kind === 'preformatted')).toBe(false);
  expect(textOf(message)).toContain('autodiagnose on 4 pods in shop: 2 done, 2 to go');
  expect(textOf(message)).toContain('4 pods matched · for 5 s');
});

it('leaves out what nobody waits for once it has ended', () => {
  const run = aBatchRun({ size: 2, events: [...ended(0, 0), ...ended(1, 0)] });
  const message = batchMessage(run, { approvers: {}, nowMs: START_MS });
  expect(linesOf(message)).toEqual([]);
  expect(message.summary).toBe('autodiagnose on 2 pods in shop: all runs succeeded');
  expect(textOf(message)).toContain('2 pods matched · took ');
});

it('of many thousands of pods the line is still short', () => {
  const run = aBatchRun({ size: 2_000, events: ended(0, 0) });
  for (const line of linesOf(batchMessage(run, { approvers: {}, nowMs: START_MS })))
    expect(line.length).toBeLessThanOrEqual(64);
});
