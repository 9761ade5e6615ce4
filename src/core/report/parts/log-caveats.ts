import { formatCount } from '../../../lib/duration.ts';
import type { LogCompleteness, Run } from '../../run/run.ts';
import { type Part, text } from '../message.ts';

/** The log was read to its end, but the disk did not store all of it. */
export const isStoredInPart = ({ log }: Pick<Run, 'log'>): boolean => isOfSpool(log?.completeness.interruptedBy);

const isOfSpool = (code = ''): boolean => /^spool_/.test(code);

/** The caveats in a few words, for one log among many; undefined if there are none. */
export function logDoubt(completeness: LogCompleteness): string | undefined {
  const { limitReached, beginningMayBeMissing, gaps, interruptedBy } = completeness;
  const words = [
    limitReached && 'cut at the limit of the policy',
    beginningMayBeMissing && 'its beginning may be missing',
    gaps.length > 0 && formatCount(gaps.length, 'possible gap'),
    interruptedBy !== undefined && `not ${isOfSpool(interruptedBy) ? 'kept' : 'read'} to its end (${interruptedBy})`,
  ].filter((word) => word !== false);
  return words.length === 0 ? undefined : words.join(', ');
}

/** What could not be proven about the log. */
export function caveats(run: Run): readonly Part[] {
  const { log } = run;
  if (!log) return paragraphs([rebuilt(run)]);
  const { limitReached, beginningMayBeMissing, gaps, interruptedBy } = log.completeness;
  const sentences = [
    limitReached && 'The log is longer than the policy allows, so it is cut here.',
    beginningMayBeMissing &&
      'The beginning of the log may be missing: the node had rotated it before it could be read.',
    gaps.length > 0 &&
      `${formatCount(gaps.length, 'possible gap')} in the log (a lost file, or silence): first between ${gaps[0]?.fromStamp} and ${gaps[0]?.toStamp}.`,
    interruptedBy !== undefined &&
      (isStoredInPart(run)
        ? `Not all of the log could be kept (${interruptedBy}): its file ends early; the last lines here are its true end.`
        : `The log could not be read to its end (${interruptedBy}).`),
    log.isReportUnbelieved &&
      `The report is shown as plain output: the image ${run.plan?.imageAlias ?? ''} is not marked \`diagnostic: true\` in the policy.`,
    rebuilt(run),
    run.delivery.fileLost !== undefined && `The whole log could not be shared as a file (${run.delivery.fileLost}).`,
  ];
  return paragraphs(sentences);
}

/** What is missing in a run that was rebuilt from the cluster (`rebuildRun`). */
function rebuilt({ rebuilt: isRebuilt, approval }: Run): string | undefined {
  if (isRebuilt !== true) return undefined;
  const words = approval && approval.votes.length > 0 ? ', and the voters’ reasons are lost' : '';
  return `kdebug restarted during this run and recovered it from the cluster; times are estimates${words}.`;
}

const paragraphs = (sentences: readonly (string | boolean | undefined)[]): readonly Part[] =>
  sentences
    .filter((sentence): sentence is string => typeof sentence === 'string')
    .map((sentence) => ({ kind: 'paragraph', spans: [text(sentence)] }));
