import type { ClusterRule } from '../src/core/diagnosis/facts/cluster-rule.ts';
import type { FindingRule } from '../src/core/diagnosis/facts/rules.ts';
import { FINDINGS } from '../src/core/diagnosis/findings.ts';
import { CLUSTER_RULES } from '../src/core/diagnosis/look-at-cluster.ts';
import { type Generated, table } from './generated.ts';

const RANKS: Readonly<Record<FindingRule['rank'], string>> = { 1: 'failing now', 2: 'about to', 3: 'worth knowing' };

function limitOf({ threshold, below, unit = '' }: FindingRule): string {
  return threshold === undefined ? 'being there' : `${below ? 'below' : 'above'} ${threshold} ${unit}`.trim();
}

const showsMore = ({ nextImage, nextImageOf }: FindingRule): string =>
  nextImage === undefined ? '' : `\`${nextImage}\`${nextImageOf === undefined ? '' : ` (${nextImageOf})`}`;

const inCode = (codes: readonly string[]): string => codes.map((code) => `\`${code}\``).join(', ');

/** What stands behind it, and what it makes redundant. */
function explainsOf({ explains = [], replaces = [] }: ClusterRule): string {
  const parts = [
    explains.length > 0 ? `before ${inCode(explains)}` : '',
    replaces.length > 0 ? `instead of ${inCode(replaces)}` : '',
  ];
  return parts.filter((part) => part !== '').join('; ');
}

const HEADS = [
  'code',
  'section',
  'how bad',
  'what it means',
  'found when',
  'what to do',
  'what shows more',
  'where the threshold comes from',
];

const cellsOf = (rule: FindingRule): readonly string[] => [
  `\`${rule.code}\``,
  rule.section,
  RANKS[rule.rank],
  rule.means,
  limitOf(rule),
  rule.next,
  showsMore(rule),
  rule.source,
];

const imageTable = () => table(HEADS, FINDINGS.filter(({ seenBy }) => seenBy === 'image').map(cellsOf));

const clusterTable = () =>
  table(
    [...HEADS, 'what is read', 'what it explains'],
    CLUSTER_RULES.map((rule) => [...cellsOf(rule), rule.reads, explainsOf(rule)]),
  );

/** Every finding of a diagnosis, from the one table. */
export const findingsPage: Generated = {
  path: 'docs/findings.md',
  text: () => `# Findings

Made from \`src/core/diagnosis/\` by \`npm run gen\`: change it there. Codes are stable. The image's script takes its thresholds
and next steps from the same table. A verdict shows the worst three, in the order *failing now*, *about to*, *worth knowing*.
*What shows more* is the image that the answer offers as a button ([the next image](diagnostic-images.md#the-next-image)).

## Seen by the image, beside the target

${imageTable()}

## Seen by the bot, through the Kubernetes API and in the logs of the pod's own containers

In the order in which an answer names them: of findings of one rank, a cause stands before its effects. A rank may differ where the
facts say so: a first failure of a pod that is starting is only worth knowing.

A line of the log of a program that is ready is no alarm, whatever its level: it is worth knowing, behind everything that was measured. It
becomes one beside a symptom: the pod is not ready, a container was restarted lately, a probe fails, the lines grow in number, or a look finds
what the line gives the cause of. A line that came once, or before the pod was ready, is counted in the first line and quoted below.

${clusterTable()}
`,
};
