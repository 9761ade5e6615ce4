import { allAtOnce, type Steps } from '../../../lib/turns.ts';
import { cleanLine } from '../../redact/clean-text.ts';
import { hideSpanning, LineRedactor } from '../../redact/line-redactor.ts';
import { redactTailSteps } from '../../redact/redact-text.ts';
import type { LastWords, TargetLog } from '../facts/facts.ts';
import type { Evidence } from '../facts/verdict.ts';
import { LogEntries, type LogEntry, quotableSteps, severityOf, wordsOf } from './log-entries.ts';
import { troubleIn } from './log-level.ts';
import { readLogLine } from './log-line.ts';
import { completed } from './open-ended.ts';

/** More lines say nothing more about the end, and a dump of many threads has so many. */
const MAX_LINES = 1_000;
/** An entry that ended before these last lines does not explain the end of the program. */
const LAST_LINES = 50;
const MAX_MORE = 5;
/** Of `more`, so many lines may follow the chosen one. */
const MAX_AFTER = 2;
/** A program that went on for so many lines did not end by that error. */
const WENT_ON = 12;

/** Lines that wrappers and runtimes write after the cause; they only say that something ended. */
const WRAPPER = new RegExp(
  `^(?:${[
    'npm ERR!',
    'code E?[A-Z0-9_]{1,30}',
    'errno:? -?\\d{1,5},?',
    'signal \\w{1,12}',
    '(?:command|path) \\S.*',
    'syscall \\w+',
    'Exit status \\d+',
    'Lifecycle script .*',
    'A complete log of this run .*',
    'Failed at the .* script.*',
    'This is probably not a problem with npm.*',
    '/\\S+\\.log',
    '(?:error )?Command failed with (?:exit code|signal) .*',
    'info Visit https.*',
    'make(?:\\[\\d+\\])?: \\*\\*\\* .*',
    'Node\\.js v\\d.*',
    'note: run with .RUST_BACKTRACE.*',
    '(?:.{0,40} )?exited with (?:exit )?(?:code |status )?\\d{1,3}.*',
    '.{0,80}\\bAborted(?: +\\(core dumped\\).*)?',
    '.{0,60}did not exit normally.*',
    'abort(?:ing|ed)\\W*',
    'exit(?:ing|ed| status \\d{1,3})\\W*',
    'shutting down\\W*',
    '.{0,40}ELIFECYCLE.*',
    'Require stack:',
    'For more details run the same command .*',
    'Retrying in \\d{1,4} seconds?\\.',
    '\\[errors\\]: \\[',
    'Traceback \\(most recent call last\\):',
    'During handling of the above exception.*',
    'The above exception was the direct cause.*',
    '(?:--- )?End of inner exception stack trace ---',
    '[{}()[\\]^*#=_~.,;-]+',
  ].join('|')})$`,
  'i',
);
/** Of a JVM that does not take its options: it looks like an exception of its program. */
const NO_JVM =
  /^Error: (?:Could not create the Java Virtual Machine|A fatal exception has occurred\. Program will exit)\.$/;
