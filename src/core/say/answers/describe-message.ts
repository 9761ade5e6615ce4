import { formatCount } from '../../../lib/duration.ts';
import { sentence, shorten } from '../../../lib/text.ts';
import { type Pod, type PodSecurityLevel, workloadOf } from '../../container/pod.ts';
import type { ClusterFacts } from '../../diagnosis/facts/facts.ts';
import { isTrouble, type Verdict } from '../../diagnosis/facts/verdict.ts';
import { firstAnswer } from '../../diagnosis/first-answer.ts';
import { spanOf } from '../../diagnosis/reading/phrases.ts';
import { REASONS } from '../../errors.ts';
import type { PossibleImage, PossibleRun, PossibleRuns } from '../../planning/possible-runs.ts';
import type { Denial } from '../../policy/policy.ts';
import { foreignLine } from '../../redact/clean-text.ts';
import { COMMAND } from '../../shown-names.ts';
import { code, type Message, type Part, paragraph, type Span, strong, text } from '../message/message.ts';
import { firstLineOf, headlineOf, leadingFinding, verdictTone, wholeHeadline } from '../parts/headline.ts';
import { conditionsPart, containersPart, type EarlierContainer, earlierPart, eventsPart } from '../parts/pod-parts.ts';
import { evidenceParts, unseenPart } from '../parts/result-parts.ts';

/** What kdebug knows of a pod, for somebody who may see it. */
export interface PodDescription {
  readonly facts: ClusterFacts;
  readonly cluster: string;
  readonly podSecurity: PodSecurityLevel;
  readonly possible: PossibleRuns | Denial;
  readonly earlier: readonly EarlierContainer[];
}

const MAX_NAME = 50;

/**
 * The answer to `describe`: the same first answer that a diagnosis begins with, and the next step; then its containers,
 * what Kubernetes says of it, what this channel may run in it, and the debug containers that it holds. One finding is
 * named once. Pure.
 */
export function podMessage(description: PodDescription): Message {
  const { facts, possible, earlier } = description;
  const { pod, nowMs, events } = facts;
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
  const verdict = firstAnswer(facts);
  const headline = headlineOf(verdict) ?? 'Nothing found';
  const first = firstLineOf(name, headline);
  const context = {
    named: verdict.findings.map((finding) => finding.text),
    isExplained: verdict.findings.some(isTrouble),
    nowMs,
  };
  return {
    summary: wordsOf(first),
    tone: verdictTone(verdict),
    parts: [
      paragraph(first),
      ...nextParts(verdict),
      ...(wordsOf(first).endsWith(headline) ? [] : [paragraph([text(stopped(wholeHeadline(headline)))])]),
      ...evidenceParts(verdict),
      ...findingParts(verdict),
      ...containersPart(pod, context),
      ...conditionsPart(pod, context),
      ...(events ? eventsPart(events, context) : []),
      ...(leadingFinding(verdict) ? unseenPart(verdict) : []),
      ...possibleParts(possible),
      ...earlierPart(pod, earlier, nowMs),
      { kind: 'note', spans: [text(smallPrint(description))] },
    ],
  };
}

const wordsOf = (spans: readonly Span[]): string => spans.map((span) => ('text' in span ? span.text : '')).join('');

/** The next step; where nothing is wrong, what that rests on. */
function nextParts(verdict: Verdict): readonly Part[] {
  const leading = leadingFinding(verdict);
  if (leading) return leading.next === '' ? [] : [paragraph([text(leading.next)])];
  return verdictTone(verdict) === 'ended' ? unseenPart(verdict) : [];
}

/** The findings below the one that the first lines tell. */
function findingParts(verdict: Verdict): readonly Part[] {
  const { findings, more = 0 } = verdict;
  const leading = leadingFinding(verdict);
  const items = [
    ...findings
      .filter((finding) => finding !== leading)
      .map((finding) => [text(`${stopped(finding.text)} ${finding.next}`.trim())]),
    ...(more > 0 ? [[text(`… ${more} more`)]] : []),
  ];
  return items.length === 0 ? [] : [{ kind: 'list', items }];
}

