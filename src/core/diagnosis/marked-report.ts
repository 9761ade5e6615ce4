import { own } from '../../lib/object.ts';
import type { Plan } from '../container/plan.ts';
import { isDiagnostic } from '../planning/resolve.ts';
import type { Policy } from '../policy/policy.ts';
import { REPORT_BEGIN, REPORT_END } from '../report-marks.ts';
import { type Diagnosis, parseReport } from './facts/report.ts';

/**
 * The report of a diagnostic image: the last marked document at the end of the log, else the termination message;
 * undefined if neither holds one (`parseReport`, with the policy's patterns `redact`). The caller must check that the
 * image may be believed (`isDiagnostic`). Never throws.
 */
export function parseDiagnosis(
  logEnd: string,
  terminationMessage: string,
  redact: readonly string[] = [],
): Diagnosis | undefined {
  return parseReport(marked(logEnd), redact) ?? parseReport(terminationMessage, redact);
}

/**
 * The last marked document of a log. A mark counts only on a line of its own: inside a line it is a name (of a file, of
 * a process) that somebody else chose and the image printed.
 */
function marked(log: string): string {
  const end = lastLine(log, REPORT_END, log.length);
  const begin = end < 0 ? -1 : lastLine(log, REPORT_BEGIN, end);
  return begin < 0 ? '' : log.slice(begin + REPORT_BEGIN.length, end);
}

/** Returns the start of the last line before `before` that consists of this mark; -1 if there is none. */
function lastLine(log: string, mark: string, before: number): number {
  for (let at = before; at > 0; ) {
    at = log.lastIndexOf(mark, at - 1);
    if (at < 0) return -1;
    const next = log[at + mark.length];
    if ((at === 0 || log[at - 1] === '\n') && (next === undefined || next === '\n')) return at;
  }
  return -1;
}

/** The parts of a log that a reply shows. */
export interface LogEnds {
  readonly head: string;
  readonly tail: string;
}

/** Removes the marked report: the verdict shows its content, and the file has the document. */
export function withoutReport({ head, tail }: LogEnds): LogEnds {
  return {
    head: beforeLine(head, REPORT_BEGIN) ?? head,
    // A tail that begins inside the report shows none of it.
    tail: beforeLine(tail, REPORT_BEGIN) ?? (beforeLine(tail, REPORT_END) === undefined ? tail : ''),
  };
}

/** The text before the first line that begins with this mark; undefined if there is none. */
function beforeLine(text: string, mark: string): string | undefined {
  const at = text.startsWith(mark) ? 0 : text.indexOf(`\n${mark}`);
  return at < 0 ? undefined : text.slice(0, at).trimEnd();
}

/** The output of a container. */
export interface ContainerOutput {
  /** The end of its log. */
  readonly logEnd: string;
  readonly terminationMessage: string;
}

/**
 * The report of a run, only from an image that the policy marks as diagnostic and that ran its default command. Any
 * other log may contain a file of the target, and so a forged report.
 */
export function believedReport(
  plan: Plan,
  policy: Pick<Policy, 'images' | 'output'>,
  { logEnd, terminationMessage }: ContainerOutput,
): Diagnosis | undefined {
  return isDiagnostic(plan, policy) ? parseDiagnosis(logEnd, terminationMessage, policy.output.redact) : undefined;
}

/** True if kdebug would believe the report, had the image `diagnostic: true` in the policy. */
export function lacksOnlyDiagnosticMark(plan: Plan, policy: Pick<Policy, 'images'>, written: ContainerOutput): boolean {
  const alias = own(policy.images, plan.imageAlias);
  if (!alias || alias.diagnostic || alias.command === 'allowed') return false;
  return parseDiagnosis(written.logEnd, written.terminationMessage) !== undefined;
}
