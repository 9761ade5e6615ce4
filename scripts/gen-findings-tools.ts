import { FINDINGS } from '../src/core/diagnosis/report-verdict.ts';
import type { Generated } from './generated.ts';

/** The thresholds and next steps inside the images that are written in Go. */
export const findingsInTools: Generated = {
  path: 'images/tools/internal/rules/findings.json',
  text: () => {
    const rules = FINDINGS.filter(({ seenBy }) => seenBy === 'image').map(
      ({ code, section, rank, threshold, below, next }) => ({ code, section, rank, threshold, below, next }),
    );
    return `[\n${rules.map((rule) => `  ${JSON.stringify(rule)}`).join(',\n')}\n]\n`;
  },
};
