import { FINDINGS } from '../src/core/diagnosis/report-verdict.ts';
import type { Generated } from './generated.ts';

/** The thresholds and next steps inside the images that are written in Go: lines and tabs, because to read JSON there takes 80 kB of code. */
export const findingsInTools: Generated = {
  path: 'images/tools/internal/rules/findings.tsv',
  text: () => {
    const rules = FINDINGS.filter(({ seenBy }) => seenBy === 'image').map(
      ({ code, section, rank, threshold, below, next }) =>
        [code, section, rank, threshold ?? 'none', below === true ? 'below' : 'above', next].join('\t'),
    );
    return `${rules.join('\n')}\n`;
  },
};
