import { type LogLevel, levelOf } from './log-level.ts';
import { readStructured } from './structured-line.ts';

/** The parts of one line of an application's log, whatever its format. */
export interface LogLine {
  /** By the line's own convention; undefined: it has none. */
  readonly level?: LogLevel | undefined;
  /** The line begins with a time or a level, or is a record (JSON, logfmt): it continues no other line. */
  readonly isRecord: boolean;
  /** Without time, level, thread and logger in front. Of a record: its message and its error. */
  readonly text: string;
  /** A stack trace that a record carries, of several lines. */
  readonly trace?: string;
  /** A line of an access log: its level is `error` from status 500 on and else `info`, whatever the line itself says. */
  readonly isAccess?: boolean;
}

/** A prefix is never longer: what stands later is the message. */
const MAX_PREFIX = 300;
const MAX_PREFIX_PARTS = 16;

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const CLOCK = '\\d{1,2}:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?)?(?: ?[AP]M)?';
const ZONE = '(?: ?(?:Z|UTC|GMT|[+-]\\d\\d:?\\d\\d))?';
const TIMES = [
  `\\d{4}[-/.]\\d\\d[-/.]\\d\\d(?:[T ,:]{1,2}${CLOCK})?${ZONE}`,
  `(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?${MONTH} {1,2}\\d{1,2},?(?: \\d{4})? ${CLOCK}${ZONE}(?: \\d{4})?`,
  `\\d{1,2}[ /-]${MONTH}[ /-]\\d{4}[: ]${CLOCK}${ZONE}`,
  '\\d{1,2}:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?(?: ?[AP]M)?|[AP]M)(?=[\\s\\]])',
  '1\\d{9}(?:\\.\\d{1,9}|\\d{3})?(?=[\\s\\]])',
];
const TIME = new RegExp(`[[(]?(?:${TIMES.join('|')})(?:[\\])]|(?=: [A-Z]))?`, 'y');

interface LevelForm {
  /** A test of the beginning, which spares most lines the full match. */
  readonly start: RegExp;
  /** The first group that matched has the level's name. */
  readonly pattern: RegExp;
}

