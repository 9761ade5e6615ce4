import type { Run, RunLog } from '../run/run.ts';
import { formatBytes, formatCount, shortDuration } from './duration.ts';
import { caveats, isKeptInPart } from './log-caveats.ts';
import { type Fact, type Part, text } from './message.ts';
import { isOnlyInFile, reportPart } from './verdict-parts.ts';

const paragraph = (words: string): Part => ({ kind: 'paragraph', spans: [text(words)] });

/** From the container's own times when it ended, else from ours. */
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
    return [paragraph(isKnown ? 'No output.' : 'None of its log could be read.'), ...caveats(run)];
  }
  const where = run.delivery.fileLost === undefined && !isKeptInPart(run) ? ', all in the attached file' : '';
  if (isOnlyInFile(run)) return [reportPart(log.lines), ...caveats(run)];
  const omitted = log.omittedLines > 0 ? `\n… ${formatCount(log.omittedLines, 'line')} more${where} …\n` : '';
  const joined = log.omittedLines > 0 ? `${log.head}${omitted}${log.tail}` : log.head;
  return [{ kind: 'preformatted', text: joined }, ...caveats(run)];
}

/** Nobody is sent to the last lines of a log that has none. */
export function nextPart({ outcome, log }: Run, next: string): readonly Part[] {
  if (next === '' || (outcome?.kind === 'failed' && log?.bytes === 0)) return [];
  return [paragraph(next)];
}

/** The termination message, unless the log or the verdict already says the same. Both were filtered before they were kept. */
export function terminationPart({ termination, verdict, log }: Run): readonly Part[] {
  const message = termination?.message.trim() ?? '';
  if (message === '' || verdict?.line !== undefined || (log && saysTheSame(log, message))) return [];
  return [paragraph('Termination message:'), { kind: 'preformatted', text: message }];
}

/** The kubelet's message is the end of the log, its first line perhaps cut (`redactTermination`). */
function saysTheSame({ head, tail }: RunLog, message: string): boolean {
  const whole = message.replace(/^…\n?/, '').trim();
  const end = tail.trim();
  return head.includes(whole) || end.includes(whole) || (end !== '' && whole.endsWith(end));
}

/** Which tool looked and as whom; without a report, what the profile alone keeps from sight. */
export function lookedBy({ verdict, plan }: Run): readonly string[] {
  if (verdict?.by !== undefined) return [verdict.by];
  const spots = plan?.blindSpots ?? [];
  return spots.length === 0 ? [] : [`Not visible to it: ${spots.join('; ')}.`];
}
