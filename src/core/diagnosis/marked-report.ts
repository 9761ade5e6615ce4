import { type Diagnosis, parseReport } from './report.ts';

/** Frames the report at the end of a log; the same document, shortened, stands in the termination message. */
export const REPORT_BEGIN = '-----BEGIN KDEBUG REPORT-----';
export const REPORT_END = '-----END KDEBUG REPORT-----';

/**
 * The report of a diagnostic image: the last marked document of the log's end, else the termination message; undefined when
 * neither holds one (`parseReport`). Text of a cluster is never trusted further than that. Never throws.
 */
export function parseDiagnosis(logEnd: string, terminationMessage: string): Diagnosis | undefined {
  return parseReport(marked(logEnd)) ?? parseReport(terminationMessage);
}

/** The last marked document of a log. */
function marked(log: string): string {
  const end = log.lastIndexOf(REPORT_END);
  const begin = end < 0 ? -1 : log.lastIndexOf(REPORT_BEGIN, end);
  return begin < 0 ? '' : log.slice(begin + REPORT_BEGIN.length, end);
}

/** The ends of a log as a reply shows them. */
export interface LogEnds {
  readonly head: string;
  readonly tail: string;
}

/** The same without the marked report: what it says is shown as the verdict, and the document itself is in the file. */
export function withoutReport({ head, tail }: LogEnds): LogEnds {
  return {
    head: before(head, REPORT_BEGIN),
    tail: tail.includes(REPORT_END) ? beforeOrNothing(tail, REPORT_BEGIN) : tail,
  };
}

const before = (text: string, mark: string): string =>
  text.includes(mark) ? text.slice(0, text.indexOf(mark)).trimEnd() : text;

/** A tail that begins inside the report shows nothing of it. */
const beforeOrNothing = (text: string, mark: string): string => (text.includes(mark) ? before(text, mark) : '');
