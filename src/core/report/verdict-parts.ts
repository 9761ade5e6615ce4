import { labelOf } from '../diagnosis/verdict.ts';
import type { Run, Verdict, VerdictFinding } from '../run/run.ts';
import { formatCount } from './duration.ts';
import { type Message, type Part, type Span, strong, text } from './message.ts';

/** What a diagnosis came to, in the order in which people need it: findings, what is fine, what could not be seen, and the way on. */
export function verdictParts({ id, verdict }: Run): readonly Part[] {
  if (!verdict) return [];
  const { fine, unseen = [], lookAgain } = verdict;
  return [
    ...findingsPart(verdict),
    ...(fine === undefined ? [] : [paragraph([strong('Checked, no problems: '), text(fine)])]),
    ...(unseen.length === 0 ? [] : [paragraph([strong('Not checked:')]), list(unseen.map((line) => [text(line)]))]),
    ...(lookAgain
      ? [{ kind: 'actions', buttons: [{ action: 'look-again', label: labelOf(lookAgain), value: id }] } as const]
      : []),
  ];
}

function findingsPart({ findings, more = 0 }: Verdict): readonly Part[] {
  if (findings.length === 0) return [];
  const rest: readonly (readonly Span[])[] = more === 0 ? [] : [[text(`${more} more in the report`)]];
  return [list([...findings.map(findingSpans), ...rest])];
}

const findingSpans = ({ text: found, limit, next }: VerdictFinding): readonly Span[] => [
  strong(found),
  text([limit === undefined ? '.' : ` (threshold: ${limit})`, next === '' ? '' : ` ${next}`].join('')),
];

/** Whether a long report is not shown besides: the verdict has said what it says. */
export const isOnlyInFile = ({ verdict, log, delivery }: Run): boolean =>
  verdict?.line !== undefined && log !== undefined && log.omittedLines > 0 && delivery.fileLost === undefined;

/** What stands in its place. */
export const reportPart = (lines: number): Part =>
  paragraph([text(`Full report attached (${formatCount(lines, 'line')})`)]);

/** As a heading: without the stop that ends the image's sentence. */
export const headlineOf = (verdict: Verdict | undefined): string | undefined => verdict?.line?.replace(/\.$/, '');

/** How bad it is: something wrong asks for attention, something worth knowing does not. */
export function toneOf(verdict: Verdict | undefined, tone: Message['tone']): Message['tone'] {
  const isWrong = verdict?.findings.some(({ rank = 2 }) => rank < 3) ?? false;
  return tone === 'success' && isWrong ? 'attention' : tone;
}

const paragraph = (spans: readonly Span[]): Part => ({ kind: 'paragraph', spans });
const list = (items: readonly (readonly Span[])[]): Part => ({ kind: 'list', items });