/** A level in capitals, in brackets, or in a form that only one library writes. */
const LEVELS: readonly LevelForm[] = [
  {
    start: /[A-Z]/,
    pattern:
      /(TRACE|DEBUG|INFO|INFORMATION|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|CRIT|ALERT|EMERG|FATAL(?! ERROR:)|DPANIC|PANIC|LOG|DETAIL|HINT|STATEMENT|FINE)(?:\/[\w-]{1,40}\]|(?=[\s:|,)\]]|$)[:|,)\]]{0,3})/y,
  },
  {
    start: /[[<(]/,
    pattern:
      /[[<(] ?(?:\w{1,30}:)?(trace|debug|info|information|notice|note|warn|warning|error|err|severe|critical|crit|alert|emerg|fatal|panic|inf|wrn|dbg|trc|ftl|[fewid]) ?[\])>]:?/iy,
  },
  {
    start: /[A-Z]/,
    pattern:
      /(ERR|WRN|INF|DBG|TRC|FTL)(?=[\s|\]])[|\]]?|(ERRO|WARN|INFO|DEBU|FATA|PANI|TRAC)\[\d{4}\]|([EWID])!(?=\s)/y,
  },
  { start: /[FEWID]/, pattern: /([FEWID]), \[[^\]]{1,60}\] {1,2}[A-Z]{4,7} -- (?:[\w:]{1,40})?: /y },
  { start: /[FEWI]/, pattern: /([FEWI])\d{4} \d\d:\d\d:\d\d\.\d{1,9} +\d+ [\w./-]{1,80}:\d+\] ?/y },
  { start: /n/, pattern: /npm (ERR|error)!?(?:\s+|$)/y },
  { start: /\d/, pattern: /(?:\d{1,7}:[MSCX] \d\d? \w{3} \d{4} [\d:.]{8,15} )([#*.-]) /y },
];
/** A `#` is any warning or error: its words decide. */
const REDIS: Readonly<Record<string, LogLevel>> = { '*': 'info', '-': 'info', '.': 'info' };
const TIME_START = /[\d[(A-Z]/;
/** At the very start, in small letters: it stays, since it reads as a part of the message. */
const WORD_FIRST =
  /^(?:(?:fatal|error|err|warning|warn|info|debug)(?=: )|(?:fail|crit|warn|info|dbug|trce)(?=: [\w.`]{1,120}\[\d+\]$))/i;

const SOURCE = '\\.(?:go|py|js|mjs|cjs|ts|java|kt|scala|rb|rs|cc?|cpp|cs|php|exs?|erl)';
/**
 * Text between time, level and message: threads, process ids, loggers, source files with their line. No host with a
 * port and no file that the message is about.
 */
const BESIDES = new RegExp(
  [
    '\\s+',
    '\\d{1,7}#\\d{1,7}:(?: \\*\\d+)?',
    '\\[(?![^\\]]{0,80}[\\w.-]:\\d{2,5}\\])[^[\\]]{0,80}\\](?=[\\s:[-])',
    `\\((?:[\\w-]{1,30}|[^()]{1,60}${SOURCE}:\\d+)\\)(?=\\s)`,
    '<\\d{1,9}(?:\\.\\d{1,9}\\.\\d{1,9})?>',
    '\\d{1,7}(?= +(?:---|\\[|[A-Z]{4,8}\\b))',
    'in [\\w.]{1,60}: ',
    `[\\w./$-]{1,80}${SOURCE}:\\d+[:\\]]?(?=\\s)`,
    '[A-Za-z_$][\\w$]{0,40}(?:\\.[\\w$[\\]/-]{1,60}){1,12}(?= {1,40}:(?: |$)| {1,3}- )',
    '[A-Za-z_]\\w{0,40}(?:::\\w{1,60}){1,9}(?::(?=\\s)|\\](?=\\s))',
    '[a-z_]\\w{0,40}\\](?=\\s)',
    '[\\w.-]{1,60}(?= - (?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\\b)',
    '(?<=(?:ERROR|CRITICAL|WARNING|INFO|DEBUG):)[\\w.]{1,60}:',
    '[\\w-]{1,30}@[\\w-]{1,30} (?=FATAL|ERROR|PANIC)',
    '[-–|:>,]{1,3}(?=\\s|$)',
  ].join('|'),
  'y',
);
/** In front of a level without a time. */
const PROGRAM = /nginx: (?=\[)/y;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

interface Part {
  readonly length: number;
  readonly level?: LogLevel | undefined;
}

function levelAt(text: string, at: number): Part | undefined {
  const first = text[at] ?? '';
  for (const { start, pattern } of LEVELS) {
    const match = start.test(first) ? matchAt(pattern, text, at) : null;
    const name = match?.slice(1).find((group) => group !== undefined);
    if (match !== null && name !== undefined) return { length: match[0].length, level: REDIS[name] ?? levelOf(name) };
  }
  return undefined;
}

interface Prefix {
  readonly end: number;
  readonly level: LogLevel | undefined;
  readonly isRecord: boolean;
}

/** `<PRIORITY>`, and in RFC 5424 the version, time, host, program, process, message id and data behind it. */
const SYSLOG = /^<(\d{1,3})>(?:1 (?:\S{1,255} ){5}(?:-|\[[^\]]{0,300}\]) ?)?(?=\S)/;
const SYSLOG_LEVELS: readonly LogLevel[] = ['fatal', 'error', 'error', 'error', 'warning'];

/** Reads time, level, thread and logger from the start of a line, in whatever order they stand. */
function prefixOf(line: string): Prefix {
  const head = line.slice(0, MAX_PREFIX);
  const syslog = head.startsWith('<') ? SYSLOG.exec(head) : null;
  let level = syslog === null ? undefined : (SYSLOG_LEVELS[Number(syslog[1]) % 8] ?? 'info');
  let isRecord = syslog !== null;
  let at = syslog?.[0].length ?? 0;
  for (let parts = 0; parts < MAX_PREFIX_PARTS && at < head.length; parts++) {
    const part = partAt(head, at, { isRecord, hasLevel: level !== undefined });
    if (part === undefined) break;
    level ??= part.level;
    isRecord ||= part.isRecord;
    at += part.length;
  }
  return { end: at, level, isRecord };
}

interface Known {
  readonly isRecord: boolean;
  readonly hasLevel: boolean;
}

function partAt(head: string, at: number, { isRecord, hasLevel }: Known): (Part & { isRecord: boolean }) | undefined {
  const level = hasLevel ? undefined : levelAt(head, at);
  if (level !== undefined) return { ...level, isRecord: true };
  const time = TIME_START.test(head[at] ?? '') ? matchAt(TIME, head, at) : null;
  if (time !== null) return { length: time[0].length, isRecord: true };
  // Without a time or a level, what looks like a thread or a logger may be the message itself.
  const besides = isRecord ? matchAt(BESIDES, head, at) : matchAt(PROGRAM, head, at);
  return besides === null || besides[0] === '' ? undefined : { length: besides[0].length, isRecord };
}

/** Message and error of klog's structured lines. */
const KLOG = /^"((?:[^"\\]|\\.)*)"(?: .*?)? err="((?:[^"\\]|\\.)*)"/;

/**
 * Reads a clean line: JSON, logfmt, access logs, klog, and the conventions of nginx, Apache, Postgres, Redis, MySQL, and of the logging
 * libraries of Java, Python, Go, Node, Ruby, Rust and .NET. What it does not know stays as it is. Linear in the line.
 */
export function readLogLine(line: string): LogLine {
  const structured = readStructured(line);
  if (structured !== undefined) return { isRecord: true, ...structured };
  const { end, level, isRecord } = prefixOf(line);
  const rest = line.slice(end).trim();
  const inside = end > 0 ? readStructured(rest) : undefined;
  if (inside !== undefined) return { ...inside, isRecord: true, level: inside.level ?? level };
  const klog = end > 0 && rest.startsWith('"') ? KLOG.exec(rest) : null;
  if (klog !== null) return { isRecord: true, level, text: `${klog[1]}: ${klog[2]}`.replaceAll('\\"', '"') };
  const word = level === undefined ? WORD_FIRST.exec(rest)?.[0] : undefined;
  return {
    level: level ?? (word === undefined ? undefined : levelOf(word)),
    isRecord: isRecord || word !== undefined,
    text: rest === '' ? line.trim() : rest,
  };
}
