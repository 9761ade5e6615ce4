import { formatCount } from '../../../lib/duration.ts';
import { sentence, shorten } from '../../../lib/text.ts';
import { type Pod, type PodEvent, type PodSecurityLevel, unmetCondition, workloadOf } from '../../container/pod.ts';
import { type ClusterFacts, isOfDebugContainer } from '../../diagnosis/look-at-cluster.ts';
import { isOver, spanOf } from '../../diagnosis/pod-findings.ts';
import { findingsOf } from '../../diagnosis/verdict.ts';
import { REASONS } from '../../errors.ts';
import type { Denial } from '../../policy/policy.ts';
import type { PossibleImage, PossibleRun, PossibleRuns } from '../../policy/possible-runs.ts';
import type { VerdictFinding } from '../../run/run.ts';
import { COMMAND } from '../../shown-names.ts';
import { foreignLine } from '../log/clean-text.ts';
import { code, type Message, type Part, type Span, strong, type Tone, text } from '../message.ts';
import { conditionsPart, containersPart, type EarlierContainer, earlierPart, eventsPart } from '../parts/pod-parts.ts';

/** What kdebug knows of a pod, for somebody who may see it. */
export interface PodDescription {
  readonly facts: ClusterFacts;
  readonly cluster: string;
  readonly podSecurity: PodSecurityLevel;
  readonly possible: PossibleRuns | Denial;
  readonly earlier: readonly EarlierContainer[];
}

/** A line that a phone shows without much wrapping. */
const MAX_LINE = 118;
const MAX_NAME = 50;
const MAX_OTHER_FINDINGS = 4;

/**
 * The answer to `describe`: how the pod is, and the next step; then its containers, what Kubernetes says of it, what
 * this channel may run in it, and the debug containers that it holds. One finding is named once. Pure.
 */
export function podMessage(description: PodDescription): Message {
  const { facts, possible, earlier } = description;
  const { pod, nowMs, events } = facts;
  const { name, namespace } = pod.metadata;
  const shownName = shorten(`${namespace}/${name}`, MAX_NAME);
  const head = headOf(description);
  const context = {
    named: head.findings.map((finding) => finding.text),
    isExplained: head.worst !== undefined,
    nowMs,
  };
  const room = MAX_LINE - shownName.length;
  const line = shorten(head.line, room);
  return {
    summary: `${shownName}${line}`,
    tone: head.tone,
    parts: [
      paragraph([strong(shownName), text(line)]),
      paragraph([text(head.next)]),
      ...findingParts(head, room),
      ...containersPart(pod, context),
      ...conditionsPart(pod, context),
      ...(events ? eventsPart(events, context) : []),
      ...possibleParts(possible),
      ...earlierPart(pod, earlier, nowMs),
      { kind: 'note', spans: [text(smallPrint(description))] },
    ],
  };
}

interface Head {
  readonly tone: Tone;
  /** Follows the pod's name: `: web exited` or ` is healthy`. */
  readonly line: string;
  readonly next: string;
  readonly findings: readonly VerdictFinding[];
  /** The finding in `line`. */
  readonly worst?: VerdictFinding;
}

const TONES = { 1: 'failure', 2: 'attention' } as const;

function headOf({ facts }: PodDescription): Head {
  const findings = findingsOf(facts);
  const [worst] = findings;
  const rank = worst?.rank;
  if (!worst || (rank !== 1 && rank !== 2)) return { ...quietHead(facts), findings };
  return { tone: TONES[rank], line: `: ${worst.text}`, next: worst.next, findings, worst };
}

/** For a pod in which nothing is failing. */
function quietHead({ pod, events }: ClusterFacts): Pick<Head, 'tone' | 'line' | 'next'> {
  const { status, metadata } = pod;
  if (metadata.deletionTimestamp !== undefined && !isOver(pod)) {
    return { tone: 'progress', line: ' is being deleted', next: 'Its workload may start another pod.' };
  }
  switch (status.phase) {
    case 'Succeeded':
      return { tone: 'success', line: ' finished', next: 'All its containers exited with code 0.' };
    case 'Running':
      return isReady(pod)
        ? {
            tone: 'success',
            line: ` is healthy${readyWords(pod)}`,
            next: calmWords(pod, events),
          }
        : { tone: 'progress', line: ` is starting${readyWords(pod)}`, next: WAIT };
    case 'Pending':
      return { tone: 'progress', line: ' is starting', next: WAIT };
    default:
      return { tone: 'attention', line: ': its state is unknown', next: 'Check that its node answers.' };
  }
}

const WAIT = 'Give it a minute, then describe it again.';

const isReady = (pod: Pod): boolean => unmetCondition(pod, 'Ready') === undefined;

function readyWords({ status }: Pod): string {
  const ready = status.containerStatuses.filter((each) => each.ready).length;
  const all = status.containerStatuses.length;
  return all === 0 ? '' : `, ${ready} of ${formatCount(all, 'container')} ready`;
}

function calmWords({ status }: Pod, events: readonly PodEvent[] | undefined): string {
  const restarts = status.containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const count =
    restarts === 0 ? 'It has never restarted.' : `It has restarted ${formatCount(restarts, 'time')} in all.`;
  if (!events) return `${count} kdebug could not read its events.`;
  const hasWarnings = events.some((event) => event.type === 'Warning' && !isOfDebugContainer(event));
  return hasWarnings ? `${count} Kubernetes warned about it: see its events below.` : count;
}

/** The whole of a cut first line, and the findings that it does not name. */
function findingParts({ line, findings, worst }: Head, room: number): readonly Part[] {
  const others = findings.filter((finding) => finding !== worst);
  const shown = others.slice(0, MAX_OTHER_FINDINGS);
  const items = [
    ...(worst && line.length > room ? [[text(stopped(worst.text))]] : []),
    ...shown.map((finding) => [text(`${stopped(finding.text)} ${finding.next}`)]),
    ...(others.length > shown.length ? [[text(`… ${others.length - shown.length} more`)]] : []),
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

const paragraph = (spans: readonly Span[]): Part => ({ kind: 'paragraph', spans });
