import { visible } from '../../../lib/invisible.ts';
import { VERDICT_LINE_LENGTH } from '../../line-lengths.ts';
import type { Policy } from '../../policy/policy.ts';
import { isBatchRun, isUnattended } from '../../run/life-cycle.ts';
import type { Run } from '../../run/run.ts';
import type { AudienceOf } from '../../run/shared-files.ts';
import { batchMessage } from '../batch/batch-message.ts';
import { batchResultMessage } from '../batch/result-message.ts';
import { dotted, line, message, note, paragraph, preformatted, type Shown, shownParts } from '../message/line.ts';
import { type Message, type Part, person, quietPerson, type Span, soon, strong } from '../message/message.ts';
import { alertDetails, alertLine, alertWords } from '../parts/alert-parts.ts';
import { type Approvers, approvalParts, approvalWords, decidedOn, decisionMessage } from '../parts/approval-parts.ts';
import { chartParts, withChartsInWords } from '../parts/chart-parts.ts';
import { filesParts } from '../parts/file-parts.ts';
import { endHeadlineOf, endToneOf, leadingFinding, shortName, wholeHeadline } from '../parts/headline.ts';
import { APPROVAL_NEEDED, describeOutcome, OUTPUT_IS_PRIVATE } from '../parts/outcome-text.ts';
import { powerParts, profileText } from '../parts/power-parts.ts';
import { belowButtons, requestFacts } from '../parts/request-parts.ts';
import {
  changedNote,
  GROUPS_ON_CARD,
  groupsList,
  logParts,
  lookedBy,
  resultWords,
  terminationPart,
  verdictParts,
} from '../parts/result-parts.ts';
import { linksPart, runButtonsPart } from '../parts/run-buttons.ts';
import {
  answerLine,
  type CardHead,
  cardLine,
  firstLine,
  headOf,
  isOfStorm,
  nameOf,
  ownWords,
  restOfOutcome,
  restOfRefusal,
  saysWhereItGoes,
  secondLine,
  subjectOf,
} from '../parts/run-lines.ts';
import { stopParts } from '../parts/stop-parts.ts';
import { namesRequester } from './notified.ts';

/** The facts in a message that are not in the run: the time, the approvers and, while it runs, its newest lines. */
export interface RenderContext {
  readonly nowMs: number;
  readonly approvers: Approvers;
  readonly tail?: string;
  /** The container's output is for the requester alone: the anchor shows none of it. */
  readonly isPrivate?: boolean;
  /** The policy's. */
  readonly links?: Policy['links'];
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
  const { nowMs, isPrivate = false } = context;
  const head = headOf(run, nowMs, isPrivate);
  const { headline, isVerdict } = head;
  // The problem may be gone, and nobody has looked since.
  const tone = run.alert?.resolvedAtMs === undefined ? head.tone : 'ended';
  const subject = subjectOf(run);
  const words =
    isVerdict || run.outcome?.kind === 'answered' || (run.alert && run.state === 'denied')
      ? `${subject}: ${headline}`
      : `${headline}: ${imageOf(run)} on ${subject}`;
  const ofAlert = isOfStorm(run) ? line`${words}` : alertWords(run, subject, { headline, tone });
  const notification = ofAlert ?? line`${words}, for ${person(run.origin.requesterId)}`;
  return message({ summary: words, notification, tone }, [
    alertLine(run, nowMs),
    paragraph`${firstLine(run, headline)}`,
    paragraph`${cardLine(run, isPrivate)}`,
    alertDetails(run),
    stopParts(run, nowMs, isPrivate),
    runButtonsPart(run, isPrivate ? 'private-card' : 'card'),
    paragraph`${restOfRefusal(run)}`,
    tailPart(run, context),
    isVerdict && run.verdict && groupsList(run.verdict, GROUPS_ON_CARD),
    !isPrivate && run.state === 'finished' && chartParts(run),
    !isPrivate && !isVerdict && run.state !== 'finished' && paragraph`${answerLine(run)}`,
    approvalParts(run, context),
    isVerdict && run.verdict && changedNote(run.verdict),
    note`${smallLine(run, head, context)}`,
  ]);
}

/** The card of a run that waits for a decision. What the answer to a question found already helps to decide. */
function requestMessage(run: Run, context: RenderContext): Message {
  const { nowMs, isPrivate = false } = context;
  const { plan, id, origin } = run;
  const [image, subject] = [imageOf(run), subjectOf(run)];
  const reason = plan?.reason === undefined ? '' : `: ${visible(plan.reason)}`;
  const who = line`${person(origin.requesterId)}, ${image}${plan?.onceMore === undefined && ` (${plan?.profile})`} on ${subject}${reason}`;
  const summary = `${APPROVAL_NEEDED}: ${image} on ${subject}${reason}`;
  const facts = plan ? [plan.cluster, ...requestFacts(plan)] : [];
  const frame = { summary, notification: line`${APPROVAL_NEEDED}: ${who}`, tone: 'decision' } as const;
  return message({ ...frame, decidedOn: [decidedOn(run, context)] }, [
    alertLine(run, nowMs),
    powerParts(plan ? { plan } : {}),
    !isPrivate && paragraph`${answerLine(run)}`,
    alertDetails(run),
    approvalParts(run, context),
    plan && belowButtons(plan),
    note`${dotted([...facts, ...approvalWords(run), `run ${id}`])}${isPrivate && OUTPUT_IS_PRIVATE}`,
  ]);
}

