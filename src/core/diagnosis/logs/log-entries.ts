import type { Steps } from '../../../lib/turns.ts';
import { foreignLine } from '../../redact/clean-text.ts';
import { hideSpanning } from '../../redact/line-redactor.ts';
import { redactSteps } from '../../redact/redact-text.ts';
import { isOfClients, type LogLevel, troubleIn } from './log-level.ts';
import { type LogLine, readLogLine } from './log-line.ts';

/** One thing that a log says: a line, and the stack trace that belongs to it. */
export interface LogEntry {
  /** The first line: as it is, and read. */
  readonly first: string;
  readonly read: LogLine;
  /** The line of the trace that says why, as it is. */
  cause?: string;
  /** An uncaught error: the program very likely ended here. */
  readonly isCrash: boolean;
  /** Of the first line. */
  readonly atMs: number;
  /** Numbers, from 0, of the first line, of the line that says why, and of the last line of the entry. */
  readonly at: number;
  causeAt: number;
  end: number;
}

/** By the line's own convention, else by its words; a weak word counts as a warning. Undefined: nothing is wrong. */
export function severityOf({
  read,
  isCrash,
  cause = '',
}: Pick<LogEntry, 'read' | 'isCrash' | 'cause'>): LogLevel | undefined {
  if (isOfClients(read.text) || isOfClients(cause)) return undefined;
  if (read.level !== undefined) return read.level === 'info' ? undefined : read.level;
  const trouble = isCrash ? 'strong' : troubleIn(read.text);
  return trouble === undefined ? undefined : trouble === 'strong' ? 'error' : 'warning';
}

/** `java.net.ConnectException: Connection refused`, `TypeError: x`, `Error [ERR_X]: x`, `SystemExit: 1`. */
const EXCEPTION =
  /^(?:Uncaught )?(?:[\w$]{1,80}\.){0,12}(?:[A-Z][\w$]{0,80})?(?:Error|Exception|Throwable|SystemExit|KeyboardInterrupt|ExceptionGroup)(?: ?\[[\w.]{1,60}\]| \(\w{1,40}\))?(?::|$)/;
/** Classes of any name: only below an error. */
const QUALIFIED = /^(?:[a-z_$][\w$]{0,60}\.){1,12}[A-Z][\w$]{0,80}(?:: |$)/;

/** Below an error of Java, indented: the error that it is about. */
const INDENTED_CAUSE = /^(?:[a-z_$][\w$]{0,60}\.){1,12}[A-Z][\w$]{0,80}(?:Error|Exception): ./;
/** PostgreSQL says what is wrong, and on the next line what exactly. */
const DETAIL = /^(?:.{0,80}\s)?DETAIL: {1,2}(.+)$/;

