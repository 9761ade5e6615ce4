import { formatBytes, formatCount, shortDuration } from '../../../lib/duration.ts';
import type { LogCompleteness, Run, RunLog, Verdict, VerdictFinding } from '../../run/run.ts';
import { type Fact, type Part, type Span, strong, text } from '../message.ts';
import { chartParts } from './chart-parts.ts';
import { logLostBy, lostWords } from './file-parts.ts';

/** From the container's own times if it ended, else from kdebug's. */
export function durationOf(run: Run): number | undefined {
  const { termination } = run;
  const started = termination ? Date.parse(termination.startedAt) : Number.NaN;
  const ended = termination ? Date.parse(termination.finishedAt) : Number.NaN;
  if (started > 0 && ended >= started) return ended - started;
  if (run.startedAtMs !== undefined && run.endedAtMs !== undefined) return run.endedAtMs - run.startedAtMs;
  return undefined;
}

export function resultFacts(run: Run): readonly Fact[] {
  const { termination, log } = run;
  const duration = durationOf(run);
  return [
    ...(termination ? [{ label: 'Exit code', value: [text(`${termination.exitCode} (${termination.reason})`)] }] : []),
    ...(duration === undefined ? [] : [{ label: 'Duration', value: [text(shortDuration(duration))] }]),
    ...(log && log.bytes > 0
      ? [{ label: 'Log', value: [text(`${formatCount(log.lines, 'line')}, ${formatBytes(log.bytes)}`)] }]
      : []),
    ...(log && log.redactions > 0 ? [{ label: 'Redacted', value: [text(formatCount(log.redactions, 'secret'))] }] : []),
  ];
}

export function logParts(run: Run): readonly Part[] {
  const { log } = run;
  if (!log) return caveats(run);
  if (log.bytes === 0) {
    const isKnown = log.completeness.interruptedBy === undefined;
    return [plainParagraph(isKnown ? 'The log is empty.' : 'None of its log could be read.'), ...caveats(run)];
  }
  const where = logLostBy(run) === undefined && !isStoredInPart(run) ? ', all in the attached file' : '';
  if (isOnlyInFile(run)) return [reportPart(log.lines), ...caveats(run)];
  const omitted = log.omittedLines > 0 ? `\n… ${formatCount(log.omittedLines, 'more line')}${where} …\n` : '';
  const joined = log.omittedLines > 0 ? `${log.head}${omitted}${log.tail}` : log.head;
  return [{ kind: 'preformatted', text: joined }, ...caveats(run)];
}

/** The termination message, unless the log or the verdict already says it. Both are stored filtered. */
export function terminationPart({ termination, verdict, log }: Run): readonly Part[] {
  const message = termination?.message.trim() ?? '';
  if (message === '' || verdict?.line !== undefined || (log && saysTheSame(log, message))) return [];
  return [plainParagraph('Termination message:'), { kind: 'preformatted', text: message }];
}

/** The kubelet's message is the end of the log; its first line may be cut (`redactTermination`). */
function saysTheSame({ head, tail }: RunLog, message: string): boolean {
  const whole = message.replace(/^…\n?/, '').trim();
  const end = tail.trim();
  return head.includes(whole) || end.includes(whole) || (end !== '' && whole.endsWith(end));
}

/** The same facts in the small print: `exit code 0 (Completed) · 2 s · 1 line, 6 B of log`. */
export function resultWords(run: Run): readonly string[] {
  const { termination, log } = run;
  const duration = durationOf(run);
  return [
    ...(termination ? [`Exit code ${termination.exitCode} (${termination.reason})`] : []),
    ...(duration === undefined ? [] : [shortDuration(duration)]),
    ...(log && log.bytes > 0 ? [`log of ${formatCount(log.lines, 'line')}, ${formatBytes(log.bytes)}`] : []),
    ...(log && log.redactions > 0 ? [`${formatCount(log.redactions, 'secret')} redacted`] : []),
  ];
}

/** The tool that made the report and its user; without a report, what the profile cannot see. */
export function lookedBy({ verdict, plan }: Run): readonly string[] {
  if (verdict?.by !== undefined) return [verdict.by];
  const spots = plan?.blindSpots ?? [];
  return spots.length === 0 ? [] : [`Not visible to it: ${spots.join('; ')}.`];
}

const plainParagraph = (words: string): Part => ({ kind: 'paragraph', spans: [text(words)] });

/** What the first two lines of a result leave out of a diagnosis: other findings, what is fine, what was not checked. */
export function verdictParts(run: Run): readonly Part[] {
  const { verdict } = run;
  if (!verdict) return [];
  const { fine, unseen = [] } = verdict;
  return [
    ...findingsPart(verdict),
    ...(fine === undefined ? [] : [paragraph([strong('Checked, no problems: '), text(fine)])]),
    ...(unseen.length === 0 ? [] : [paragraph([strong('Not checked:')]), list(unseen.map((line) => [text(line)]))]),
    ...chartParts(run),
  ];
}

function findingsPart({ findings, more = 0 }: Verdict): readonly Part[] {
  const others = findings.slice(1);
  if (others.length + more === 0) return [];
  const rest: readonly (readonly Span[])[] = more === 0 ? [] : [[text(`${more} more in the report`)]];
  return [list([...others.map(findingSpans), ...rest])];
}

const findingSpans = ({ text: found, limit, next }: VerdictFinding): readonly Span[] => [
  strong(found),
  text([limit === undefined ? '.' : ` (threshold: ${limit})`, next === '' ? '' : ` ${next}`].join('')),
];

/** Whether a long report is left to the file: the verdict already summarises it. */
const isOnlyInFile = (run: Run): boolean =>
  run.verdict?.line !== undefined && run.log !== undefined && run.log.omittedLines > 0 && logLostBy(run) === undefined;

/** Replaces such a report. */
const reportPart = (lines: number): Part => paragraph([text(`Full report attached (${formatCount(lines, 'line')})`)]);

const paragraph = (spans: readonly Span[]): Part => ({ kind: 'paragraph', spans });
const list = (items: readonly (readonly Span[])[]): Part => ({ kind: 'list', items });

/** The log was read to its end, but the disk did not store all of it. */
const isStoredInPart = ({ log }: Pick<Run, 'log'>): boolean => isOfSpool(log?.completeness.interruptedBy);

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
  const lost = logLostBy(run);
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
    lost !== undefined && `The full log could not be shared as a file (${lostWords(lost)}).`,
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
