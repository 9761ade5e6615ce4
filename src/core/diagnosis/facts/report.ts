import { defined, isObject } from '../../../lib/object.ts';
import { type PodFacts, readFacts } from '../../compare/facts.ts';
import { isTracerKey } from '../../container/carrier.ts';
import { redactText } from '../../redact/redact-text.ts';
import { RUNTIMES, type Runtime } from './rules.ts';
import { readSeries, type Series } from './series.ts';

/** A problem that a diagnosis found. */
export interface Finding {
  /** Stable, e.g. `close_wait`. */
  readonly code: string;
  readonly value?: number;
  readonly threshold?: number;
  /** One phrase that includes the number. */
  readonly text: string;
  /** One sentence on what to do. */
  readonly next?: string;
  /** The name of its section. */
  readonly section?: string;
  /** Set if it differs from its rule's; never from a report. */
  readonly rank?: 1 | 2 | 3;
  /** The container that it is about; absent: the pod as a whole, or what is around it. Never from a report. */
  readonly containerName?: string;
  /** Codes of what an image measures that it gives the cause of, beside those of its rule. Never from a report. */
  readonly explains?: readonly string[];
}

/** `not-looked-at`: there was nothing to check, so the section is neither fine nor unseen. */
const STATES = ['ok', 'finding', 'not-readable', 'not-looked-at'] as const;
export type SectionState = (typeof STATES)[number];

/**
 * The changes that would make a section readable: the target's own user and group, a profile, or a target container.
 */
const HELPS = ['identity', 'general', 'sysadmin', 'target'] as const;
export type Help = (typeof HELPS)[number];

export interface Section {
  readonly name: string;
  readonly state: SectionState;
  /** Empty in a shortened report. */
  readonly text: string;
  /** The missing permission, in words, of a section that could not be read. */
  readonly lacks?: string;
  /** Best first. */
  readonly helps?: readonly Help[];
}

/** The target, as far as it could be seen. */
export interface DiagnosisTarget {
  readonly pid?: number;
  readonly uid?: number;
  readonly gid?: number;
  /** The target's processes were visible. */
  readonly effective: boolean;
  /** The process name. */
  readonly name?: string;
  readonly capabilities?: readonly string[];
  /** The language runtime of its code. */
  readonly runtime?: Runtime;
  /** Yama's `ptrace_scope` on its node, 0 to 3: who may attach to a process of the same user. Absent: no Yama, or not known. */
  readonly ptraceScope?: number;
}

/**
 * A diagnostic image's report on its target. All strings are one line, clean and bounded, but a container wrote them.
 */
export interface Diagnosis {
  readonly verdict: string;
  /** It does not call the target well, although it may have found nothing: its verdict says why. */
  readonly unsure?: boolean;
  readonly tool?: { readonly name: string; readonly version?: string };
  /** Proves that the tracer of a second run wrote this: the container that brought it has left the same key. */
  readonly key?: string;
  /** The user that the diagnosis ran as. */
  readonly self?: { readonly uid: number; readonly gid: number; readonly capabilities: readonly string[] };
  readonly target?: DiagnosisTarget;
  readonly findings: readonly Finding[];
  readonly sections: readonly Section[];
  readonly cost?: { readonly milliseconds?: number; readonly cpuMilliseconds?: number; readonly memoryBytes?: number };
  /** For a comparison: what the probe told of the target, if it was asked to. */
  readonly facts?: PodFacts;
  /** The length of the CPU sample. */
  readonly sampleSeconds?: number;
  readonly series?: readonly Series[];
}

const MAX_REPORT_LENGTH = 64 * 1024;
const MAX_TEXT_LENGTH = 300;
const MAX_WORD_LENGTH = 40;
const MAX_ITEMS = 20;
/** Kubernetes' own bound of runAsUser and runAsGroup (apimachinery, IsValidUserID). */
const MAX_ID = 2_147_483_647;
const CODE = /^[a-z][a-z0-9_-]{0,39}$/;
const CAPABILITY = /^[A-Z][A-Z_]{2,29}$/;

type Fields = Readonly<Record<string, unknown>>;

const isCode = (value: unknown): value is string => typeof value === 'string' && CODE.test(value);
const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
const isId = (value: unknown): value is number => Number.isInteger(value) && isAmount(value) && value <= MAX_ID;
const amountIn = (value: unknown): number | undefined => (isAmount(value) ? value : undefined);
const idIn = (value: unknown): number | undefined => (isId(value) ? value : undefined);
const codeIn = (value: unknown): string | undefined => (isCode(value) ? value : undefined);
const oneOf = <Word extends string>(words: readonly Word[], value: unknown): Word | undefined =>
  words.find((word) => word === value);

type Patterns = readonly string[];

