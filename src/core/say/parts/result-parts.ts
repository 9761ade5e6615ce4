import { formatBytes, formatCount, shortDuration } from '../../../lib/duration.ts';
import { shorten } from '../../../lib/text.ts';
import type { Evidence, Verdict, VerdictFinding, VerdictGroup } from '../../diagnosis/facts/verdict.ts';
import type { LogCompleteness, Run, RunLog } from '../../run/run.ts';
import { fact, joined, line, list, note, paragraph, preformatted, rows, type Shown } from '../message/line.ts';
import { code, type Fact, type Part, type Span, strong } from '../message/message.ts';
import { chartParts } from './chart-parts.ts';
import { logLostBy, lostWords } from './file-parts.ts';
import { hasReport, leadingFinding, shortName, verdictTone, withoutIds, withoutLead } from './headline.ts';
import { differencesPart } from './once-more-words.ts';

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
  return rows(
    termination && fact('Exit code', `${termination.exitCode} (${termination.reason})`),
    duration !== undefined && fact('Duration', shortDuration(duration)),
    log && log.bytes > 0 && fact('Log', `${formatCount(log.lines, 'line')}, ${formatBytes(log.bytes)}`),
    log && log.redactions > 0 && fact('Redacted', formatCount(log.redactions, 'secret')),
  );
}

export const logParts = (run: Run): Shown => [run.log && excerptPart(run, run.log), caveats(run), differencesPart(run)];

function excerptPart(run: Run, { bytes, lines, omittedLines, head, tail, completeness }: RunLog): Part {
  if (bytes === 0)
    return completeness.interruptedBy === undefined
      ? paragraph`The log is empty.`
      : paragraph`None of its log could be read.`;
  if (isOnlyInFile(run)) return paragraph`Full report attached (${formatCount(lines, 'line')})`;
  if (omittedLines === 0) return preformatted(head);
  const where = logLostBy(run) === undefined && !isStoredInPart(run) ? ', all in the attached file' : '';
  return preformatted(`${head}\n… ${formatCount(omittedLines, 'more line')}${where} …\n${tail}`);
}

/** The termination message, unless the log or the verdict already says it. Both are stored filtered. */
export function terminationPart({ termination, verdict, log }: Run): Shown {
  const message = termination?.message.trim() ?? '';
  if (message === '' || hasReport(verdict) || (log && saysTheSame(log, message))) return [];
  return [paragraph`Termination message:`, preformatted(message)];
}

/** The kubelet's message is the end of the log; its first line may be cut (`safeTermination`). */
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
export function lookedBy({ verdict, plan, outcome }: Run): readonly string[] {
  if (verdict?.by !== undefined) return [verdict.by];
  if (outcome?.kind === 'answered') return [];
  const spots = plan?.blindSpots ?? [];
  return spots.length === 0 ? [] : [`Not visible to it: ${spots.join('; ')}.`];
}

/**
 * The parts of an answer that the first two lines of a result leave out: the words of the pod that show the cause, its
 * groups of pods, other findings, what is fine, what was not checked. Where nothing was found, the last is the news.
 */
export function verdictParts(run: Run): Shown {
  const { verdict } = run;
  if (!verdict) return [];
  const isQuiet = verdictTone(verdict) === 'ended';
  const fine = verdict.fine !== undefined && paragraph`${strong('Checked, no problems: ')}${verdict.fine}`;
  const unseen = unseenPart(verdict);
  return [
    groupsList(verdict, MAX_GROUPS),
    changedPart(verdict),
    evidenceParts(verdict),
    findingsPart(verdict),
    isQuiet ? [unseen, fine] : [fine, unseen],
    chartParts(run),
  ];
}

/** A fact to think of beside the cause, never one. */
export const changedPart = ({ changed }: Verdict): Shown => changed !== undefined && paragraph`${changed}.`;
export const changedNote = ({ changed }: Verdict): Shown => changed !== undefined && note`${changed}`;

