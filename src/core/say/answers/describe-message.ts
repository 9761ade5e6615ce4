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
import { dotted, joined, line, list, message, note, paragraph, plainText, type Shown } from '../message/line.ts';
import { code, type Message, type Span, strong } from '../message/message.ts';
import { firstLineOf, headlineOf, leadingFinding, verdictTone, wholeHeadline } from '../parts/headline.ts';
import { conditionsPart, containersPart, type EarlierContainer, earlierPart, eventsPart } from '../parts/pod-parts.ts';
import { changedPart, evidenceParts, unseenPart } from '../parts/result-parts.ts';

/** kdebug's knowledge of a pod, for somebody who may see it. */
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
  return message({ tone: verdictTone(verdict) }, [
    paragraph`${first}`,
    nextPart(verdict),
    !plainText(first).endsWith(headline) && paragraph`${stopped(wholeHeadline(headline))}`,
    changedPart(verdict),
    evidenceParts(verdict),
    findingsPart(verdict),
    containersPart(pod, context),
    conditionsPart(pod, context),
    events && eventsPart(events, context),
    leadingFinding(verdict) && unseenPart(verdict),
    possibleParts(possible),
    earlierPart(pod, earlier, nowMs),
    note`${smallPrint(description)}`,
  ]);
}

/** The next step; where nothing is wrong, what that rests on. */
function nextPart(verdict: Verdict): Shown {
  const leading = leadingFinding(verdict);
  if (leading) return paragraph`${leading.next}`;
  return verdictTone(verdict) === 'ended' && unseenPart(verdict);
}

/** The findings below the one that the first lines tell. */
function findingsPart(verdict: Verdict): Shown {
  const { findings, more = 0 } = verdict;
  const others = findings.filter((finding) => finding !== leadingFinding(verdict));
  const items = others.map((finding) => `${stopped(finding.text)} ${finding.next}`.trim());
  return list([...items, more > 0 && `… ${more} more`]);
}

/** With a full stop. A name in front stays as it is. */
const stopped = (words: string): string => (/[.!?)…]$/.test(words) ? words : `${words}.`);

function possibleParts(possible: PossibleRuns | Denial): Shown {
  if (possible.kind === 'deny') {
    const { title, hint } = REASONS[possible.code];
    return paragraph`${strong('No debug container can be added: ')}${sentence(title)} ${hint}`;
  }
  const { images, more } = possible;
  return [
    paragraph`${strong('What this channel may run here')}`,
    images.length === 0
      ? list(['Nothing: the policy names no images.'])
      : list([...images.map(imageSpans), more > 0 && `… ${formatCount(more, 'more image')}`]),
  ];
}

const COMMANDS = { default: ', default command', own: ', your own command', any: '' } as const;

function imageSpans({ alias, command, runs, denial }: PossibleImage): readonly Span[] {
  const what = denial
    ? `refused: ${REASONS[denial.code].title}: ${foreignLine(denial.subject)}`
    : joined(runs.map(runSpans), '; ');
  return line`${code(alias)}${COMMANDS[command]}: ${what}`;
}

function runSpans({ rule, approval, profiles }: PossibleRun): readonly Span[] {
  const what = line`${profiles.join(', ')} (rule ${code(rule)})`;
  if (!approval) return line`allowed with ${what}`;
  const { count, from, reason } = approval;
  return line`any ${count} of ${from.join(', ')} must approve ${what}${reason === 'required' && ', with a --reason'}`;
}

function smallPrint({ facts, cluster, podSecurity }: PodDescription): readonly Span[] {
  const { pod, node, nowMs } = facts;
  const workload = workloadOf(pod);
  const ageMs = nowMs - Date.parse(pod.metadata.creationTimestamp);
  return dotted([
    workload ? `${workload.kind}/${shorten(workload.name, MAX_NAME)}` : 'no workload',
    pod.status.phase.toLowerCase(),
    nodeWords(pod, node?.conditions),
    `Pod Security ${podSecurity}`,
    Number.isFinite(ageMs) && `${spanOf(ageMs)} old`,
    `cluster ${cluster}`,
    'nothing was started',
  ]);
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
  const name = code(shorten(pod, MAX_NAME));
  return message({ tone: 'failure', code: 'pod_not_found' }, [
    paragraph`There's no pod named ${name} in ${code(namespace)} that this channel may see.`,
    paragraph`Check the name and -n; ${code(`${COMMAND} whoami`)} shows the namespaces of this channel.`,
  ]);
}
