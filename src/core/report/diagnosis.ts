/** Frames the report at the end of a log; the same document, shortened, stands in the termination message. */
export const REPORT_BEGIN = '-----BEGIN KDEBUG REPORT-----';
export const REPORT_END = '-----END KDEBUG REPORT-----';

export interface Finding {
  readonly code: string;
  readonly text: string;
  readonly next?: string;
}

/** What a diagnostic image reports of its target. */
export interface Diagnosis {
  readonly verdict: string;
  readonly findings: readonly Finding[];
}

const LONGEST_TEXT = 300;
const MOST_FINDINGS = 20;

/**
 * The report of a diagnostic image: the last marked document of the log, else the termination message. Undefined when there is
 * none or it is not of the form: text of a cluster is never trusted further than that. Never throws.
 */
export function parseDiagnosis(logEnd: string, terminationMessage: string): Diagnosis | undefined {
  return diagnosisOf(marked(logEnd)) ?? diagnosisOf(terminationMessage);
}

function marked(log: string): string {
  const end = log.lastIndexOf(REPORT_END);
  const begin = log.lastIndexOf(REPORT_BEGIN, end);
  return begin < 0 || end < 0 ? '' : log.slice(begin + REPORT_BEGIN.length, end);
}

function diagnosisOf(text: string): Diagnosis | undefined {
  const document = asObject(parsed(text));
  if (document?.kdebug !== 1 || typeof document.verdict !== 'string') return undefined;
  const listed = Array.isArray(document.findings) ? document.findings.slice(0, MOST_FINDINGS) : [];
  return { verdict: line(document.verdict), findings: listed.flatMap(findingOf) };
}

function findingOf(value: unknown): readonly Finding[] {
  const finding = asObject(value);
  if (typeof finding?.code !== 'string' || typeof finding.text !== 'string') return [];
  const next = typeof finding.next === 'string' ? { next: line(finding.next) } : {};
  return [{ code: line(finding.code), text: line(finding.text), ...next }];
}

const line = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, LONGEST_TEXT);

const asObject = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;

function parsed(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
