import { visible } from '../../../lib/invisible.ts';
import { isBatchRun } from '../../run/life-cycle.ts';
import type { Run } from '../../run/run.ts';
import type { AudienceOf } from '../../run/shared-files.ts';
import { batchMessage } from '../batch/batch-message.ts';
import { batchResultMessage } from '../batch/result-message.ts';
import { code, type Message, type Part, person, type Span, soon, strong, text } from '../message/message.ts';
import { quietPerson, typedCommand } from '../message/typed-text.ts';
import { type Approvers, approvalParts, approvalWords, decisionMessage } from '../parts/approval-parts.ts';
import { chartParts, withChartsInWords } from '../parts/chart-parts.ts';
import { filesParts } from '../parts/file-parts.ts';
import {
  endHeadlineOf,
  endToneOf,
  leadingFinding,
  MAX_WHOLE_LENGTH,
  oneLine,
  shortName,
  wholeHeadline,
} from '../parts/headline.ts';
import { APPROVAL_NEEDED, describeOutcome, OUTPUT_IS_PRIVATE } from '../parts/outcome-text.ts';
import { powerParts, profileText } from '../parts/power-parts.ts';
import { requestFacts, wholeReason } from '../parts/request-parts.ts';
import {
  GROUPS_ON_CARD,
  groupsList,
  logParts,
  lookedBy,
  resultWords,
  terminationPart,
  verdictParts,
} from '../parts/result-parts.ts';
import { runButtonsPart } from '../parts/run-buttons.ts';
import {
  answerLine,
  type CardHead,
  cardLine,
  firstLine,
  headOf,
  nameOf,
  restOfOutcome,
  saysWhereItGoes,
  secondLine,
  subjectOf,
} from '../parts/run-lines.ts';
import { stopParts } from '../parts/stop-parts.ts';

/** What a message shows that is not in the run: the time, the approvers and, while it runs, its newest lines. */
export interface RenderContext {
  readonly nowMs: number;
  readonly approvers: Approvers;
  readonly tail?: string;
  readonly requesterName?: string;
  /** The container's output is for the requester alone: the anchor shows none of it. */
  readonly isPrivate?: boolean;
}

/**
 * The root message of a run: the answer, what to do next or why, the buttons; all else is small print. The same run and
 * context always give the same message.
 */
export function anchorMessage(run: Run, context: RenderContext): Message {
  if (isBatchRun(run)) return batchMessage(run, context);
  return run.state === 'pending-approval' && run.plan ? requestMessage(run, context) : cardMessage(run, context);
}

function cardMessage(run: Run, context: RenderContext): Message {
  const { nowMs, approvers, isPrivate = false } = context;
  const head = headOf(run, nowMs, isPrivate);
  const { tone, headline, isVerdict } = head;
  const subject = subjectOf(run);
  const words =
    isVerdict || run.outcome?.kind === 'answered'
      ? `${subject}: ${headline}`
      : `${headline}: ${imageOf(run)} on ${subject}`;
  return {
    summary: words,
    notification: [text(`${words}, for `), person(run.origin.requesterId)],
    tone,
    parts: [
      { kind: 'paragraph', spans: firstLine(run, headline) },
      ...linePart(cardLine(run, isPrivate)),
      ...stopParts(run, nowMs, isPrivate),
      ...runButtonsPart(run, isPrivate ? 'private-card' : 'card'),
      ...tailPart(run, context),
      ...(isVerdict && run.verdict ? groupsList(run.verdict, GROUPS_ON_CARD) : []),
      ...(isPrivate || run.state !== 'finished' ? [] : chartParts(run)),
      ...(isPrivate || isVerdict || run.state === 'finished' ? [] : linePart(answerLine(run))),
      ...approvalParts(run, approvers, nowMs),
      { kind: 'note', spans: smallLine(run, head, context) },
    ],
  };
}

/** The card of a run that waits for a decision. What the answer to a question found already helps to decide. */
function requestMessage(run: Run, { nowMs, approvers, isPrivate = false }: RenderContext): Message {
  const { plan, id, origin } = run;
  const subject = `${imageOf(run)} on ${subjectOf(run)}`;
  const reason = plan?.reason === undefined ? '' : `: ${visible(plan.reason)}`;
  const who = [person(origin.requesterId), text(`, ${imageOf(run)} (${plan?.profile}) on ${subjectOf(run)}${reason}`)];
  return {
    summary: `${APPROVAL_NEEDED}: ${subject}${reason}`,
    notification: [text(`${APPROVAL_NEEDED}: `), ...who],
    tone: 'decision',
    parts: [
      ...powerParts(plan ? { plan } : {}),
      ...(isPrivate ? [] : linePart(answerLine(run))),
      ...approvalParts(run, approvers, nowMs),
      ...(plan ? wholeReason(plan) : []),
      {
        kind: 'note',
        spans: [
          text(
            [...(plan ? [plan.cluster, ...requestFacts(plan)] : []), ...approvalWords(run), `run ${id}`].join(' · '),
          ),
          ...(isPrivate ? [text(OUTPUT_IS_PRIVATE)] : []),
        ],
      },
    ],
  };
}

/**
 * `autodiagnose · shop · prod · Roy · run abcdefghij`; beside a first answer, what goes on comes first: `Looking inside
 * with autodiagnose · 3 s · shop · prod · …`. What a person typed comes last, behind the slash command.
 */
