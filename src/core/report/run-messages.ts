import { afterWords, formatCount, formatDuration } from '../../lib/duration.ts';
import { visible } from '../../lib/invisible.ts';
import { classText } from '../policy/class-facts.ts';
import { isBatchRun } from '../run/life-cycle.ts';
import type { Outcome } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import { batchMessage } from './batch/batch-message.ts';
import { batchResultMessage } from './batch/result-message.ts';
import { code, type Fact, type Message, type Part, person, type Span, strong, type Tone, text } from './message.ts';
import { APPROVAL_NEEDED, describeOutcome, OUTPUT_IS_PRIVATE, STATE_TEXT } from './outcome-text.ts';
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
import { typedText } from './typed-text.ts';

/** What only the moment knows: the clock, and the newest lines while it runs. */
export interface RenderContext {
  readonly nowMs: number;
  readonly approvers: Approvers;
  readonly tail?: string;
  /** What the container writes is for the requester alone: the anchor shows nothing of it. */
  readonly isPrivate?: boolean;
}

/** The one root message of a run, rendered from its state alone; the same state and moment give the same message. */
export function anchorMessage(run: Run, moment: RenderContext): Message {
  if (isBatchRun(run)) return batchMessage(run, moment);
  const { tone, headline, besides } = statusOf(run, moment);
  return {
    summary: summaryOf(run, headline),
    tone,
    parts: [
      {
        kind: 'paragraph',
        spans: [strong(headline), text('  '), code(podOf(run)), text('  '), ...containerSpans(run)],
      },
      { kind: 'facts', facts: planFacts(run) },
      ...askedPart(run),
      ...waitingPart(run),
      ...(besides === undefined ? [] : [paragraph(besides)]),
      ...approvalParts(run, moment.approvers, moment.nowMs),
      ...tailPart(run, moment),
      {
        kind: 'note',
        spans: [
          text('Asked by '),
          person(run.origin.requesterId),
          text(` · run ${run.id} · `),
          code(`/kdebug ${run.commandLine}`),
          ...(moment.isPrivate ? [text(OUTPUT_IS_PRIVATE)] : []),
        ],
      },
    ],
  };
}

/**
 * The one result reply of a finished run; it leads with the diagnosis' own verdict when the image gave one, and mentions the requester
 * where they should be notified (`namesRequester`). One that is private has no buttons: a direct message is no channel of the policy,
 * so nothing can be asked for there; and it notifies them without a mention.
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
      ...(outcome.tone === 'success' && verdict ? [] : [paragraph(outcome.happened)]),
      ...verdictParts(run).filter(({ kind }) => !isPrivate || kind !== 'actions'),
      { kind: 'facts', facts: resultFacts(run) },
      ...logParts(run),
      ...terminationPart(run),
      ...nextPart(run, outcome.next),
      { kind: 'note', spans: [text([`Run ${run.id}`, ...lookedBy(run)].join(' · '))] },
    ],
  };
}

/** A header takes no mention, so the line is a paragraph. */
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

/** The newest lines while it runs. */
function tailPart(run: Run, { tail = '', isPrivate = false }: RenderContext): readonly Part[] {
  if (isPrivate) return [];
  const shown = tail.trimEnd();
  return run.state === 'running' && shown !== '' ? [{ kind: 'preformatted', text: shown }] : [];
}

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
 * The same as the result says, in tone and words: nobody may read a tick in the channel and a warning in the thread. Where the output is
 * private, neither: the tone would tell what the verdict is.
 */
function endOf(run: Run, outcome: Outcome, isPrivate: boolean): Status {
  const { verdict, late } = run;
  const { tone, title } = describeOutcome(outcome);
  const isTold = isPrivate && verdict !== undefined && outcome.kind === 'succeeded';
  const duration = durationOf(run);
  const after = duration === undefined ? '' : ` ${afterWords(duration)}`;
  const ended = `${isTold ? 'Finished' : title}${after}${late ? ', later than kdebug had waited' : ''}`;
  if (isPrivate) return { tone: isTold ? 'neutral' : tone, headline: ended };
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
    ...planPower(run),
    ...(plan.reason === undefined ? [] : [{ label: 'Reason', value: typedText(visible(plan.reason)) }]),
    ...(plan.label === undefined ? [] : [{ label: 'Label', value: [text(plan.label)] }]),
  ];
}

/** What a person who decides must see besides: where it runs, and what the pod already carries. */
function planPower({ state, plan }: Run): readonly Fact[] {
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

const askedPart = ({ state, plan }: Run): readonly Part[] =>
  state === 'pending-approval' && plan ? powerParts({ plan }) : [];

function waitingPart(run: Run): readonly Part[] {
  if (run.state !== 'starting' || !run.waiting) return [];
  const { reason, message } = run.waiting;
  return [{ kind: 'paragraph', spans: [code(reason), text(message ? ` ${message}` : '')] }];
}

/** Who waits no longer than this still looks at the channel. */
const LONG_MS = 10_000;

/**
 * Whether the result of a finished run mentions its requester, so that Slack notifies them: an approval was needed, it took long
 * from the request to its end, or something is wrong. A quick run that went well disturbs nobody.
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