export const unseenPart = ({ unseen = [] }: Verdict): Shown =>
  unseen.length > 0 && [paragraph`${strong('Not checked:')}`, list(unseen.map(withoutLead))];

const MAX_EVIDENCE = 3;
const MAX_EVIDENCE_LINES = 6;
const MAX_EVIDENCE_LENGTH = 300;

/** The pod's own lines, verbatim. */
export const evidenceParts = ({ evidence = [] }: Verdict): Shown => evidence.slice(0, MAX_EVIDENCE).map(shownEvidence);

function shownEvidence({ title, lines }: Evidence): Shown {
  const shown = lines.slice(0, MAX_EVIDENCE_LINES).map((each) => shorten(each, MAX_EVIDENCE_LENGTH));
  return shown.length > 0 && [paragraph`${strong(title)}`, preformatted(shown.join('\n'))];
}

const MAX_GROUPS = 8;
const MAX_NAMED_PODS = 3;
const MAX_GROUP_LENGTH = 200;

/** The words before the text of a group: `2 of 3 pods`. */
const COUNTED = /^((?:both|all [\d,]+|[\d,]+ of [\d,]+) pods?): /;

/** Groups that a card shows; the result has more. */
export const GROUPS_ON_CARD = 3;

/** The pods of a workload by what is wrong with them: `*2 of 3 pods*: web exited with code 1 (web-1, web-2)`. */
export function groupsList({ groups = [] }: Verdict, most: number): Shown {
  const rest = groups.slice(most);
  const pods = rest.reduce((sum, group) => sum + podsOf(group), 0);
  const more = rest.length > 0 && `${formatCount(pods, 'pod')} in ${formatCount(rest.length, 'other group')}`;
  return list([...groups.slice(0, most).map(groupSpans), more]);
}

const podsOf = ({ podNames, more = 0 }: VerdictGroup): number => podNames.length + more;

function groupSpans(group: VerdictGroup): readonly Span[] {
  const { text: found, podNames } = group;
  const named = podNames.slice(0, MAX_NAMED_PODS);
  const left = podsOf(group) - named.length;
  const count = strong(COUNTED.exec(found)?.[1] ?? formatCount(podsOf(group), 'pod'));
  const words = shorten(withoutIds(found.replace(COUNTED, '')), MAX_GROUP_LENGTH);
  const names = joined(named.map((name) => code(shortName(name))));
  return line`${count}: ${words} (${names}${left > 0 && ` and ${left.toLocaleString('en-US')} more`})`;
}

function findingsPart(verdict: Verdict): Shown {
  const { findings, more = 0, by } = verdict;
  const leading = leadingFinding(verdict);
  const others = findings.filter((finding) => finding !== leading);
  const rest = more > 0 && `${more} more${by === undefined ? '' : ' in the report'}`;
  return list([...others.map(findingSpans), rest]);
}

const findingSpans = ({ text: found, limit, next }: VerdictFinding): readonly Span[] =>
  line`${strong(found)}${limit === undefined ? '.' : ` (threshold: ${limit})`}${next !== '' && ` ${next}`}`;

/** A long report stays in the file: the verdict already summarises it. */
const isOnlyInFile = (run: Run): boolean =>
  run.plan?.onceMore === undefined &&
  hasReport(run.verdict) &&
  run.log !== undefined &&
  run.log.omittedLines > 0 &&
  logLostBy(run) === undefined;

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

/** The doubts about the log. */
export function caveats(run: Run): Shown {
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

/** Names the data that is missing in a run that was rebuilt from the cluster (`rebuildRun`). */
function rebuilt({ rebuilt: isRebuilt, approval }: Run): string | undefined {
  if (isRebuilt !== true) return undefined;
  const words = approval && approval.votes.length > 0 ? ', and the voters’ reasons are lost' : '';
  return `kdebug restarted during this run and recovered it from the cluster; times are estimates${words}.`;
}

const paragraphs = (sentences: readonly (string | false | undefined)[]): Shown =>
  sentences.map((sentence) => paragraph`${sentence}`);
