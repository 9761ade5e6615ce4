import type { Batch } from '../../batch/batch.ts';
import type { BatchRun } from '../../batch/batch-run.ts';
import { groupResults } from '../../batch/group-results.ts';
import { countPods, matchedOf, statusOf } from '../../batch/pod-state.ts';
import { formatCount, shortDuration } from '../duration.ts';
import { code, type Message, type Part, person, text } from '../message.ts';
import { countsPart, skippedText } from './batch-facts.ts';
import { batchFileName } from './batch-files.ts';
import { RECORD_LOST, STATUS_TEXT } from './batch-text.ts';
import { groupsPart } from './group-parts.ts';

/** The one reply to a batch that has ended: the verdict, what was equal and what stood out, and where the rest is. */
export function batchResultMessage(run: BatchRun): Message {
  const { id, batch, origin, delivery } = run;
  const counts = countPods(batch);
  const { tone, words } = STATUS_TEXT[statusOf(batch, counts)];
  const worked = matchedOf(counts) - counts.skipped;
  const headline = `${words}: ${counts.succeeded.toLocaleString('en-US')} of ${formatCount(worked, 'pod')}`;
  const skipped = skippedText(batch, counts);
  const lasted = batch.firstLaunchAtMs === undefined ? undefined : (batch.endedAtMs ?? 0) - batch.firstLaunchAtMs;
  const wasStarted = batch.firstLaunchAtMs !== undefined;
  return {
    summary: `${headline} (batch ${id})`,
    tone,
    parts: [
      { kind: 'heading', text: headline },
      {
        kind: 'paragraph',
        spans: [
          person(origin.requesterId),
          text(lasted === undefined ? ', no pod was started.' : `, it took ${shortDuration(lasted)}.`),
        ],
      },
      ...(batch.closed?.because === 'record-lost' ? [{ kind: 'paragraph', spans: [text(RECORD_LOST)] } as const] : []),
      countsPart(batch, counts, batch.endedAtMs ?? batch.createdAtMs),
      ...groupsPart(groupResults(batch)),
      ...(skipped === undefined ? [] : [{ kind: 'paragraph', spans: [text(`${skipped}.`)] } as const]),
      ...doubtPart(batch),
      ...(delivery.fileLost === undefined
        ? []
        : [{ kind: 'paragraph', spans: [text(`The files could not be shared (${delivery.fileLost}).`)] } as const]),
      ...(wasStarted && delivery.fileLost === undefined
        ? [
            {
              kind: 'note',
              spans: [
                text('Every pod with its exit code, reason, message and log: '),
                code(batchFileName(run, 'txt')),
                text('; the outcomes as a table: '),
                code(batchFileName(run, 'csv')),
              ],
            } as const,
          ]
        : []),
      { kind: 'note', spans: [text(`Batch ${id}`)] },
    ],
  };
}

/** That logs are not complete: which, and why, is in the files. */
function doubtPart({ pods }: Batch): readonly Part[] {
  const inDoubt = pods.flatMap(({ results = [] }) => results.filter((result) => result?.logDoubt !== undefined)).length;
  const words = `${formatCount(inDoubt, 'log')} may be incomplete: the files say which, and why.`;
  return inDoubt === 0 ? [] : [{ kind: 'paragraph', spans: [text(words)] }];
}