/** With a full stop. A name in front stays as it is. */
const stopped = (words: string): string => (/[.!?)…]$/.test(words) ? words : `${words}.`);

function possibleParts(possible: PossibleRuns | Denial): readonly Part[] {
  if (possible.kind === 'deny') {
    const { title, hint } = REASONS[possible.code];
    return [paragraph([strong('No debug container can be added: '), text(`${sentence(title)} ${hint}`)])];
  }
  const { images, more } = possible;
  const rest: readonly (readonly Span[])[] = more === 0 ? [] : [[text(`… ${formatCount(more, 'more image')}`)]];
  return [
    paragraph([strong('What this channel may run here')]),
    {
      kind: 'list',
      items:
        images.length === 0 ? [[text('Nothing: the policy names no images.')]] : [...images.map(imageSpans), ...rest],
    },
  ];
}

const COMMANDS = { default: ', default command', own: ', your own command', any: '' } as const;

function imageSpans({ alias, command, runs, denial }: PossibleImage): readonly Span[] {
  const name: readonly Span[] = [code(alias), text(`${COMMANDS[command]}: `)];
  if (denial) return [...name, text(`refused: ${REASONS[denial.code].title}: ${foreignLine(denial.subject)}`)];
  return [...name, ...runs.flatMap((run, index) => [...(index === 0 ? [] : [text('; ')]), ...runSpans(run)])];
}

function runSpans({ rule, approval, profiles }: PossibleRun): readonly Span[] {
  const what = `${profiles.join(', ')} (rule `;
  if (!approval) return [text(`allowed with ${what}`), code(rule), text(')')];
  const reason = approval.reason === 'required' ? ', with a --reason' : '';
  const who = `any ${approval.count} of ${approval.from.join(', ')}`;
  return [text(`${who} must approve ${what}`), code(rule), text(`)${reason}`)];
}

function smallPrint({ facts, cluster, podSecurity }: PodDescription): string {
  const { pod, node, nowMs } = facts;
  const workload = workloadOf(pod);
  const ageMs = nowMs - Date.parse(pod.metadata.creationTimestamp);
  return [
    ...(workload ? [`${workload.kind}/${shorten(workload.name, MAX_NAME)}`] : ['no workload']),
    pod.status.phase.toLowerCase(),
    nodeWords(pod, node?.conditions),
    `Pod Security ${podSecurity}`,
    ...(Number.isFinite(ageMs) ? [`${spanOf(ageMs)} old`] : []),
    `cluster ${cluster}`,
    'nothing was started',
  ].join(' · ');
}

function nodeWords({ spec }: Pod, conditions: NonNullable<ClusterFacts['node']>['conditions'] | undefined): string {
  if (spec.nodeName === undefined) return 'no node yet';
  const isReadyNode = conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  const state = conditions === undefined ? '' : isReadyNode ? ', ready' : ', not ready';
  return `node ${shorten(spec.nodeName, MAX_NAME)}${state}`;
}

/**
 * The one answer for a pod that does not exist and for one in a namespace that this channel may not see: it reveals
 * neither.
 */
export function noSuchPodMessage(pod: string, namespace: string): Message {
  const name = shorten(pod, MAX_NAME);
  return {
    summary: `There's no pod named ${name} in ${namespace} that this channel may see.`,
    tone: 'failure',
    parts: [
      paragraph([
        text("There's no pod named "),
        code(name),
        text(' in '),
        code(namespace),
        text(' that this channel may see.'),
      ]),
      paragraph([
        text('Check the name and -n; '),
        code(`${COMMAND} whoami`),
        text(' shows the namespaces of this channel.'),
      ]),
    ],
    code: 'pod_not_found',
  };
}
