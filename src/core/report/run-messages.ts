import { afterWords, formatCount, formatDuration } from '../../lib/duration.ts';
import { visible } from '../../lib/invisible.ts';
import { classText } from '../policy/class-facts.ts';
import { isBatchRun } from '../run/life-cycle.ts';
import type { Outcome } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import { batchMessage } from './batch/batch-message.ts';
import { batchResultMessage } from './batch/result-message.ts';
import { code, type Fact, type Message, type Part, person, type Span, strong, type Tone, text } from './message.ts';
import { APPROVAL_NEEDED, describeOutcome, happenedSpans, OUTPUT_IS_PRIVATE, STATE_TEXT } from './outcome-text.ts';
import { type Approvers, approvalParts, decisionMessage } from './parts/approval-parts.ts';
import { powerParts, profileText } from './parts/power-parts.ts';
import {
  durationOf,
  headlineOf,
  logParts,
  lookedBy,
  nextPart,
  resultFacts,
  terminationPart,
  toneOf,
  verdictParts,
} from './parts/result-parts.ts';
import { runButtonsPart } from './parts/run-buttons.ts';
import { stopParts } from './parts/stop-parts.ts';
import { typedText } from './typed-text.ts';

/** What a message shows that is not in the run: the time, the approvers and, while it runs, its newest lines. */
export interface RenderContext {
  readonly nowMs: number;
  readonly approvers: Approvers;
  readonly tail?: string;
  /** The container's output is for the requester alone: the anchor shows none of it. */
  readonly isPrivate?: boolean;
}

/** The root message of a run. The same run and context always give the same message. */
export function anchorMessage(run: Run, context: RenderContext): Message {
  if (isBatchRun(run)) return batchMessage(run, context);
  const { tone, headline, besides } = statusOf(run, context);
  return {
    summary: summaryOf(run, headline),
    tone,
    parts: [
      {
        kind: 'paragraph',
        spans: [strong(headline), text('  '), code(podOf(run)), text('  '), ...containerSpans(run)],
      },
      { kind: 'facts', facts: planFacts(run) },
      ...approverPart(run),
      ...waitingPart(run),
      ...(besides === undefined ? [] : [paragraph(besides)]),
      ...stopParts(run, context.nowMs),
      ...approvalParts(run, context.approvers, context.nowMs),
      ...runButtonsPart(run, 'card'),
      ...tailPart(run, context),
      {
        kind: 'note',
        spans: [
          text('Asked by '),
          person(run.origin.requesterId),
          text(` · run ${run.id} · `),
          code(`/kdebug ${run.commandLine}`),
          ...(context.isPrivate ? [text(OUTPUT_IS_PRIVATE)] : []),
        ],
      },
    ],
  };
}

/**
 * The result reply of a finished run. It leads with the diagnosis' verdict if there is one, and mentions the requester
 * where `namesRequester` says so. A private result goes to a direct message, so it needs no mention; it has no buttons
 * because a direct message is no channel of the policy, where requests are possible.
 */
export function resultMessage(run: Run, { isPrivate = false }: Pick<RenderContext, 'isPrivate'> = {}): Message {
  if (run.state !== 'finished') return decisionMessage(run);
  if (isBatchRun(run)) return batchResultMessage(run);
  const { verdict } = run;
  const outcome = describeOutcome(run.outcome ?? { kind: 'internal', code: 'outcome_missing' });
  const headline = headlineOf(verdict) ?? outcome.title;
  return {
    summary: `${podOf(run)}: ${headline}`,
    tone: toneOf(verdict, outcome.tone),
    parts: [
      isPrivate || !namesRequester(run) ? { kind: 'heading', text: headline } : headlineFor(run, headline),
      ...(outcome.tone === 'success' && verdict ? [] : [happenedPart(run, outcome.happened)]),
      ...verdictParts(run).filter(({ kind }) => !isPrivate || kind !== 'actions'),
      { kind: 'facts', facts: resultFacts(run) },
      ...logParts(run),
      ...terminationPart(run),
      ...nextPart(run, outcome.next),
      { kind: 'note', spans: [text([`Run ${run.id}`, ...lookedBy(run)].join(' · '))] },
    ],
  };
}

/** A Slack header cannot hold a mention, so this is a paragraph. */
const headlineFor = ({ origin }: Run, headline: string): Part => ({
  kind: 'paragraph',
  spans: [person(origin.requesterId), text('  '), strong(headline)],
});

/** `podInText` reads the pod from it. */
function summaryOf(run: Run, headline: string): string {
  const subject = `${run.plan?.imageAlias ?? run.request.image ?? 'debug'} on ${subjectOf(run)}`;
  if (run.state !== 'pending-approval') return `${headline}: ${subject}`;
  const reason = run.plan?.reason;
  return `${APPROVAL_NEEDED}: ${subject}${reason === undefined ? '' : `: ${visible(reason)}`}`;
}

function tailPart(run: Run, { tail = '', isPrivate = false }: RenderContext): readonly Part[] {
  if (isPrivate) return [];
  const shown = tail.trimEnd();
  return run.state === 'running' && shown !== '' ? [{ kind: 'preformatted', text: shown }] : [];
}

