import { hideSpanning } from '../../redact/line-redactor.ts';
import { type LogLevel, levelOf, troubleIn } from './log-level.ts';

/** The parts of a line of JSON, logfmt or an access log. */
export interface StructuredLine {
  readonly level?: LogLevel | undefined;
  /** Its message and its error. */
  readonly text: string;
  /** Of several lines: a stack trace that the record carries. */
  readonly trace?: string;
  readonly isAccess?: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const LEVEL_KEYS = [
  'level',
  'severity',
  'lvl',
  'levelname',
  'loglevel',
  'LogLevel',
  'Level',
  '@l',
  'L',
  's',
  'log.level',
  'status_level',
];
const MESSAGE_KEYS = [
  'msg',
  'message',
  'Message',
  '@m',
  '@mt',
  'M',
  'event',
  'short_message',
  'errmsg',
  'textPayload',
  'text',
  'log',
];
const ERROR_KEYS = [
  'error',
  'err',
  'Error',
  'exception',
  'Exception',
  '@x',
  'error.message',
  'error_message',
  'errorMessage',
  'cause',
  'reason',
];
const TRACE_KEYS = [
  'exc_info',
  'stack_trace',
  'stacktrace',
  'stackTrace',
  'error.stack_trace',
  'traceback',
  'exception',
  'stack',
  '@x',
  'S',
];
/** A record inside a record is read so deep. */
const MAX_DEPTH = 2;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function first(fields: Fields, keys: readonly string[]): unknown {
  const key = keys.find((each) => Object.hasOwn(fields, each) && fields[each] !== null && fields[each] !== '');
  return key === undefined ? undefined : fields[key];
}

/** The words of a field: text, number, or the message of an object. */
function wordsOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value) && depth < MAX_DEPTH) return wordsOf(value[0], depth + 1);
  if (!isFields(value) || depth >= MAX_DEPTH) return '';
  const message = wordsOf(first(value, [...MESSAGE_KEYS, ...ERROR_KEYS]), depth + 1);
  const name = value.type ?? value.name ?? value.class ?? value.kind ?? value.code;
  return typeof name === 'string' && message !== '' && !message.includes(name) ? `${name}: ${message}` : message;
}

const firstLine = (text: string): string => /^[^\n]*/.exec(text.trimStart())?.[0] ?? '';

const MAX_LINES = 200;
const IS_TRACE = /\n\s{0,8}at |\nCaused by: |Traceback \(most recent call last\)/;

/** Its first line; of a message without a stack trace also the last one that says that something is wrong. */
function wordsOfMessage(message: string): string {
  const [first = '', ...others] = hideSpanning(message.slice(0, 16_384).trim().split('\n', MAX_LINES));
  if (others.length === 0 || IS_TRACE.test(message)) return first.trim();
  return joined(first.trim(), others.findLast((line) => troubleIn(line) === 'strong')?.trim() ?? '');
}

/** `message: error`, or the one of them that holds the other. */
function joined(message: string, error: string): string {
  if (error === '' || message.includes(error)) return message;
  if (message === '' || error.includes(message)) return error;
  return `${message.replace(/[:.\s]{1,5}$/, '')}: ${error}`;
}

function levelIn(fields: Fields): LogLevel | undefined {
  const value = first(fields, LEVEL_KEYS) ?? (isFields(fields.log) ? fields.log.level : undefined);
  return typeof value === 'string' || typeof value === 'number' ? levelOf(String(value)) : undefined;
}