/**
 * `autodiagnose · shop · prod · Roy · run abcdefghij`; beside a first answer, what goes on comes first: `Looking inside
 * with autodiagnose · 3 s · shop · prod · …`. What a person typed comes last, behind the slash command.
 */
function smallLine(run: Run, { besides, isVerdict }: CardHead, context: RenderContext): readonly Span[] {
  const { plan, origin, id } = run;
  const { nowMs, isPrivate } = context;
  const isAnswered = run.outcome?.kind === 'answered';
  const isBegun = isVerdict === true && (isAnswered || run.state !== 'finished');
  const lead = isBegun ? besides : isAnswered ? undefined : plan?.imageAlias;
  return dotted([
    lead,
    plan?.namespace,
    plan?.cluster,
    quietPerson(origin.requesterId),
    isAnswered && isVerdict && line`read ${readAtSpans(run, nowMs)}`,
    !isBegun && besides,
    line`run ${id}${isPrivate && !saysWhereItGoes(run) && OUTPUT_IS_PRIVATE}`,
    ownWords(run),
  ]);
}

const readAtSpans = ({ verdict, origin }: Run, nowMs: number): readonly Span[] =>
  soon(verdict?.readAtMs ?? origin.receivedAtMs, nowMs);

/**
 * The result reply of a finished run. It leads with the diagnosis' verdict if there is one, and mentions the requester
 * where `namesRequester` says so. A private result goes to a direct message, so it needs no mention but names its pod;
 * it has no buttons because a direct message is no channel of the policy, where requests are possible.
 */
export function resultMessage(run: Run, context: Pick<RenderContext, 'isPrivate' | 'links'> = {}): Message {
  const { isPrivate = false } = context;
  if (run.state !== 'finished') return decisionMessage(run);
  if (isBatchRun(run)) return batchResultMessage(run, isPrivate);
  const { origin } = run;
  const outcome = describeOutcome(run.outcome ?? { kind: 'internal', code: 'outcome_missing' });
  const { title } = outcome;
  const isNamed = !isPrivate && namesRequester(run);
  const own = isNamed ? `${title.charAt(0).toLowerCase()}${title.slice(1)}` : title;
  const headline = wholeHeadline(endHeadlineOf(run) ?? own);
  const name = nameOf(run);
  const mention = isNamed && line`${person(origin.requesterId)}, `;
  const notification = line`${mention}${shortName(name)}: ${headline}`;
  const parts = resultParts(run, { isPrivate });
  return message({ summary: `${name}: ${headline}`, notification, tone: endToneOf(run, outcome.tone) }, [
    // A Slack header cannot hold a mention, so this is a paragraph. Whole: the card may have cut it. Nobody is notified of it without the pod's name.
    isNamed || isPrivate || isUnattended(run)
      ? paragraph`${mention}${strong(shortName(name))}: ${headline}`
      : paragraph`${strong(headline)}`,
    paragraph`${secondLine(run, VERDICT_LINE_LENGTH)}`,
    !isPrivate && runButtonsPart(run, 'result'),
    isPrivate ? parts : withChartsInWords(parts),
    linksPart(run, context.links),
    note`${smallPrint(run)}`,
  ]);
}

/** The course of the run, or the time of the reading if nothing ran. */
function smallPrint(run: Run): readonly Span[] {
  const { plan, outcome, origin, id } = run;
  if (outcome?.kind !== 'answered')
    return dotted([...resultWords(run), plan && profileText(plan), `Run ${id}`, ...lookedBy(run)]);
  const read = readAtSpans(run, run.finishedAtMs ?? origin.receivedAtMs);
  return line`Read ${read} for ${quietPerson(origin.requesterId)} · no container was added · run ${id}`;
}

/** The content of a result below its first two lines and buttons, without the small print. */
export const resultParts = (run: Run, audience: AudienceOf): readonly Part[] =>
  shownParts(
    paragraph`${restOfOutcome(run)}`,
    verdictParts(run),
    filesParts(run, audience),
    logParts(run),
    terminationPart(run),
  );

const imageOf = ({ plan, request }: Run): string => plan?.imageAlias ?? request.image ?? 'debug';

/** Beside a first answer its lines would say less than the answer. */
function tailPart(run: Run, { tail = '', isPrivate = false }: RenderContext): Shown {
  if (isPrivate || (run.verdict && leadingFinding(run.verdict))) return [];
  return run.state === 'running' && preformatted(tail.trimEnd());
}