/** Whoever stopped it is a mention. */
const happenedPart = ({ outcome }: Run, happened: string): Part =>
  outcome ? { kind: 'paragraph', spans: happenedSpans(outcome) } : paragraph(happened);

const paragraph = (sentence: string): Part => ({ kind: 'paragraph', spans: [text(sentence)] });

const podOf = (run: Run): string =>
  run.plan ? run.plan.podName : run.request.target.kind === 'pod' ? run.request.target.name : run.commandLine;

const subjectOf = (run: Run): string => (run.plan ? `${run.plan.namespace}/${run.plan.podName}` : podOf(run));

function containerSpans(run: Run): readonly Span[] {
  const { plan } = run;
  if (!plan) return [];
  return plan.targetContainerName === undefined
    ? [text('with no target container')]
    : [text('container '), code(plan.targetContainerName)];
}

interface Status {
  readonly tone: Tone;
  readonly headline: string;
  /** How it ended, where the verdict is the headline. */
  readonly besides?: string;
}

function statusOf(run: Run, { nowMs, isPrivate = false }: RenderContext): Status {
  if (run.state === 'finished' && run.outcome) return endOf(run, run.outcome, isPrivate);
  const { tone, headline } = STATE_TEXT[run.state];
  const sinceMs = run.startedAtMs ?? run.launchedAtMs;
  return {
    tone,
    headline:
      sinceMs === undefined || run.state === 'denied' ? headline : `${headline} · ${formatDuration(nowMs - sinceMs)}`,
  };
}

/**
 * Uses the tone and words of the result, so that the channel never shows a tick and the thread a warning. Where the
 * output is private, the tone must not give the verdict away either.
 */
function endOf(run: Run, outcome: Outcome, isPrivate: boolean): Status {
  const { verdict, late: endedLate } = run;
  const { tone, title } = describeOutcome(outcome);
  const hidesVerdict = isPrivate && verdict !== undefined && outcome.kind === 'succeeded';
  const duration = durationOf(run);
  const after = duration === undefined ? '' : ` ${afterWords(duration)}`;
  const ended = `${hidesVerdict ? 'Finished' : title}${after}${endedLate ? ', later than kdebug had waited' : ''}`;
  if (isPrivate) return { tone: hidesVerdict ? 'neutral' : tone, headline: ended };
  const headline = headlineOf(verdict);
  return headline === undefined
    ? { tone: toneOf(verdict, tone), headline: ended }
    : { tone: toneOf(verdict, tone), headline, besides: ended };
}

function planFacts(run: Run): readonly Fact[] {
  const { plan } = run;
  if (!plan) return [];
  return [
    { label: 'Namespace', value: [code(plan.namespace)] },
    { label: 'Image', value: [code(plan.imageAlias)] },
    { label: 'Profile', value: [text(profileText(plan))] },
    { label: 'Cluster', value: [text(plan.cluster)] },
    ...approverFacts(run),
    ...(plan.reason === undefined ? [] : [{ label: 'Reason', value: typedText(visible(plan.reason)) }]),
    ...(plan.label === undefined ? [] : [{ label: 'Label', value: [text(plan.label)] }]),
  ];
}

/** What approvers must see as well: the class, the node, and what the pod already carries. */
function approverFacts({ state, plan }: Run): readonly Fact[] {
  if (state !== 'pending-approval' || !plan) return [];
  const { observed, targetContainerName } = plan;
  const memory = observed?.memoryLimit === undefined ? [] : [`shares the memory limit of ${observed.memoryLimit}`];
  const earlier = observed?.earlierContainers ?? 0;
  return [
    { label: 'Class', value: [text(classText(plan.class, plan.classReasons))] },
    { label: 'Node', value: [text(plan.nodeName)] },
    {
      label: 'Pod',
      value: [
        text(
          [
            `uid ${plan.podUid}`,
            formatCount(earlier, 'earlier debug container'),
            ...(targetContainerName === undefined ? [] : memory),
          ].join(', '),
        ),
      ],
    },
  ];
}

const approverPart = ({ state, plan }: Run): readonly Part[] =>
  state === 'pending-approval' && plan ? powerParts({ plan }) : [];

function waitingPart(run: Run): readonly Part[] {
  if (run.state !== 'starting' || !run.waiting) return [];
  const { reason, message } = run.waiting;
  return [{ kind: 'paragraph', spans: [code(reason), text(message ? ` ${message}` : '')] }];
}

/** A requester who waited no longer than this is probably still looking at the channel. */
const LONG_MS = 10_000;

/**
 * Whether the result mentions its requester, so that Slack notifies them: it needed an approval, took long from request
 * to end, or something is wrong. A quick success notifies nobody.
 */
export const namesRequester = (run: Run): boolean => run.approval !== undefined || tookLong(run) || isWrong(run);

const tookLong = ({ origin, finishedAtMs, endedAtMs }: Run): boolean => {
  const endMs = finishedAtMs ?? endedAtMs;
  return endMs !== undefined && endMs - origin.receivedAtMs > LONG_MS;
};

function isWrong({ outcome, verdict }: Run): boolean {
  if (outcome?.kind !== 'succeeded') return true;
  return toneOf(verdict, describeOutcome(outcome).tone) !== 'success';
}