const TEXT_FIELD = /"([\w.@]{1,40})"\s{0,4}:\s{0,4}"((?:[^"\\]|\\.)*)"/g;
const unescaped = (value: string): string => value.replace(/\\n/g, '\n').replace(/\\(["\\/])/g, '$1');

/** Undefined: the line is no JSON object that says anything. */
function readJson(line: string): StructuredLine | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(line);
  } catch {
    // Cut, or a redacted number: its texts can still be read.
    fields = Object.fromEntries([...line.matchAll(TEXT_FIELD)].map(([, key, value]) => [key, unescaped(value ?? '')]));
  }
  if (!isFields(fields)) return undefined;
  const access = readRequest(fields);
  if (access !== undefined) return access;
  const whole = wordsOf(first(fields, MESSAGE_KEYS));
  const message = wordsOfMessage(whole);
  // MongoDB keeps what it says more in `attr`.
  const error = firstLine(
    wordsOf(first({ ...(isFields(fields.attr) ? fields.attr : undefined), ...fields }, ERROR_KEYS)),
  );
  const text = joined(message, error);
  if (text === '') return undefined;
  const traces = [
    first(fields, TRACE_KEYS),
    isFields(fields.err) ? fields.err.stack : undefined,
    IS_TRACE.test(whole) ? whole : undefined,
  ];
  const trace = traces.find((each) => typeof each === 'string' && each.includes('\n')) as string | undefined;
  return { level: levelIn(fields), text, ...(trace === undefined ? undefined : { trace }) };
}

/** A request with its status: kdebug reads the names that proxies and middlewares use. */
function readRequest(fields: Fields): StructuredLine | undefined {
  const nested = fields.httpRequest ?? fields.request ?? fields.req;
  const answer = fields.res ?? fields.response;
  const all: Fields = {
    ...(isFields(answer) ? answer : undefined),
    ...(isFields(nested) ? nested : undefined),
    ...fields,
  };
  const method = first(all, ['method', 'requestMethod', 'request_method', 'http_method', 'RequestMethod']);
  const path = first(all, [
    'path',
    'uri',
    'url',
    'requestUrl',
    'request_uri',
    'request_path',
    'RequestPath',
    'http_path',
  ]);
  const status = Number(
    first(all, ['status', 'statusCode', 'status_code', 'StatusCode', 'DownstreamStatus', 'response_code']),
  );
  if (typeof method !== 'string' || typeof path !== 'string' || !(status >= 100 && status <= 599)) return undefined;
  return accessOf(method, path, status);
}

/** Of a path without its query: queries hold names and tokens. */
const accessOf = (method: string, path: string, status: number): StructuredLine => ({
  level: status >= 500 ? 'error' : 'info',
  text: `${method} ${path.replace(/[?#].*$/s, '')} → ${status}`,
  isAccess: true,
});

const METHOD = 'GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT';
const HAS_METHOD = new RegExp(METHOD);
/** The common and combined log format, and what frameworks print: `GET /path 503 12ms`, `"GET /path HTTP/1.1" 503`. */
const ACCESS = new RegExp(
  `(?:^|[\\s"'|\\]])(${METHOD})[\\s"|]{1,9}([/*][^\\s"]{0,2048})(?: HTTP/\\d(?:\\.\\d)?)?"?(?:[\\s|,:=>→-]|status|code|returned|with){1,9}"?([1-5]\\d\\d)(?=[\\s",;|)]|$)`,
);
/** gin: `| 503 | 12ms | 10.0.0.1 | GET "/path"`. */
const STATUS_FIRST = new RegExp(
  `\\|\\s{0,3}([1-5]\\d\\d)\\s{0,3}\\|[^"]{1,120}(${METHOD})\\s{1,9}"(/[^"\\s]{0,2048})"`,
);

function readAccess(line: string): StructuredLine | undefined {
  if (!HAS_METHOD.test(line)) return undefined;
  const method = ACCESS.exec(line);
  if (method !== null) return accessOf(method[1] ?? '', method[2] ?? '', Number(method[3]));
  const status = line.includes('|') ? STATUS_FIRST.exec(line) : null;
  return status === null ? undefined : accessOf(status[2] ?? '', status[3] ?? '', Number(status[1]));
}

/** A word with its value: `level=error`, `msg="could not connect"`. */
const PAIR = /([A-Za-z_@][\w.@-]{0,40})=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))(?:\s+|$)/y;
const IS_LOGFMT = /(?:^|\s)(?:level|lvl|severity)=/;

/** Undefined: the line is no logfmt. It begins with a pair, as far as it goes; anything else may stand behind. */
function readLogfmt(line: string): StructuredLine | undefined {
  if (!line.includes('=') || !IS_LOGFMT.test(line)) return undefined;
  const fields: Record<string, string> = {};
  let at = 0;
  for (PAIR.lastIndex = 0; at < line.length; at = PAIR.lastIndex) {
    const pair = PAIR.exec(line);
    if (pair === null) break;
    fields[pair[1] ?? ''] ??= pair[2]?.replace(/\\(["\\])/g, '$1') ?? pair[3] ?? '';
  }
  const text = joined(wordsOf(first(fields, MESSAGE_KEYS)), wordsOf(first(fields, ERROR_KEYS)));
  return text === '' ? undefined : (readRequest(fields) ?? { level: levelIn(fields), text });
}

/** Undefined: the line is plain text. */
export function readStructured(line: string): StructuredLine | undefined {
  const start = line.trimStart();
  return (start.startsWith('{') ? readJson(start) : readLogfmt(start)) ?? readAccess(line);
}
