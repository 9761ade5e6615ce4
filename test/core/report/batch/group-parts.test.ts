import { expect, it } from 'vitest';
import type { ResultGroup } from '../../../../src/core/batch/pod-result.ts';
import { groupsPart } from '../../../../src/core/report/batch/result-message.ts';

const GROUP: ResultGroup = { state: 'succeeded', exitCode: 0, findings: [], count: 1, examples: [{ name: 'web-3' }] };

const wordsOf = (groups: readonly ResultGroup[], isPrivate = false): readonly string[] =>
  groupsPart(groups, isPrivate).flatMap((part) =>
    part.kind === 'list'
      ? part.items.map((spans) => spans.map((span) => ('text' in span ? span.text : '')).join(''))
      : [],
  );

it('an outlier is named with what its report says', () => {
  const examples = [{ name: 'web-3', verdict: '1 finding: 300 in CLOSE_WAIT' }, { name: 'web-5' }];
  const group = { ...GROUP, findings: ['close_wait'], count: 2, examples };
  expect(wordsOf([group])).toEqual(['2 pods succeeded: close_wait · web-3 (1 finding: 300 in CLOSE_WAIT) web-5']);
  expect(wordsOf([group], true)).toEqual(['2 pods succeeded: close_wait · web-3 web-5']);
});

it('eight groups of five long reports are still one short message', () => {
  const examples = Array.from({ length: 5 }, (_, index) => ({ name: `web-${index}`, verdict: 'x'.repeat(200) }));
  const groups = Array.from({ length: 9 }, () => ({ ...GROUP, count: 5, examples }));
  expect(wordsOf(groups).join('').length).toBeLessThan(5_000);
});
