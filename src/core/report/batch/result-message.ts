import { formatCount, shortDuration } from '../../../lib/duration.ts';
import type { Batch } from '../../batch/batch.ts';
import { countPods } from '../../batch/pod-state.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { type Message, type Part, person, type Span, text } from '../message.ts';
import { buttonsPart } from './batch-buttons.ts';
import { skippedText } from './batch-facts.ts';
import { batchHeadline, batchReason } from './batch-headline.ts';
import { comparisonParts, isComparison } from './compare-parts.ts';
import { groupsPart, shownGroups } from './group-parts.ts';

/**
 * The result reply of a finished batch: the verdict for its requester, why, the buttons, equal results, and what is in
 * the files. A private result has no buttons: it goes to a direct message.
 */
export function batchResultMessage(run: BatchRun, isPrivate = false): Message {
  const { batch, origin } = run;
  const counts = countPods(batch);
  const { tone, spans, words } = batchHeadline(run, counts, batch.endedAtMs ?? batch.createdAtMs);
  const groups = shownGroups(run);
  const buttons = isPrivate ? [] : buttonsPart(run, counts);
  const reason = batchReason(batch, groups);
  return {
    summary: words,
    ...(isPrivate ? {} : { notification: [person(origin.requesterId), text(`, ${words}`)] }),
    tone,
    parts: [
      paragraph(isPrivate ? spans : [...spans, text(' · '), person(origin.requesterId)]),
      ...(isComparison(run) ? comparisonParts(run, buttons) : []),
      ...(reason.spans.length === 0 ? [] : [paragraph(reason.spans)]),
      ...(isComparison(run) ? [] : buttons),
      ...groupsPart(groups, { except: reason.group }),
      ...doubtPart(batch),
      { kind: 'note', spans: [text(noteWords(run, skippedText(batch, counts)))] },
    ],
  };
}

const paragraph = (spans: readonly Span[]): Part => ({ kind: 'paragraph', spans });

/** What is in the two files beside it, or why there are none. */
function noteWords({ id, batch, delivery }: BatchRun, skipped: string | undefined): string {
  const { firstLaunchAtMs, endedAtMs = 0 } = batch;
  const files =
    firstLaunchAtMs === undefined
      ? 'no pod was started'
      : delivery.fileLost === undefined
        ? 'files: every pod with its log (.txt), the outcomes as a table (.csv)'
        : `the files could not be shared (${delivery.fileLost})`;
  const took = firstLaunchAtMs === undefined ? [] : [`took ${shortDuration(endedAtMs - firstLaunchAtMs)}`];
  return [...(skipped === undefined ? [] : [skipped]), ...took, files, `batch ${id}`].join(' · ');
}

/** Notes that logs may be incomplete; the files say which, and why. */
function doubtPart({ pods }: Batch): readonly Part[] {
  const inDoubt = pods.flatMap(({ results = [] }) => results.filter((result) => result?.logDoubt !== undefined)).length;
  const words = `${formatCount(inDoubt, 'log')} may be incomplete: the files say which, and why.`;
  return inDoubt === 0 ? [] : [paragraph([text(words)])];
}
