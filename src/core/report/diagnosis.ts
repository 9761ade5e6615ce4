import { cleanText } from './log/clean-text.ts';

/** Something that autodiagnose found wrong. */
export interface Finding {
  /** Stable, e.g. `close_wait`. */
  readonly code: string;
  readonly value?: number;
  readonly threshold?: number;
  /** One phrase with the number in it. */
  readonly text: string;
  /** One sentence on what to do. */
  readonly next?: string;
}

export type SectionState = 'ok' | 'finding' | 'not-readable';

export interface Section {
  readonly name: string;
  readonly state: SectionState;
  /** Empty in a shortened report. */
  readonly text: string;
}

/** Whom the report is about, as far as it could be seen. */
export interface DiagnosisTarget {
  readonly pid?: number;
  readonly uid?: number;
  readonly gid?: number;
  /** The target's processes were visible. */
  readonly effective: boolean;
}

/** What a diagnostic image reports of its target. All strings are one line, clean and bounded, and still a container's words. */
export interface Diagnosis {
  readonly verdict: string;
  readonly target?: DiagnosisTarget;
  readonly findings: readonly Finding[];
  readonly sections?: readonly Section[];
}

/** Frames the report at the end of a log; the same document, shortened, stands in the termination message. */
export const REPORT_BEGIN = '-----BEGIN KDEBUG REPORT-----';
export const REPORT_END = '-----END KDEBUG REPORT-----';

const LONGEST_REPORT = 512 * 1024;
const LONGEST_TEXT = 300;
const MOST_ITEMS = 20;
const STATES: readonly string[] = ['ok', 'finding', 'not-readable'] satisfies readonly SectionState[];
const CODE = /^[a-z][a-z0-9_-]{0,39}$/;

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isState = (value: unknown): value is SectionState => typeof value === 'string' && STATES.includes(value);
const isCode = (value: unknown): value is string => typeof value === 'string' && CODE.test(value);
const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** One clean line; nothing when it is no string, or empty. */
function line(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  // A lone surrogate, from JSON or from the cut, becomes U+FFFD.
  const text = Buffer.from(value.slice(0, LONGEST_TEXT)).toString('utf8');
  return cleanText(text).replace(/\s+/g, ' ').trim() || undefined;
}

/** The first items of a list that are what they must be. */
function items<T>(value: unknown, toItem: (fields: Fields) => T | undefined): readonly T[] {
  const listed: readonly unknown[] = Array.isArray(value) ? value.slice(0, MOST_ITEMS) : [];
  return listed.flatMap((item) => (isFields(item) ? (toItem(item) ?? []) : []));
}

function toFinding({ code, value, threshold, text, next }: Fields): Finding | undefined {
  const words = line(text);
  if (!isCode(code) || words === undefined) return undefined;
  const advice = line(next);
  return {
    code,
    text: words,
    ...(isAmount(value) && { value }),
    ...(isAmount(threshold) && { threshold }),
    ...(advice !== undefined && { next: advice }),
  };
}

function toSection({ name, state, text }: Fields): Section | undefined {
  return isCode(name) && isState(state) ? { name, state, text: line(text) ?? '' } : undefined;
}

function toTarget({ pid, uid, gid, effective }: Fields): DiagnosisTarget | undefined {
  if (typeof effective !== 'boolean') return undefined;
  return { effective, ...(isAmount(pid) && { pid }), ...(isAmount(uid) && { uid }), ...(isAmount(gid) && { gid }) };
}

function toDiagnosis(json: string): Diagnosis | undefined {
  const report = toFields(json);
  const verdict = line(report?.verdict);
  if (report?.kdebug !== 1 || verdict === undefined) return undefined;
  const target = isFields(report.target) ? toTarget(report.target) : undefined;
  return {
    verdict,
    findings: items(report.findings, toFinding),
    ...(target && { target }),
    ...(Array.isArray(report.sections) && { sections: items(report.sections, toSection) }),
  };
}

function toFields(json: string): Fields | undefined {
  if (json.length > LONGEST_REPORT || !json.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The last marked document of a log. */
function marked(log: string): string {
  const end = log.lastIndexOf(REPORT_END);
  const begin = end < 0 ? -1 : log.lastIndexOf(REPORT_BEGIN, end);
  return begin < 0 ? '' : log.slice(begin + REPORT_BEGIN.length, end);
}

/**
 * The report of a diagnostic image: the last marked document of the log's end, else the termination message. Undefined when there is
 * none of version 1 with a verdict, or it is over 512 KiB; findings and sections not of the form are left out, 20 of each are kept.
 * Text of a cluster is never trusted further than that. Never throws.
 */
export function parseDiagnosis(logEnd: string, terminationMessage: string): Diagnosis | undefined {
  return toDiagnosis(marked(logEnd)) ?? toDiagnosis(terminationMessage);
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