/** Lines that single programs write after the cause, because of it: nginx, Apache, HAProxy, Gunicorn, Keycloak, MySQL, musl. */
const AFTERMATH = new RegExp(
  `^(?:${[
    'still could not bind\\(\\)',
    'no listening sockets available, shutting down',
    'AH00015: Unable to open logs',
    'config : (?:Error\\(s\\)|Fatal errors) found in configuration.*',
    "Can't connect to \\(.{1,80}\\)",
    '(?:ERROR: )?Failed to start server in .{1,40} mode',
    '(?:InnoDB: )?(?:Operating system error number \\d{1,4} in a file operation|Cannot open datafile .*|Could not open or create the system tablespace.*|Plugin initialization aborted .*)\\.?',
    "Plugin '\\w{1,40}' (?:init function returned error|registration as a STORAGE ENGINE failed)\\.",
    'Unknown/unsupported storage engine: \\w{1,40}',
    'Error relocating \\S{1,200}: \\S{1,300}: symbol not found',
  ].join('|')})$`,
);
/** A panic in words that end before the cause: Prometheus logs that right before it. */
const VAGUE_PANIC = /^panic: (?:unable to|cannot|can't|could not|failed to) [^:]{1,120}$/i;
/** That the program could not start, or that a step of a script failed, and not why. */
const CONSEQUENCE =
  /^(?:[\w .-]{0,40}\b)?(?:backup|build|command|deploy(?:ment)?|export|import|init|job|migrations?|operation|release|restore|script|step|sync|task|tests?|upgrade)(?: [\w.-]{1,30}){0,2} (?:failed|did not succeed)\W*$|^(?:[\w .-]{0,60}\b)?(?:(?:initiali[sz]ation|startup|start|boot|launch|setup) failed|failed to (?:start|initiali[sz]e|boot|launch)(?: [\w-]{1,40}){0,3})\W*$/i;
const FRAME =
  /^\s*(?:at \S|from \S+:\d|\.\.\. \d{1,5} (?:more|common)|goroutine \d|created by |\S+\.go:\d|\d{1,4}: (?:0x)?\w|\^+$|~+\^*)|^[\w./*]{1,120}\(.{0,200}\)$/;

/** Ruby ends its report with it: 30 KiB without a word. */
const MEMORY_MAP = /^[\da-f]{8,16}-[\da-f]{8,16} [r-][w-][x-][ps] /;

/** A frame is never why. One stands alone where the runtime mixed lines of standard output into a trace of standard error. */
const STRAY_FRAME = /^\s+(?:at \S|\d{1,4}: +0x[\da-f]{6,16} - )/;
const isStrayFrame = (line: string): boolean => STRAY_FRAME.test(line);

/**
 * The line that says why a program ended, from its last 50 lines or the stack trace that goes on into them (the newest 1,000
 * lines count), and at most five that help: those before it, and up to two behind it. Everything is clean, redacted as one text and at most 300 characters a line; time, level,
 * thread and logger in front are left out. No line: the program wrote nothing. Linear in the text; never throws.
 */
export const lastWordsOf = (...given: Parameters<typeof lastWordsSteps>): Omit<LastWords, 'containerName'> =>
  allAtOnce(lastWordsSteps(...given));

/** `lastWordsOf` in steps. */
export function* lastWordsSteps(
  lines: readonly string[],
  redact: readonly string[],
): Steps<Omit<LastWords, 'containerName'>> {
  const worded = hideSpanning(lines.filter((line) => !MEMORY_MAP.test(line)).map(cleanLine));
  const tail = yield* redactTailSteps(worded.slice(-MAX_LINES).join('\n'), redact);
  const shown = tail.split('\n').slice(-MAX_LINES);
  const from = shown.length - LAST_LINES - shown.filter(isStrayFrame).length;
  const entries = entriesIn(shown).filter(({ first, end }) => end >= from && !isStrayFrame(first));
  const chosen = chooseFrom(entries);
  if (chosen === undefined) return { more: [] };
  const words = wordsOf(chosen);
  const line = yield* quotableSteps(completed(words.cause ?? words.first, shown.slice(chosen.causeAt + 1)), redact);
  const more: string[] = [];
  for (const each of moreAround(shown, chosen)) more.push(yield* quotableSteps(wordsOf({ first: each }).first, redact));
  return { line, more: more.filter((each) => each !== '' && each !== line) };
}

function entriesIn(lines: readonly string[]): readonly LogEntry[] {
  const entries = new LogEntries();
  const ended = lines.flatMap((line) => entries.add(line) ?? []);
  const last = entries.finish();
  return last === undefined ? ended : [...ended, last];
}

function chooseFrom(entries: readonly LogEntry[]): LogEntry | undefined {
  let chosen: LogEntry | undefined;
  let best = 0;
  for (const [index, entry] of entries.entries()) {
    const strength = strengthOf(entry, entries.length - 1 - index);
    if (strength < best) continue;
    best = strength;
    chosen = entry;
  }
  return chosen;
}

/** Ranks an entry by how much it explains the end; among equals the last one counts. */
function strengthOf(entry: LogEntry, following: number): number {
  const { read, isCrash, cause } = entry;
  if (isCrash ? NO_JVM.test(read.text) : WRAPPER.test(read.text)) return 0;
  if (read.isAccess) return 1;
  const vague = cause === undefined ? strengthOfVague(entry) : undefined;
  if (vague !== undefined) return vague;
  const isLate = following <= WENT_ON;
  if (isLate && (isCrash || read.level === 'fatal')) return 6;
  if (isLate && cause !== undefined) return 5;
  return cause !== undefined ? 4 : strengthOfWords(entry);
}

/** Below every error, so that it counts only where it is all that there is. */
function strengthOfVague({ read: { text }, isCrash }: LogEntry): number | undefined {
  if (VAGUE_PANIC.test(text)) return 3.5;
  return !isCrash && (CONSEQUENCE.test(text) || AFTERMATH.test(text)) ? 2 : undefined;
}

function strengthOfWords(entry: LogEntry): number {
  const { level, text } = entry.read;
  const severity = severityOf(entry);
  // A weak word in the last lines is mostly the reason, unless the line itself calls it a warning.
  if (severity === 'warning') return level === undefined ? 4 : 3;
  if (severity !== undefined) return 4;
  return level !== undefined && troubleIn(text) !== undefined ? 2 : 1;
}

/** Lines that help, near the one that says why, in their order. */
function moreAround(lines: readonly string[], { causeAt }: LogEntry): readonly string[] {
  const helps = (line: string) => line.trim() !== '' && !FRAME.test(line) && !WRAPPER.test(readLogLine(line).text);
  const after = lines
    .slice(causeAt + 1)
    .filter(helps)
    .slice(0, MAX_AFTER);
  const before = lines
    .slice(0, causeAt)
    .filter(helps)
    .slice(after.length - MAX_MORE);
  return [...before, ...after];
}

const MAX_NEWEST = 5;

/**
 * Keeps the newest lines of a log, for a rule that lets people read them (`targetLog: tail`). Add all lines, in order: one of them may
 * begin a secret over many. Holds 50.
 */
export class LogTail {
  readonly #redact: readonly string[];
  readonly #spanning = new LineRedactor();
  readonly #held: string[] = [];

  /** `redact`: the policy's own patterns. */
  constructor(redact: readonly string[]) {
    this.#redact = redact;
  }

  add(line: string): void {
    const safe = this.#spanning.line(cleanLine(line));
    if (safe === undefined) return;
    this.#held.push(safe);
    if (this.#held.length > LAST_LINES) this.#held.shift();
  }

  /** At most five, in their order; redacted as one text, clean, each at most 300 characters. Without empty ones. */
  result(): readonly string[] {
    return allAtOnce(this.resultSteps());
  }

  *resultSteps(): Steps<readonly string[]> {
    const tail = yield* redactTailSteps(this.#held.join('\n'), this.#redact);
    const lines: string[] = [];
    for (const line of tail.split('\n')) lines.push(yield* quotableSteps(line, this.#redact));
    return lines.filter((line) => line !== '').slice(-MAX_NEWEST);
  }
}

/** For the thread: the newest lines of each log, where they may be shown. */
export const tailEvidence = (logs: readonly TargetLog[] = []): readonly Evidence[] =>
  logs.map(({ containerName, tail = [] }) => ({ title: `Newest lines of ${containerName}`, lines: tail }));
