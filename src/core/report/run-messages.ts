import { visible } from '../../lib/invisible.ts';
import type { AudienceOf } from '../files/shared-files.ts';
import { isBatchRun } from '../run/life-cycle.ts';
import type { Run } from '../run/run.ts';
import { batchMessage } from './batch/batch-message.ts';
import { batchResultMessage } from './batch/result-message.ts';
import { code, type Message, type Part, person, type Span, strong, text } from './message.ts';
import { APPROVAL_NEEDED, describeOutcome, OUTPUT_IS_PRIVATE } from './outcome-text.ts';
import { type Approvers, approvalParts, approvalWords, decisionMessage } from './parts/approval-parts.ts';
import { chartParts, withChartsInWords } from './parts/chart-parts.ts';
import { filesParts } from './parts/file-parts.ts';
import { powerParts, profileText } from './parts/power-parts.ts';
import { requestFacts, wholeReason } from './parts/request-parts.ts';
import { logParts, lookedBy, resultWords, terminationPart, verdictParts } from './parts/result-parts.ts';
import { runButtonsPart } from './parts/run-buttons.ts';
import {
  cardLine,
  firstLine,
  headlineOf,
  headOf,
  MAX_LINE_LENGTH,
  oneLine,
  podOf,
  restOfOutcome,
  saysWhereItGoes,
  secondLine,
  subjectOf,
  toneOf,
} from './parts/run-lines.ts';
import { stopParts } from './parts/stop-parts.ts';
import { quietPerson, typedCommand } from './typed-text.ts';

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
  const { nowMs, approvers, requesterName, isPrivate = false } = context;
  const { tone, headline, besides } = headOf(run, nowMs, isPrivate);
  const words = `${headline}: ${imageOf(run)} on ${subjectOf(run)}`;
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
      ...(isPrivate ? [] : chartParts(run)),
      ...approvalParts(run, approvers, nowMs),
      {
        kind: 'note',
        spans: smallLine(run, { besides, requesterName, isPrivate: isPrivate && !saysWhereItGoes(run) }),
      },
    ],
  };
}

/** The card of a run that waits for a decision. */
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

interface SmallLine {
  readonly besides: string | undefined;
  readonly requesterName: string | undefined;
  readonly isPrivate: boolean;
}

/** `autodiagnose · shop · prod · Roy · run abcdefghij`. What a person typed comes last, behind the slash command. */
function smallLine(run: Run, { besides, requesterName, isPrivate }: SmallLine): readonly Span[] {
  const { plan, origin, id } = run;
  const where = plan ? [plan.imageAlias, plan.namespace, plan.cluster] : [];
  const isPlain = plan?.command.length === 0 && plan.reason === undefined && plan.label === undefined;
  const ownWords = isPlain ? [] : [text(' · '), code(oneLine(typedCommand(run)))];
  return [
    text(where.map((word) => `${word} · `).join('')),
    quietPerson(origin.requesterId, requesterName),
    text(`${besides === undefined ? '' : ` · ${besides}`} · run ${id}${isPrivate ? OUTPUT_IS_PRIVATE : ''}`),
    ...ownWords,
  ];
}

/**
 * The result reply of a finished run. It leads with the diagnosis' verdict if there is one, and mentions the requester
 * where `namesRequester` says so. A private result goes to a direct message, so it needs no mention but names its pod;
 * it has no buttons because a direct message is no channel of the policy, where requests are possible.
 */
export function resultMessage(run: Run, { isPrivate = false }: Pick<RenderContext, 'isPrivate'> = {}): Message {
  if (run.state !== 'finished') return decisionMessage(run);
  if (isBatchRun(run)) return batchResultMessage(run, isPrivate);
  const { verdict, origin } = run;
  const outcome = describeOutcome(run.outcome ?? { kind: 'internal', code: 'outcome_missing' });
  const headline = headlineOf(verdict) ?? outcome.title;
  const isNamed = !isPrivate && namesRequester(run);
  const summary = `${podOf(run)}: ${headline}`;
  return {
    summary,
    ...(isNamed ? { notification: [person(origin.requesterId), text(`, ${summary}`)] } : {}),
    tone: toneOf(verdict, outcome.tone),
    parts: [
      { kind: 'paragraph', spans: isPrivate ? firstLine(run, headline) : headSpans(run, headline, isNamed) },
      ...linePart(secondLine(run)),
      ...(isPrivate ? [] : runButtonsPart(run, 'result')),
      ...(isPrivate ? resultParts(run, { isPrivate }) : withChartsInWords(resultParts(run, { isPrivate }))),
      {
        kind: 'note',
        spans: [text([...resultWords(run), ...powerWords(run), `Run ${run.id}`, ...lookedBy(run)].join(' · '))],
      },
    ],
  };
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

/** A Slack header cannot hold a mention, so this is a paragraph. */
const headSpans = ({ origin }: Run, headline: string, isNamed: boolean): readonly Span[] => [
  ...(isNamed ? [person(origin.requesterId), text(': ')] : []),
  strong(oneLine(headline, MAX_LINE_LENGTH - 20)),
];

const linePart = (spans: readonly Span[]): readonly Part[] =>
  spans.some((span) => !('text' in span) || span.text !== '') ? [{ kind: 'paragraph', spans }] : [];

const imageOf = ({ plan, request }: Run): string => plan?.imageAlias ?? request.image ?? 'debug';

function tailPart(run: Run, { tail = '', isPrivate = false }: RenderContext): readonly Part[] {
  if (isPrivate) return [];
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
  if (outcome?.kind !== 'succeeded') return true;
  return toneOf(verdict, describeOutcome(outcome).tone) !== 'success';
}