function smallLine(run: Run, { besides, isVerdict }: CardHead, context: RenderContext): readonly Span[] {
  const { plan, origin, id } = run;
  const { nowMs, requesterName, isPrivate } = context;
  const isAnswered = run.outcome?.kind === 'answered';
  const isBegun = isVerdict === true && (isAnswered || run.state !== 'finished');
  const lead = isBegun ? besides : isAnswered ? undefined : plan?.imageAlias;
  const where = [lead, plan?.namespace, plan?.cluster].filter((word) => word !== undefined);
  const readAt = isAnswered && isVerdict ? [text(' · read '), ...readAtSpans(run, nowMs)] : [];
  const goes = isPrivate && !saysWhereItGoes(run) ? OUTPUT_IS_PRIVATE : '';
  return [
    text(where.map((word) => `${word} · `).join('')),
    quietPerson(origin.requesterId, requesterName),
    ...readAt,
    text(`${besides === undefined || isBegun ? '' : ` · ${besides}`} · run ${id}${goes}`),
    ...ownWords(run),
  ];
}

function ownWords(run: Run): readonly Span[] {
  const { plan } = run;
  const isPlain = plan?.command.length === 0 && plan.reason === undefined && plan.label === undefined;
  return isPlain ? [] : [text(' · '), code(oneLine(typedCommand(run)))];
}

const readAtSpans = ({ verdict, origin }: Run, nowMs: number): readonly Span[] =>
  soon(verdict?.readAtMs ?? origin.receivedAtMs, nowMs);

/**
 * The result reply of a finished run. It leads with the diagnosis' verdict if there is one, and mentions the requester
 * where `namesRequester` says so. A private result goes to a direct message, so it needs no mention but names its pod;
 * it has no buttons because a direct message is no channel of the policy, where requests are possible.
 */
export function resultMessage(run: Run, context: Pick<RenderContext, 'isPrivate' | 'requesterName'> = {}): Message {
  const { isPrivate = false } = context;
  if (run.state !== 'finished') return decisionMessage(run);
  if (isBatchRun(run)) return batchResultMessage(run, isPrivate);
  const { origin } = run;
  const outcome = describeOutcome(run.outcome ?? { kind: 'internal', code: 'outcome_missing' });
  const headline = wholeHeadline(endHeadlineOf(run) ?? outcome.title);
  const isNamed = !isPrivate && namesRequester(run);
  const name = nameOf(run);
  const summary = `${name}: ${headline}`;
  return {
    summary,
    ...(isNamed ? { notification: [person(origin.requesterId), text(`, ${summary}`)] } : {}),
    tone: endToneOf(run, outcome.tone),
    parts: [
      {
        kind: 'paragraph',
        spans: isPrivate ? [strong(shortName(name)), text(`: ${headline}`)] : headSpans(run, headline, isNamed),
      },
      ...linePart(secondLine(run, MAX_WHOLE_LENGTH)),
      ...(isPrivate ? [] : runButtonsPart(run, 'result')),
      ...(isPrivate ? resultParts(run, { isPrivate }) : withChartsInWords(resultParts(run, { isPrivate }))),
      { kind: 'note', spans: smallPrint(run, context) },
    ],
  };
}

/** How it ran, or when it was read where nothing ran. A mention would notify, so the name stands only where it is known. */
function smallPrint(run: Run, { requesterName }: Pick<RenderContext, 'requesterName'>): readonly Span[] {
  if (run.outcome?.kind !== 'answered')
    return [text([...resultWords(run), ...powerWords(run), `Run ${run.id}`, ...lookedBy(run)].join(' · '))];
  const read = readAtSpans(run, run.finishedAtMs ?? run.origin.receivedAtMs);
  const requester =
    requesterName === undefined ? [] : [text(' for '), quietPerson(run.origin.requesterId, requesterName)];
  return [text('Read '), ...read, ...requester, text(` · no container was added · run ${run.id}`)];
}

const powerWords = ({ plan }: Run): readonly string[] => (plan ? [profileText(plan)] : []);

/** What a result says below its first two lines and buttons, without the small print. */
export const resultParts = (run: Run, audience: AudienceOf): readonly Part[] => [
  ...linePart([text(restOfOutcome(run) ?? '')]),
  ...verdictParts(run),
  ...filesParts(run, audience),
  ...logParts(run),
  ...terminationPart(run),
];

/** A Slack header cannot hold a mention, so this is a paragraph. Whole: the card may have cut it. */
const headSpans = ({ origin }: Run, headline: string, isNamed: boolean): readonly Span[] => [
  ...(isNamed ? [person(origin.requesterId), text(': ')] : []),
  strong(headline),
];

const linePart = (spans: readonly Span[]): readonly Part[] =>
  spans.some((span) => !('text' in span) || span.text !== '') ? [{ kind: 'paragraph', spans }] : [];

const imageOf = ({ plan, request }: Run): string => plan?.imageAlias ?? request.image ?? 'debug';

/** Beside a first answer its lines would say less than the answer. */
function tailPart(run: Run, { tail = '', isPrivate = false }: RenderContext): readonly Part[] {
  if (isPrivate || (run.verdict && leadingFinding(run.verdict))) return [];
  const shown = tail.trimEnd();
  return run.state === 'running' && shown !== '' ? [{ kind: 'preformatted', text: shown }] : [];
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
  if (outcome?.kind !== 'succeeded' && outcome?.kind !== 'answered') return true;
  const tone = endToneOf({ outcome, ...(verdict ? { verdict } : {}) }, describeOutcome(outcome).tone);
  return tone === 'failure' || tone === 'attention';
}
