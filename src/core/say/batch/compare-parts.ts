import { shorten, shortenMiddle } from '../../../lib/text.ts';
import type { BatchPod } from '../../batch/batch.ts';
import { type Counts, endedOf, inFlightOf } from '../../batch/pod-state.ts';
import { type ComparedPod, type ComparisonResult, comparePods, type Difference } from '../../compare/compare.ts';
import type { PodFacts } from '../../compare/facts.ts';
import { NAMED_LINE_LENGTH } from '../../line-lengths.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { fact, joined, line, list, paragraph, plainText, type Shown } from '../message/line.ts';
import { code, type Fact, type Part, quietPerson, type Span, strong, type Tone } from '../message/message.ts';
import { STATE_TEXT } from '../parts/outcome-text.ts';

/** The files have all. */
const MAX_SHOWN = 8;
const MAX_NAME_LENGTH = 44;
const shortPodName = (name: string): string => shortenMiddle(name, MAX_NAME_LENGTH);

export const isComparison = ({ request }: Pick<BatchRun, 'request'>): boolean => request.target.kind === 'compare';

interface Compared {
  readonly sick: BatchPod | undefined;
  readonly siblings: readonly BatchPod[];
}

/** The sick pod by its name: a batch that was rebuilt from the cluster has another order. */
function podsOf({ request: { target }, batch: { pods } }: BatchRun): Compared {
  const name = target.kind === 'compare' ? target.name : undefined;
  return { sick: pods.find((pod) => pod.name === name), siblings: pods.filter((pod) => pod.name !== name) };
}

/** `web-2 and web-3`. */
function siblingWords(run: BatchRun): string {
  const names = podsOf(run).siblings.map(({ name }) => shortPodName(name));
  return names.length === 0 ? 'its siblings' : names.join(' and ');
}

/**
 * The sick pod's own differences. Undefined before the end, and if the record has no facts: it was lost, or is private.
 */
function comparisonResult(run: BatchRun): ComparisonResult | undefined {
  const { comparison, endedAtMs } = run.batch;
  const { sick, siblings } = podsOf(run);
  if (!sick || endedAtMs === undefined) return undefined;
  const factsOf = (pod: BatchPod): ComparedPod => ({
    name: shortPodName(pod.name),
    cluster: comparison?.facts[pod.uid],
    probe: probeOf(pod),
  });
  const pods = [sick, ...siblings].map(factsOf);
  if (pods.every(({ cluster, probe }) => !cluster && !probe)) return undefined;
  const result = comparePods(factsOf(sick), siblings.map(factsOf));
  return { ...result, notes: [...(comparison?.notes ?? []), ...result.notes] };
}

/** The image that shows more of what the sick pod has and its siblings have not. Undefined: nothing differs, or there is none. */
export const imageForDifference = (run: BatchRun): string | undefined =>
  (comparisonResult(run)?.differences.length ?? 0) > 0 ? run.batch.comparison?.nextImage : undefined;

const probeOf = ({ results = [] }: BatchPod): PodFacts | undefined => results[0]?.facts;

interface Headline {
  readonly tone: Tone;
  readonly spans: readonly Span[];
  readonly words: string;
}

function headline(tone: Tone, before: string, subject: string, after: string): Headline {
  const spans = line`${before}${strong(subject)}${after}`;
  return { tone, spans, words: plainText(spans) };
}

/** The first line of a comparison: once it has ended, the answer. */
export function compareHeadline(run: BatchRun, counts: Counts, isDecided: boolean): Headline {
  const { state, batch, plan, origin } = run;
  const name = shortPodName(podsOf(run).sick?.name ?? plan.podName);
  const others = ` with ${siblingWords(run)} in ${plan.namespace}`;
  const { tone } = STATE_TEXT[state];
  if (state === 'pending-approval') {
    const plain = headline(tone, 'compare ', name, others);
    return { ...plain, spans: line`${quietPerson(origin.requesterId)} wants to ${plain.spans}` };
  }
  if (!isDecided) return headline(tone, `${STATE_TEXT[state].headline}: compare `, name, others);
  if (batch.endedAtMs === undefined) {
    const left = inFlightOf(counts) + counts.queued;
    return headline('progress', 'Comparing ', name, `${others}: ${endedOf(counts)} done, ${left} to go`);
  }
  const result = comparisonResult(run);
  if (!result) return headline('ended', 'Compared ', name, others);
  const [first] = result.differences;
  if (first) return headline('attention', 'Only ', name, `: ${answerWords(result.differences, name.length)}`);
  // A failed probe cannot show that all is equal. Equal pods may be equally sick.
  const isWhole = batch.pods.every((pod) => probeOf(pod));
  return headline(isWhole ? 'ended' : 'attention', 'No difference between ', name, ' and its siblings was found');
}

/** As many differences as fit the first line. */
function answerWords(differences: readonly Difference[], used: number): string {
  const room = NAMED_LINE_LENGTH - used - 'Only : and 10 more'.length;
  const [first, ...others] = differences.map(({ sick }) => sick);
  let words = shorten(first ?? '', room);
  let named = 1;
  for (const other of others) {
    if (words.length + other.length + 2 > room) break;
    words += `; ${other}`;
    named += 1;
  }
  return named === differences.length ? words : `${words} and ${differences.length - named} more`;
}

/** Below the first line of an ended comparison: with whom, each difference, what is equal, what could not be compared. */
export function comparisonParts(run: BatchRun, buttons: readonly Part[]): Shown {
  const result = comparisonResult(run);
  if (!result) return buttons;
  const { differences, equal, notes } = result;
  const rest = differences.length - MAX_SHOWN;
  return [
    paragraph`Compared with ${siblingWords(run)}.`,
    buttons,
    list([...differences.slice(0, MAX_SHOWN).map(differenceSpans), rest > 0 && `${rest} more in the file`]),
    equal !== '' && paragraph`${strong('Equal, or within their range: ')}${equal}`,
    paragraph`${notes.join(' ')}`,
  ];
}

const differenceSpans = ({ sick, others }: Difference): readonly Span[] =>
  line`${strong(sick)}${others !== '' && ` (${others})`}`;

/** For who decides: which pods, and that the healthy ones get a container too. */
export function compareFacts(run: BatchRun): readonly Fact[] {
  const { sick, siblings } = podsOf(run);
  return [
    fact('Pods', joined([sick?.name ?? '', ...siblings.map(({ name }) => name)].map(code))),
    fact('Adds', 'a debug container to each of them, the healthy ones too; it stays as long as the pod'),
  ];
}

/** The same for the file, whole. */
export function* comparisonText(run: BatchRun): Generator<string> {
  const result = comparisonResult(run);
  if (!result) return;
  const { sick } = podsOf(run);
  yield `Only ${sick?.name ?? ''}, compared with ${siblingWords(run)}:\n`;
  for (const { sick: mine, others } of result.differences) yield `- ${mine}${others === '' ? '' : ` (${others})`}\n`;
  if (result.differences.length === 0) yield '- nothing\n';
  if (result.equal !== '') yield `Equal, or within their range: ${result.equal}\n`;
  for (const note of result.notes) yield `${note}\n`;
  yield '\n';
}
