import { formatCount, shortDuration } from '../../../lib/duration.ts';
import { shorten } from '../../../lib/text.ts';
import type { Batch } from '../../batch/batch.ts';
import { groupResults, type ResultGroup } from '../../batch/pod-result.ts';
import { countPods, matchedOf, statusOf } from '../../batch/pod-state.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { code, type Message, type Part, person, type Span, strong, text } from '../message.ts';
import { countsPart, groupText, RECORD_LOST, STATUS_TEXT, shownName, skippedText } from './batch-facts.ts';
import { batchFileName } from './batch-files.ts';

/** The result reply of a finished batch: the verdict, equal results, outliers, and where the files are. */
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

/** Notes that logs may be incomplete; the files say which, and why. */
function doubtPart({ pods }: Batch): readonly Part[] {
  const inDoubt = pods.flatMap(({ results = [] }) => results.filter((result) => result?.logDoubt !== undefined)).length;
  const words = `${formatCount(inDoubt, 'log')} may be incomplete: the files say which, and why.`;
  return inDoubt === 0 ? [] : [{ kind: 'paragraph', spans: [text(words)] }];
}

/** The files have all groups. */
const MAX_GROUPS = 8;
/** All pods of a group up to this size are named as outliers. */
const MAX_OUTLIERS = 5;
/** Pods named of a larger group, unless it is the largest one. */
const MAX_EXAMPLES = 3;

/**
 * Equal results in one line each, the largest group first; the pods of small groups are named. The size is bounded for
 * any number of pods and groups. `isPrivate`: show nothing that a container wrote.
 */
export function groupsPart(groups: readonly ResultGroup[], isPrivate = false): readonly Part[] {
  if (groups.length === 0) return [];
  const rest = groups.slice(MAX_GROUPS);
  const others = rest.reduce((sum, { count }) => sum + count, 0);
  const items: readonly (readonly Span[])[] = groups
    .slice(0, MAX_GROUPS)
    .map((group, at) => lineOf(group, at === 0, isPrivate));
  const more: readonly (readonly Span[])[] =
    rest.length === 0
      ? []
      : [[text(`${formatCount(others, 'pod')} more in ${formatCount(rest.length, 'other group')}: see the file`)]];
  return [{ kind: 'list', items: [...items, ...more] }];
}

/** In characters: five verdicts in each of eight groups still fit one message. */
const MAX_VERDICT_LENGTH = 100;

function lineOf(group: ResultGroup, isLargest: boolean, isPrivate: boolean): readonly Span[] {
  const named = group.count <= MAX_OUTLIERS ? group.examples : isLargest ? [] : group.examples.slice(0, MAX_EXAMPLES);
  const left = group.count - named.length;
  return [
    strong(formatCount(group.count, 'pod')),
    text(` ${groupText(group)}`),
    ...named.flatMap(({ name, verdict }, index) => [
      text(index === 0 ? ' · ' : ' '),
      code(shownName(name)),
      ...(verdict === undefined || isPrivate ? [] : [text(` (${shorten(verdict, MAX_VERDICT_LENGTH)})`)]),
    ]),
    ...(named.length > 0 && left > 0 ? [text(` and ${left} more`)] : []),
  ];
}
