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

/** A report of `images/autodiagnose`. All strings are one line, clean, at most 400 characters, and still plain text of a container. */
export interface Diagnosis {
  readonly verdict: string;
  readonly target: DiagnosisTarget;
  readonly findings: readonly Finding[];
  readonly sections: readonly Section[];
}

const BEGIN = '-----BEGIN KDEBUG REPORT-----';
const END = '-----END KDEBUG REPORT-----';
const LONGEST_REPORT = 16 * 1024;
const LONGEST_STRING = 400;
const MOST_ITEMS = 40;
const STATES: readonly string[] = ['ok', 'finding', 'not-readable'] satisfies readonly SectionState[];
const CODE = /^[a-z][a-z0-9_-]{0,39}$/;

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isState = (value: unknown): value is SectionState => typeof value === 'string' && STATES.includes(value);
const isCode = (value: unknown): value is string => typeof value === 'string' && CODE.test(value);
const isId = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function line(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const clean = cleanText(value.slice(0, LONGEST_STRING)).replace(/\s+/g, ' ').trim();
  return clean.isWellFormed() ? clean : clean.toWellFormed();
}

/** Every item of a list of at most 40, or nothing when one is not what it must be. */
function everyItem<T>(value: unknown, parse: (fields: Fields) => T | undefined): readonly T[] | undefined {
  if (!Array.isArray(value) || value.length > MOST_ITEMS) return undefined;
  const items = value
    .map((item: unknown) => (isFields(item) ? parse(item) : undefined))
    .filter((item) => item !== undefined);
  return items.length === value.length ? items : undefined;
}

function toFinding({ code, value, threshold, text, next }: Fields): Finding | undefined {
  const words = line(text);
  if (!isCode(code) || words === undefined || words === '') return undefined;
  const advice = line(next);
  return {
    code,
    text: words,
    ...(typeof value === 'number' && { value }),
    ...(typeof threshold === 'number' && { threshold }),
    ...(advice !== undefined && advice !== '' && { next: advice }),
  };
}

function toSection({ name, state, text }: Fields): Section | undefined {
  return isCode(name) && isState(state) ? { name, state, text: line(text) ?? '' } : undefined;
}

function toTarget(value: unknown): DiagnosisTarget | undefined {
  if (!isFields(value) || typeof value.effective !== 'boolean') return undefined;
  const { pid, uid, gid, effective } = value;
  return { effective, ...(isId(pid) && { pid }), ...(isId(uid) && { uid }), ...(isId(gid) && { gid }) };
}

function toDiagnosis(json: string): Diagnosis | undefined {
  if (json.length > LONGEST_REPORT) return undefined;
  const report = toFields(json);
  if (report?.kdebug !== 1) return undefined;
  const verdict = line(report.verdict);
  const target = toTarget(report.target);
  const findings = everyItem(report.findings, toFinding);
  const sections = everyItem(report.sections, toSection);
  if (verdict === undefined || verdict === '' || !target || !findings || !sections) return undefined;
  return { verdict, target, findings, sections };
}

function toFields(json: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The line between the markers at the very end of a log. */
function markedReport(logTail: string): string | undefined {
  const [begin, json, end] = logTail.trimEnd().split('\n').slice(-3);
  return begin === BEGIN && end === END ? json : undefined;
}

/**
 * The report that autodiagnose left: the marked one at the end of its log (`logTail`, filtered), else the shorter one in
 * its termination message. `undefined` when neither is a whole, well-formed report of version 1. Never throws, whatever an image wrote.
 */
export function parseDiagnosis(logTail: string, terminationMessage: string): Diagnosis | undefined {
  const marked = markedReport(logTail);
  return (marked === undefined ? undefined : toDiagnosis(marked)) ?? toDiagnosis(terminationMessage.trim());
}
