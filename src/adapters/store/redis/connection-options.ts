import { readFileSync } from 'node:fs';
import type { RedisOptions } from 'ioredis';
import { KdebugError } from '../../../core/errors.ts';
import { delayOf } from '../../../lib/backoff.ts';

export interface RedisAddress {
  /** `redis://` or `rediss://` (TLS), with user, password, host, port and database; percent-encoded, as in any URL. */
  readonly url: string;
  /** A file with the certificates (PEM) that may have signed Redis' own; absent: those that Node trusts. */
  readonly caFile?: string;
}

/** No answer for so long, and the connection is taken for dead: it is cut, and what waits on it fails. */
const SILENCE_MS = 1_500;
const BACK_OFF = { firstMs: 80, maxMs: 550 };

/**
 * The library's options, each against a trap: it would queue commands while there is no connection, send commands again whose answer
 * was lost, and wait for ever on a connection that is open but silent. Nothing of the URL but its parts is taken, so that a query
 * string cannot switch any of this back on. @throws KdebugError store_misconfigured
 */
export function connectionOptions({ url, caFile }: RedisAddress): Omit<RedisOptions, 'replyMapping'> {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  const secure = protocol === 'rediss:';
  if (caFile !== undefined && !secure) {
    throw new KdebugError('store_misconfigured', {
      detail: 'REDIS_CA_FILE is set, but REDIS_URL does not start with rediss://',
    });
  }
  return {
    // In a URL, but not on a socket, IPv6 addresses stand in brackets.
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    db: Number(pathname.slice(1) || 0),
    ...(secure && { tls: caFile === undefined ? {} : { ca: certificates(caFile) } }),
    connectionName: 'kdebug',
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // 0: every loss of the connection fails what waits on it, at once.
    maxRetriesPerRequest: 0,
    connectTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    keepAlive: 10_000,
    retryStrategy: (times) => delayOf(BACK_OFF, times - 1, Math.random),
    // After a failover the old primary may still take connections, and only say so on a write: look the name up again.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    // INFO would need answering before anything else; a server that is loading says so to each command.
    enableReadyCheck: false,
    // RESP 2: nothing of RESP 3 is used, and some proxies do not know HELLO.
    protocol: 2,
    disableClientInfo: true,
  };
}

function certificates(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    throw new KdebugError('store_misconfigured', {
      detail: `REDIS_CA_FILE (${path}) cannot be read: ${causeOf(thrown)}`,
    });
  }
}

/** Redis says no for now, or to us: another time, another node or an operator can change it. */
const REFUSALS = new Set(
  'BUSY CLUSTERDOWN LOADING MASTERDOWN MISCONF MOVED NOAUTH NOPERM NOREPLICAS OOM READONLY TRYAGAIN UNKILLABLE WRONGPASS'.split(
    ' ',
  ),
);

/** The first word of an error that Redis answered with (its code, by Redis' protocol); undefined when it did not come from Redis. */
export function replyCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && thrown.name === 'ReplyError' ? thrown.message.split(' ', 1)[0] : undefined;
}

/** What went wrong in a word: Redis' code, the system's (ECONNREFUSED), TLS's, or the error's name. Never an argument of a command. */
export function causeOf(thrown: unknown): string {
  const code = replyCode(thrown);
  if (code !== undefined) return code;
  if (!(thrown instanceof Error)) return 'unknown';
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code;
  // The library's own, when nothing has come for so long: it has no code.
  return thrown.name === 'Error' ? 'no answer' : thrown.name;
}

/**
 * An answer of Redis as a KdebugError. The library's own error is not kept as the cause: it carries the command's arguments.
 */
export const refusalOf = (code: string): KdebugError =>
  REFUSALS.has(code)
    ? unreachable(`Redis answers ${code}`)
    : new KdebugError('internal_error', { detail: `Redis answers ${code}` });

/** `maybeDone`: something was sent, so it may have been carried out although no answer came. */
export const unreachable = (detail: string, maybeDone = false): KdebugError =>
  new KdebugError('store_unreachable', { detail, ...(maybeDone && { facts: { maybeDone } }) });
