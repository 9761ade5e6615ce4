import { own } from '../../lib/own-property.ts';
import type { Plan } from '../container/plan.ts';
import type { Policy } from '../policy/policy.ts';
import { isDiagnostic } from '../policy/resolve.ts';
import { type Diagnosis, parseReport } from './report.ts';

/** Frames the report at the end of a log; the same document, shortened, stands in the termination message. */
export const REPORT_BEGIN = '-----BEGIN KDEBUG REPORT-----';
export const REPORT_END = '-----END KDEBUG REPORT-----';

/**
 * The report of a diagnostic image: the last marked document of the log's end, else the termination message; undefined when
 * neither holds one (`parseReport`, with the policy's patterns `redact`). Whether the image is one that may be believed is the caller's to know (`isDiagnostic`).
 * Never throws.
 */
export function parseDiagnosis(
  logEnd: string,
  terminationMessage: string,
  redact: readonly string[] = [],
): Diagnosis | undefined {
  return parseReport(marked(logEnd), redact) ?? parseReport(terminationMessage, redact);
}

/**
 * The last marked document of a log. Each mark has a line of its own: one inside a line is a name that somebody else chose (of a
 * file, of a process), which the image told.
 */
function marked(log: string): string {
  const end = lastLine(log, REPORT_END, log.length);
  const begin = end < 0 ? -1 : lastLine(log, REPORT_BEGIN, end);
  return begin < 0 ? '' : log.slice(begin + REPORT_BEGIN.length, end);
}

/** Where the last line before `before` begins that is this mark and nothing else; -1 when there is none. */
function lastLine(log: string, mark: string, before: number): number {
  for (let at = before; at > 0; ) {
    at = log.lastIndexOf(mark, at - 1);
    if (at < 0) return -1;
    const next = log[at + mark.length];
    if ((at === 0 || log[at - 1] === '\n') && (next === undefined || next === '\n')) return at;
  }
  return -1;
}

/** The ends of a log as a reply shows them. */
export interface LogEnds {
  readonly head: string;
  readonly tail: string;
}

/** The same without the marked report: what it says is shown as the verdict, and the document itself is in the file. */
export function withoutReport({ head, tail }: LogEnds): LogEnds {
  return {
    head: beforeLine(head, REPORT_BEGIN) ?? head,
    // A tail that begins inside the report shows nothing of it.
    tail: beforeLine(tail, REPORT_BEGIN) ?? (beforeLine(tail, REPORT_END) === undefined ? tail : ''),
  };
}

/** What stands before the first line that begins with this mark; undefined when none does. */
function beforeLine(text: string, mark: string): string | undefined {
  const at = text.startsWith(mark) ? 0 : text.indexOf(`\n${mark}`);
  return at < 0 ? undefined : text.slice(0, at).trimEnd();
}

/** What a container left behind. */
export interface Written {
  /** The end of its log. */
  readonly logEnd: string;
  readonly terminationMessage: string;
}

/**
 * The report of a run, where it may be believed: only from an image that the policy calls diagnostic, and that ran its own command.
 * Anybody else's log may hold a file of the target, and so a report that the target made up.
 */
export function believedReport(
  plan: Plan,
  policy: Pick<Policy, 'images' | 'output'>,
  { logEnd, terminationMessage }: Written,
): Diagnosis | undefined {
  return isDiagnostic(plan, policy) ? parseDiagnosis(logEnd, terminationMessage, policy.output.redact) : undefined;
}

/** Whether there is a report that would be believed if the policy said `diagnostic: true` of the image. */
export function lacksOnlyTheMark(plan: Plan, policy: Pick<Policy, 'images'>, written: Written): boolean {
  const alias = own(policy.images, plan.imageAlias);
  if (!alias || alias.diagnostic || alias.command === 'allowed') return false;
  return parseDiagnosis(written.logEnd, written.terminationMessage) !== undefined;
}
