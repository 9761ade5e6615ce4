import { expect, it } from 'vitest';
import type { ResultGroup } from '../../../../src/core/batch/pod-result.ts';
import { groupsPart } from '../../../../src/core/say/batch/group-parts.ts';

const GROUP: ResultGroup = { state: 'succeeded', exitCode: 0, findings: [], count: 1, examples: [{ name: 'web-3' }] };

const rowsOf = (groups: readonly ResultGroup[], view: Parameters<typeof groupsPart>[1] = {}): readonly string[] =>
  groupsPart(groups, view).flatMap((part) =>
    part.kind === 'table'
      ? part.rows.map((row) =>
          row.map((cell) => cell.map((span) => ('text' in span ? span.text : '')).join('')).join(' | '),
        )
      : [],
  );

it('an outlier is named with what its report says', () => {
  const examples = [{ name: 'web-3', verdict: '1 finding: 300 in CLOSE_WAIT' }, { name: 'web-5' }];
  const group = { ...GROUP, findings: ['close_wait'], count: 2, examples };
  expect(rowsOf([group])).toEqual(['2 pods | found close wait | web-3 (1 finding: 300 in CLOSE_WAIT), web-5']);
});

it('what the headline or the second line says is not said again', () => {
  const failed: ResultGroup = { ...GROUP, state: 'failed', exitCode: 1, reason: 'Error' };
  expect(rowsOf([GROUP, failed])).toEqual(['1 pod | the run failed, exit code 1 | web-3']);
  expect(groupsPart([GROUP, failed], { except: failed })).toEqual([]);
  expect(groupsPart([GROUP], {})).toEqual([]);
});

it('of a large group three are named, of the largest none, and of the ninth group only the number of pods', () => {
  const of = (count: number, code: number): ResultGroup => ({
    ...GROUP,
    state: 'failed',
    exitCode: code,
    count,
    examples: Array.from({ length: 5 }, (_, index) => ({ name: `web-${index}` })),
  });
  const rows = rowsOf([1_200, 1_100, 6, 6, 6, 6, 6, 6, 6, 5].map((count, index) => of(count, index)));
  expect(rows[0]).toBe('1,200 pods | the run failed, exit code 0 | ');
  expect(rows[1]).toBe('1,100 pods | the run failed, exit code 1 | web-0, web-1, web-2 and 1,097 more');
  expect(rows.slice(8)).toEqual(['11 pods | in 2 other groups']);
});

it('eight groups of five long reports are still one short message', () => {
  const examples = Array.from({ length: 5 }, (_, index) => ({ name: `web-${index}`, verdict: 'x'.repeat(200) }));
  const groups = Array.from({ length: 9 }, () => ({ ...GROUP, findings: ['x'], count: 5, examples }));
  expect(rowsOf(groups).join('').length).toBeLessThan(5_000);
});
