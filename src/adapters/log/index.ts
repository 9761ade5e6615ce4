import { type DestinationStream, pino } from 'pino';
import { KdebugError } from '../../core/errors.ts';
import type { Log } from '../../flow/ports/machine.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface LogOptions {
  readonly level: LogLevel;
  /** Values to remove everywhere: tokens and keys of the environment. Those under 8 characters are ignored. */
  readonly secrets?: readonly string[];
  /** Gets whole lines; the default is standard output. */
  readonly destination?: DestinationStream;
}

const SECRET_FIELDS = [
  'token',
  'botToken',
  'appToken',
  'signingSecret',
  'responseUrl',
  'response_url',
  'authorization',
  'password',
];
/** The top level and three levels below: deep enough for a run (`run.origin.responseUrl`) and for a library's error. */
const SECRET_PATHS = ['', '*.', '*.*.', '*.*.*.'].flatMap((prefix) => SECRET_FIELDS.map((field) => prefix + field));

/** Slack's tokens (`xoxb-…`, `xapp-…`) and response addresses inside any text. */
const SECRET_SHAPES = /\b(?:xox[a-z]|xapp)-[\w.-]+|\bhttps:\/\/hooks\.slack\.com\/[^\s"\\]+/g;
const CENSOR = '[redacted]';

/** An error as a record: code and facts of a KdebugError, name and stack of any other, then the causes. */
function toRecord(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = error instanceof KdebugError ? { code: error.code, detail: error.detail, facts: error.facts } : {};
  const cause = error.cause === undefined ? {} : { cause: toRecord(error.cause) };
  return { name: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}

function withoutSecrets(secrets: readonly string[]): (line: string) => string {
  const values = secrets
    .filter((secret) => secret.length >= 8)
    // The line is JSON, so it contains secrets with JSON escapes.
    .map((secret) => JSON.stringify(secret).slice(1, -1));
  return (line) => values.reduce((text, value) => text.replaceAll(value, CENSOR), line).replace(SECRET_SHAPES, CENSOR);
}

/**
 * Writes one JSON record a line to standard output: `level` (a word), `time` (RFC 3339, UTC), `message`, then the
 * fields. An Error belongs in the field `error`. Removes secrets by field name, value and shape. Writes are
 * synchronous, so an exit loses no record. A bad field never throws into the caller.
 */
export function createLog(options: LogOptions): Log {
  const logger = pino(
    {
      level: options.level,
      base: null,
      messageKey: 'message',
      errorKey: 'error',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: toRecord },
      redact: { paths: SECRET_PATHS, censor: CENSOR },
      hooks: { streamWrite: withoutSecrets(options.secrets ?? []) },
    },
    options.destination ?? pino.destination({ dest: 1, sync: true }),
  );
  return {
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
  };
}