type Mode = 'python' | 'trace' | 'code' | 'next-line' | 'spring' | 'spring-next' | 'report';
/** Crashes by their first words, and how their lines go on. */
const CRASHES: readonly (readonly [pattern: RegExp, mode: Mode])[] = [
  [/^(?:\+ )?(?:Exception Group )?Traceback \(most recent call last\):/, 'python'],
  [/^(?:panic: |fatal error: |goroutine \d{1,9} \[|unexpected fault address |SIGSEGV: )/, 'trace'],
  // The whole line of Go's runtime about a signal: programs log “SIGTERM: shutting down” themselves.
  [
    /^SIG(?:ABRT: abort|BUS: bus error|FPE: floating-point exception|ILL: illegal instruction|QUIT: quit|SYS: bad system call|TRAP: trace trap)$/,
    'trace',
  ],
  [/^thread '[^']{0,80}' (?:\(\d{1,9}\) )?panicked at '/, 'trace'],
  [/^thread '[^']{0,80}' (?:\(\d{1,9}\) )?panicked at /, 'next-line'],
  [/^(?:Exception in thread |Unhandled [Ee]xception[.:] |FATAL ERROR: |Terminating due to java\.lang\.)/, 'trace'],
  [/^[^\s:]{1,200}:\d{1,7}:in [`'][^'`]{1,200}': ./, 'trace'],
  [/^terminate called after throwing an instance of /, 'next-line'],
  [/^(?:terminate called |libc\+\+abi: terminating )/, 'trace'],
  [/^APPLICATION FAILED TO START$/, 'spring'],
  // Redis and Valkey, then Ruby itself: hundreds of lines, of which one says why.
  [/^=== [A-Z]{1,20} BUG REPORT START\b/, 'report'],
  [/^[^\s:]{1,200}:\d{1,7}: \[BUG\] /, 'report'],
  // Elasticsearch and OpenSearch say how many, and then what.
  [/^(?:\[\d{1,2}\] )?bootstrap checks failed/, 'next-line'],
  // Node shows the line of code before it says what is wrong.
  [/^(?:node:|file:\/\/|\/)[^\s:]{1,200}:\d{1,7}$/, 'code'],
  [
    /^(?:Error occurred during initialization of (?:VM|boot layer)|# A fatal error has been detected by the Java Runtime)/,
    'next-line',
  ],
];
const REPORT_CAUSE = / (?:crashed by signal: \d|Guru Meditation: |==> \S{1,200}:\d)/;
const REPORT_END = /^=== [A-Z]{1,20} BUG REPORT END\b/;
const modeOf = (text: string): Mode | undefined => CRASHES.find(([pattern]) => pattern.test(text))?.[1];

const BARE_SOCKET =
  /^Caused by: java\.net\.\w{1,40}: (?:Connection refused|Connect timed out|No route to host)\b[^:]{0,40}$/i;
const HOST = /[\w.-]:\d{2,5}\b/;
const CAUSED_BY = /^(?:Caused by|\[cause\]|Wrapped by): /;
/** .NET and Node wrap what matters in one of these. */
const GENERIC = /One or more errors occurred|likely due to a transient failure|type initializer for/;
const INNER = /^---> /;
const AGGREGATE = /^AggregateError/;
const NODE_ERROR = /^\w{0,40}Error: /;
/** Not indented, and yet a part of the trace above. */
const TRACE_LINE =
  /^(?:at |\.\.\. \d|Suppressed: |During handling of the above|The above exception was|created by |goroutine \d|\[signal |exit status \d|[\w./*%~{}()[\]·-]{1,200}\([^()]{0,200}\)$|PC=0x|(?:r\w{1,5}|[cfg]s|lr|sp|pc|fault) {1,6}0x|Node\.js v\d|note: |stack backtrace:|Require stack:|- \/|[}\])]|\^|--- End of|\d{1,4}: 0x|#|\*{10,}$|\| |\+-)/;
const CHAINED = /^(?:During handling of the above|The above exception was)/;
/** An exit by itself says nothing: what led to it does. */
const EMPTY_EXIT = /^(?:SystemExit|KeyboardInterrupt)(?:: -?\d{0,3})?$/;
/** `fail: Category[0]`: the message follows, indented. */
const CATEGORY_ONLY = /^(?:fail|crit|warn): [\w.`]{1,120}\[\d{1,9}\]$/;

/**
 * Puts the lines of one log together: a stack trace belongs to its first line. Call `add` with each clean line in order. Holds
 * one entry. Knows the traces of Python, Java, Go, Node, Ruby, Rust and .NET, the reports of Redis and of Ruby itself, and
 * what Spring Boot says of a failed start.
 */
export class LogEntries {
  #open: LogEntry | undefined;
  #mode: Mode | undefined;
  /** The line before said that another traceback follows. */
  #isChained = false;
  #isAggregate = false;
  #isWrong = false;
  #line = -1;

  /** The entry that ended before this line, if one did. */
  add(line: string, atMs = 0): LogEntry | undefined {
    this.#line++;
    const text = line.trim();
    if (text === '') return undefined;
    const open = this.#open;
    if (open !== undefined && this.#continues(open, line, text)) {
      open.end = this.#line;
      return undefined;
    }
    this.#begin(line, text, atMs);
    return open;
  }

  /** The last entry; a line that comes later begins another one. */
  finish(): LogEntry | undefined {
    const last = this.#open;
    this.#open = undefined;
    this.#mode = undefined;
    return last;
  }

  #begin(line: string, text: string, atMs: number): void {
    const read = readLogLine(line);
    const mode = read.level === 'info' ? undefined : modeOf(read.text);
    const isCrash =
      (mode !== undefined && mode !== 'code') || (read.text === text && read.level !== 'info' && EXCEPTION.test(text));
    this.#mode = mode ?? (isCrash ? 'trace' : undefined);
    this.#isChained = false;
    this.#isAggregate = false;
    this.#open = { first: line, read, isCrash, atMs, at: this.#line, causeAt: this.#line, end: this.#line };
    const severity = read.isAccess ? undefined : severityOf(this.#open);
    // A word alone that may be harmless opens no trace; a level does.
    this.#isWrong = severity !== undefined && (severity !== 'warning' || read.level !== undefined);
  }

  #continues(open: LogEntry, line: string, text: string): boolean {
    if (this.#mode === 'spring' || this.#mode === 'spring-next') return this.#continuesSpring(open, line, text);
    if (this.#mode === 'report') return this.#continuesReport(open, line, text);
    if (this.#mode === 'next-line') return text === '#' || this.#because(open, line);
    if (/^\s/.test(line)) return this.#continuesIndented(open, line, text);
    if (open.read.level === 'fatal' && open.cause === undefined && DETAIL.test(text)) return this.#details(open, text);
    if (this.#mode === 'python') return this.#continuesPython(open, line, text);
    return this.#isWrong && this.#continuesTrace(open, line, text);
  }

  #continuesTrace(open: LogEntry, line: string, text: string): boolean {
    if (CAUSED_BY.test(text)) return isBareSocket(open.cause, text) || this.#because(open, line);
    if (modeOf(text) === 'python') return this.#continuesPython(open, line, text);
    this.#isChained ||= CHAINED.test(text);
    if (TRACE_LINE.test(text)) return true;
    const isHead = open.cause === undefined && !open.isCrash && (EXCEPTION.test(text) || QUALIFIED.test(text));
    return isHead && this.#because(open, line);
  }

  #continuesIndented(open: LogEntry, line: string, text: string): boolean {
    if (CAUSED_BY.test(text)) return this.#because(open, line);
    if (CATEGORY_ONLY.test(open.read.text) && isOpen(open, text)) return this.#because(open, line);
    if (this.#mode !== undefined || this.#isWrong) {
      const isCause = open.cause === undefined && INDENTED_CAUSE.test(text);
      if (isCause || this.#isInner(open.cause ?? open.first, text)) this.#because(open, line);
      return true;
    }
    // Some programs indent all that they write.
    return open.read.level !== undefined || troubleIn(text) !== 'strong';
  }

  /** The line completes what the words so far leave open. */
  #isInner(why: string, text: string): boolean {
    this.#isAggregate ||= AGGREGATE.test(why);
    // Of several addresses the last one is mostly the readable one.
    return this.#isAggregate ? NODE_ERROR.test(text) : INNER.test(text) && GENERIC.test(why);
  }

  /** The first line after the frames that is not indented is the exception. */
  #continuesPython(open: LogEntry, line: string, text: string): boolean {
    if (modeOf(text) === 'python') {
      const isSame = this.#mode === 'python' || this.#isChained || (open.cause === undefined && !open.isCrash);
      if (isSame) this.#mode = 'python';
      this.#isChained = false;
      return isSame;
    }
    this.#mode = 'trace';
    return (EMPTY_EXIT.test(text) && open.cause !== undefined) || this.#because(open, line);
  }

  #continuesSpring(open: LogEntry, line: string, text: string): boolean {
    if (this.#mode === 'spring-next') this.#because(open, line);
    this.#mode = text === 'Description:' ? 'spring-next' : 'spring';
    return !readLogLine(line).isRecord;
  }

  #continuesReport(open: LogEntry, line: string, text: string): true {
    // The lines after its end are advice, and indented.
    if (REPORT_END.test(text)) this.#mode = 'trace';
    return open.cause !== undefined || !REPORT_CAUSE.test(line) || this.#because(open, line);
  }

  #details(open: LogEntry, text: string): true {
    open.cause = `${open.read.text.replace(/\.$/, '')}: ${DETAIL.exec(text)?.[1] ?? ''}`;
    return true;
  }

  #because(open: LogEntry, line: string): true {
    if (this.#mode === 'next-line') this.#mode = 'trace';
    open.cause = line;
    open.causeAt = this.#line;
    this.#isWrong = true;
    return true;
  }
}

/** Below its message, .NET writes the exception that the message is about. */
const isOpen = ({ cause, causeAt, end }: LogEntry, text: string): boolean =>
  cause === undefined || (causeAt === end && !EXCEPTION.test(cause.trim()) && EXCEPTION.test(text));

/** A socket's own words name no host: the exception above does. */
const isBareSocket = (cause: string | undefined, text: string): boolean =>
  cause !== undefined && BARE_SOCKET.test(text) && HOST.test(cause);

/** Text before the words that matter, in the first line of a trace or in a cause. */
const LEADS: readonly RegExp[] = [
  /^(?:Caused by|\[cause\]|Wrapped by): /,
  /^---> /,
  /^# {1,3}/,
  /^(?:[|+-]+ )+/,
  /^Exception in thread "[^"]{0,120}" /,
  /^Unhandled [Ee]xception[.:] /,
  /^what\(\): {1,2}/,
  /^Uncaught (?:\(in promise\) )?/,
  /^[^\s:]{1,200}:\d{1,7}:in [`'][^'`]{1,200}': (?=.)/,
  /^thread '[^']{0,80}' (?:\(\d{1,9}\) )?panicked at (?=')/,
];
/** Rust before 1.73: the message, then its file. */
const OLD_PANIC = /^'(.+)', ([^\s']{1,200}:\d{1,7}:\d{1,7})$/;

function withoutLead(text: string): string {
  const bare = LEADS.reduce((rest, lead) => rest.replace(lead, ''), text);
  return bare.replace(OLD_PANIC, '$1 ($2)');
}

/** The words of an entry: of its first line, and of the line that says why; each without what stands before them. */
export function wordsOf({ first, cause }: Pick<LogEntry, 'first' | 'cause'>): { first: string; cause?: string } {
  const read = readLogLine(first);
  const why = cause ?? (read.trace === undefined ? undefined : causeIn(read.trace));
  const isEmpty = modeOf(read.text) === 'python' || CATEGORY_ONLY.test(read.text) || /^(?:panic: )?$/.test(read.text);
  const words = isEmpty && why !== undefined ? '' : withoutLead(read.text);
  return why === undefined ? { first: words } : { first: words, cause: withoutLead(readLogLine(why).text) };
}

const MAX_TRACE_LINES = 200;

function causeIn(trace: string): string | undefined {
  const entries = new LogEntries();
  for (const line of hideSpanning(trace.slice(0, 16_384).split('\n', MAX_TRACE_LINES))) entries.add(line);
  const last = entries.finish();
  // Some loggers of Go write frames alone.
  return last?.cause ?? (last && severityOf(last) !== undefined ? last.first : undefined);
}

const MAX_LENGTH = 300;

/**
 * Words of an application, clean, redacted, on one line of at most 300 characters, without the marks that kdebug quotes with: so a
 * foreign line cannot end its own quotation. Its line is redacted before it is read; its words are again, because a record spells
 * them with escapes (`pass\u0077ord`) and in several fields, whose names hide what they hold.
 */
export function* quotableSteps(text: string, redact: readonly string[]): Steps<string> {
  return foreignLine(yield* redactSteps(text.replace(/[“”„‟«»]/g, '"'), redact), MAX_LENGTH);
}
