import type { FindingRule } from '../src/core/diagnosis/rules.ts';
import { FINDINGS } from '../src/core/diagnosis/verdict.ts';
import { type Generated, table } from './generated.ts';

const RANKS: Readonly<Record<FindingRule['rank'], string>> = { 1: 'failing now', 2: 'about to', 3: 'worth knowing' };

function limitOf({ threshold, below, unit = '' }: FindingRule): string {
  return threshold === undefined ? 'being there' : `${below ? 'below' : 'above'} ${threshold} ${unit}`.trim();
}

const showsMore = ({ nextImage, nextImageOf }: FindingRule): string =>
  nextImage === undefined ? '' : `\`${nextImage}\`${nextImageOf === undefined ? '' : ` (${nextImageOf})`}`;

const tableOf = (seenBy: FindingRule['seenBy']) =>
  table(
    [
      'code',
      'section',
      'how bad',
      'what it means',
      'found when',
      'what to do',
      'what shows more',
      'where the threshold comes from',
    ],
    FINDINGS.filter((rule) => rule.seenBy === seenBy).map((rule) => [
      `\`${rule.code}\``,
      rule.section,
      RANKS[rule.rank],
      rule.means,
      limitOf(rule),
      rule.next,
      showsMore(rule),
      rule.source,
    ]),
  );

/** Every finding of a diagnosis, from the one table. */
export const findingsPage: Generated = {
  path: 'docs/findings.md',
  text: () => `# Findings

Made from \`src/core/diagnosis/\` by \`npm run gen\`: change it there. Codes are stable. The image's script takes its thresholds
and next steps from the same table. A verdict shows the worst three, in the order *failing now*, *about to*, *worth knowing*.
*What shows more* is the image that the answer offers as a button ([the next image](diagnostic-images.md#the-next-image)).

## Seen by the image, beside the target

${tableOf('image')}

## Seen by the bot, through the Kubernetes API

${tableOf('cluster')}
`,
};