/** One line, cleaned and redacted; undefined if it is empty or not a string. */
function line(value: unknown, redact: Patterns, maxLength = MAX_TEXT_LENGTH): string | undefined {
  if (typeof value !== 'string') return undefined;
  // Redact before cutting: a secret without its end may not be recognised.
  const text = redactText(value, redact).slice(0, maxLength);
  // The cut may leave a lone surrogate; it becomes U+FFFD.
  return Buffer.from(text).toString('utf8').replace(/\s+/g, ' ').trim() || undefined;
}

const listed = (value: unknown, max = MAX_ITEMS): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, max) : [];

/** The first items of a list, without malformed ones. */
const items = <T>(
  value: unknown,
  redact: Patterns,
  toItem: (fields: Fields, redact: Patterns) => T | undefined,
): readonly T[] => listed(value).flatMap((item) => (isObject(item) ? (toItem(item, redact) ?? []) : []));

const capabilitiesOf = (value: unknown): readonly string[] =>
  listed(value, 64).filter((name): name is string => typeof name === 'string' && CAPABILITY.test(name));

function toFinding({ code, value, threshold, text, next, section }: Fields, redact: Patterns): Finding | undefined {
  const words = line(text, redact);
  if (!isCode(code) || words === undefined) return undefined;
  const advice = line(next, redact);
  return {
    code,
    text: words,
    ...defined({ value: amountIn(value), threshold: amountIn(threshold), next: advice, section: codeIn(section) }),
  };
}

function toSection({ name, state, text, lacks, helps }: Fields, redact: Patterns): Section | undefined {
  const known = oneOf(STATES, state);
  if (!isCode(name) || known === undefined) return undefined;
  const lacking = line(lacks, redact);
  const helping = [...new Set(listed(helps).flatMap((help) => oneOf(HELPS, help) ?? []))];
  return {
    name,
    state: known,
    text: line(text, redact) ?? '',
    ...defined({ lacks: lacking, helps: helping.length > 0 ? helping : undefined }),
  };
}

function toTarget(
  { pid, uid, gid, effective, name, capabilities, runtime, ptraceScope }: Fields,
  redact: Patterns,
): DiagnosisTarget | undefined {
  if (typeof effective !== 'boolean') return undefined;
  const called = line(name, redact, MAX_WORD_LENGTH);
  return {
    effective,
    ...defined({
      pid: idIn(pid),
      uid: idIn(uid),
      gid: idIn(gid),
      name: called,
      capabilities: Array.isArray(capabilities) ? capabilitiesOf(capabilities) : undefined,
      runtime: oneOf(RUNTIMES, runtime),
      ptraceScope: [0, 1, 2, 3].find((scope) => scope === ptraceScope),
    }),
  };
}

function toTool({ name, version }: Fields, redact: Patterns): Diagnosis['tool'] {
  const called = line(name, redact, MAX_WORD_LENGTH);
  const numbered = line(version, redact, MAX_WORD_LENGTH);
  return called === undefined ? undefined : { name: called, ...defined({ version: numbered }) };
}

const toSelf = ({ uid, gid, capabilities }: Fields): Diagnosis['self'] =>
  isId(uid) && isId(gid) ? { uid, gid, capabilities: capabilitiesOf(capabilities) } : undefined;

const toCost = ({ milliseconds, cpuMilliseconds, memoryBytes }: Fields): NonNullable<Diagnosis['cost']> =>
  defined({
    milliseconds: amountIn(milliseconds),
    cpuMilliseconds: amountIn(cpuMilliseconds),
    memoryBytes: amountIn(memoryBytes),
  });

/**
 * Parses a report in JSON. Undefined unless it has version 1 and a verdict and is at most 64 KiB. Malformed findings
 * and sections are dropped and 20 of each are read; other malformed fields count as absent. Its texts are redacted with
 * the policy's patterns: the log filter saw them in JSON, where an escape can hide a secret. Never throws.
 */
export function parseReport(json: string, redact: readonly string[] = []): Diagnosis | undefined {
  const report = toFields(json);
  const verdict = line(report?.verdict, redact);
  if (report?.kdebug !== 1 || verdict === undefined) return undefined;
  const tool = isObject(report.tool) ? toTool(report.tool, redact) : undefined;
  const self = isObject(report.self) ? toSelf(report.self) : undefined;
  const target = isObject(report.target) ? toTarget(report.target, redact) : undefined;
  const series = readSeries(report.series, (text) => line(text, redact, MAX_WORD_LENGTH));
  return {
    verdict,
    findings: items(report.findings, redact, toFinding),
    sections: items(report.sections, redact, toSection),
    ...defined({
      unsure: report.unsure === true || undefined,
      key: typeof report.key === 'string' && isTracerKey(report.key) ? report.key : undefined,
      tool,
      self,
      target,
      cost: isObject(report.cost) ? toCost(report.cost) : undefined,
      facts: readFacts(report, (text, maxLength) => line(text, redact, maxLength)),
      sampleSeconds: amountIn(report.sampleSeconds),
      series: series.length > 0 ? series : undefined,
    }),
  };
}

function toFields(json: string): Fields | undefined {
  if (json.length > MAX_REPORT_LENGTH || !json.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
