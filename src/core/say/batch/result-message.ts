import { formatCount, shortDuration } from '../../../lib/duration.ts';
import type { Batch } from '../../batch/batch.ts';
import { countPods } from '../../batch/pod-state.ts';
import { VERDICT_LINE_LENGTH } from '../../line-lengths.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { dotted, line, message, note, paragraph, type Shown } from '../message/line.ts';
import { type Message, person, type Span, strong } from '../message/message.ts';
import { lostWords } from '../parts/file-parts.ts';
import { headlineOf, shortName, toneOf, wholeHeadline } from '../parts/headline.ts';
import { verdictParts } from '../parts/result-parts.ts';
import { nameOf, secondLine } from '../parts/run-lines.ts';
import { buttonsPart } from './batch-buttons.ts';
import { skippedText } from './batch-facts.ts';
import { type BatchFile, batchFileName, countFiles } from './batch-files.ts';
import { type BatchHeadline, batchHeadline, batchReason } from './batch-headline.ts';
import { comparisonParts, isComparison } from './compare-parts.ts';
import { groupsPart, shownGroups } from './group-parts.ts';

/**
 * The result reply of a finished batch: the verdict for its requester, why, the buttons, equal results, and what is in
 * the files. A private result has no buttons: it goes to a direct message.
 */
export function batchResultMessage(run: BatchRun, isPrivate = false): Message {
  const { batch, origin } = run;
  const counts = countPods(batch);
  const batchHead = batchHeadline(run, counts, batch.endedAtMs ?? batch.createdAtMs);
  const { tone, spans, words, answer } = headOf(run, batchHead);
  const groups = shownGroups(run);
  const buttons = isPrivate ? [] : buttonsPart(run, counts);
  const reason = batchReason(run, groups);
  const requester = person(origin.requesterId);
  return message({ summary: words, notification: isPrivate ? undefined : line`${requester}, ${words}`, tone }, [
    paragraph`${dotted([spans, !isPrivate && requester])}`,
    isComparison(run) && comparisonParts(run, buttons),
    answer,
    paragraph`${reason.spans}`,
    !isComparison(run) && buttons,
    groupsPart(groups, { except: reason.group }),
    doubtPart(batch),
    missingFilesPart(batch),
    note`${noteSpans(run, skippedText(batch, counts))}`,
  ]);
}

interface ResultHead extends BatchHeadline {
  /** The facts about the workload that was asked about, before the results from its pods. */
  readonly answer: Shown;
}

function headOf(run: BatchRun, batchHead: BatchHeadline): ResultHead {
  const headline = headlineOf(run.verdict);
  if (headline === undefined) return { ...batchHead, answer: [] };
  const name = nameOf(run);
  return {
    tone: toneOf(run.verdict, batchHead.tone),
    spans: line`${strong(shortName(name))}: ${wholeHeadline(headline)}`,
    words: `${name}: ${headline}`,
    answer: [paragraph`${secondLine(run, VERDICT_LINE_LENGTH)}`, verdictParts(run), paragraph`${batchHead.spans}`],
  };
}

/** Names the content of the files beside it, or the reason for their absence. */
function noteSpans(run: BatchRun, skipped: string | undefined): readonly Span[] {
  const { id, batch } = run;
  const { firstLaunchAtMs, endedAtMs = 0 } = batch;
  const files = firstLaunchAtMs === undefined ? ['no pod was started'] : fileWords(run);
  const took = firstLaunchAtMs !== undefined && `took ${shortDuration(endedAtMs - firstLaunchAtMs)}`;
  return dotted([skipped, took, ...files, `batch ${id}`]);
}

function fileWords(run: BatchRun): readonly string[] {
  const { whole } = countFiles(run.batch);
  const words: Partial<Record<BatchFile, string>> = {
    txt: 'every pod with its log (.txt)',
    csv: 'the outcomes as a table (.csv)',
    ...(whole === 0 ? {} : { files: `${formatCount(whole, 'file')} that the pods brought back (.tar.gz)` }),
  };
  const each = (Object.keys(words) as BatchFile[]).map((kind) => ({
    words: words[kind],
    code: run.delivery.filesLost?.[batchFileName(run, kind)],
  }));
  const there = each.filter(({ code }) => code === undefined);
  const missing = each.flatMap(({ words, code }) => (code === undefined ? [] : [{ words, why: lostWords(code) }]));
  if (there.length === 0) return [`the files could not be shared (${missing[0]?.why})`];
  return [
    `files: ${there.map((one) => one.words).join(', ')}`,
    ...missing.map(({ words, why }) => `${words}: could not be shared (${why})`),
  ];
}

/** Notes that logs may be incomplete; the files say which, and why. */
function doubtPart({ pods }: Batch): Shown {
  const inDoubt = pods.flatMap(({ results = [] }) => results.filter((result) => result?.logDoubt !== undefined)).length;
  return inDoubt > 0 && paragraph`${formatCount(inDoubt, 'log')} may be incomplete: the files say which, and why.`;
}

/** Files that an image announced and that are in no archive. */
function missingFilesPart(batch: Batch): Shown {
  const { missing } = countFiles(batch);
  return missing > 0 && paragraph`${formatCount(missing, 'file')} missing: the .txt says which, and why.`;
}
