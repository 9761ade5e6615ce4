import { IMAGE_FINDINGS } from '../src/core/diagnosis/images/image-findings.ts';
import type { FindingRule } from '../src/core/diagnosis/rules.ts';
import type { Generated } from './generated.ts';

/** A word of the shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function branch({ code, section, rank, threshold, below, next }: FindingRule): string {
  const limit = threshold === undefined ? "''" : threshold;
  return [
    `        ${code}) r_section=${section} r_rank=${rank} r_threshold=${limit} r_below=${below === true}`,
    `            r_next=${quoted(next)} ;;`,
  ].join('\n');
}

/** The thresholds and next steps inside the image's script. */
export const findingsInScript: Generated = {
  path: 'images/autodiagnose/parts/findings.sh',
  text: () =>
    [
      '# Made from src/core/diagnosis/images/image-findings.ts by npm run gen.',
      '',
      '# Sets r_section, r_rank, r_threshold (nothing: being there is the finding), r_below and r_next of a finding.',
      'rule() {',
      '    case $1 in',
      ...IMAGE_FINDINGS.map(branch),
      "        *) r_section=context r_rank=3 r_threshold='' r_below=false r_next='' ;;",
      '    esac',
      '}',
      '',
    ].join('\n'),
};
