import { type DestinationStream, pino } from 'pino';
import { KdebugError } from '../../core/errors.ts';
import type { Log } from '../../flow/ports/machine.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface LogOptions {
  readonly level: LogLevel;
  /** Values that must never appear, wherever they stand: tokens and keys of the environment. Shorter than 8 characters: ignored. */
  readonly secrets?: readonly string[];
  /** Takes whole lines; the default is standard output. */
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

/** Slack's tokens (`xoxb-…`, `xapp-…`) and response addresses, wherever text carries them along. */
const SECRET_SHAPES = /\b(?:xox[a-z]|xapp)-[\w.-]+|\bhttps:\/\/hooks\.slack\.com\/[^\s"\\]+/g;
const CENSOR = '[redacted]';

/** An error as a record: code and facts of ours, name and stack of everything else, the causes below. */
function toRecord(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = error instanceof KdebugError ? { code: error.code, detail: error.detail, facts: error.facts } : {};
  const cause = error.cause === undefined ? {} : { cause: toRecord(error.cause) };
  return { name: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}

function withoutSecrets(secrets: readonly string[]): (line: string) => string {
  const values = secrets
    .filter((secret) => secret.length >= 8)
    // The line is JSON: a secret stands in it as JSON writes it.
    .map((secret) => JSON.stringify(secret).slice(1, -1));
  return (line) => values.reduce((text, value) => text.replaceAll(value, CENSOR), line).replace(SECRET_SHAPES, CENSOR);
}

/**
 * One JSON record a line on standard output: `level` (a word), `time` (RFC 3339, UTC), `message`, then the fields.
 * An Error belongs in the field `error`. Secrets are removed by field name, by value and by shape.
 * Writes are synchronous: the last record before an exit is not lost. Never throws into the caller for a bad field.
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
