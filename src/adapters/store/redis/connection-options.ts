import { readFileSync } from 'node:fs';
import type { RedisOptions } from 'ioredis';
import { KdebugError } from '../../../core/errors.ts';
import { delayOf } from '../../../lib/backoff.ts';
import { defined } from '../../../lib/object.ts';

export interface RedisAddress {
  /** `redis://` or `rediss://` (TLS), with user, password, host, port and database; percent-encoded, as in any URL. */
  readonly url: string;
  /** A file with the CA certificates (PEM) for Redis; without it Node's own apply. */
  readonly caFile?: string;
}

/** After this much silence the connection counts as dead: it is cut, and what waits on it fails. */
const SILENCE_MS = 1_500;
const BACK_OFF = { firstMs: 100, maxMs: 550 };

/**
 * Guards against three defaults of the library: it would queue commands while disconnected, resend commands whose
 * answer was lost, and wait without limit on an open but silent connection. Reads only the URL's parts, so a query
 * string cannot switch any of this back on.
 * @throws KdebugError store_misconfigured
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
    // URLs put IPv6 addresses in brackets, sockets do not.
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
    ...defined({
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password) || undefined,
    }),
    db: Number(pathname.slice(1) || 0),
    ...defined({ tls: secure ? (caFile === undefined ? {} : { ca: certificates(caFile) }) : undefined }),
    connectionName: 'kdebug',
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // 0: losing the connection fails at once what waits on it.
    maxRetriesPerRequest: 0,
    connectTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    keepAlive: 10_000,
    retryStrategy: (times) => delayOf(BACK_OFF, times - 1, Math.random),
    // After a failover the old primary may still accept connections and refuse only writes: resolve the name again.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    // The ready check would send INFO first; a loading server refuses each command anyway.
    enableReadyCheck: false,
    // RESP 2: kdebug uses nothing of RESP 3, and some proxies do not know HELLO.
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

/** Redis refuses for now, or refuses this client: time, another node or an operator can change that. */
const REFUSALS = new Set(
  'BUSY CLUSTERDOWN LOADING MASTERDOWN MISCONF MOVED NOAUTH NOPERM NOREPLICAS OOM READONLY TRYAGAIN UNKILLABLE WRONGPASS'.split(
    ' ',
  ),
);

/** The error code of a Redis reply (its first word, by Redis' protocol); undefined when the error is not from Redis. */
export function replyCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && thrown.name === 'ReplyError' ? thrown.message.split(' ', 1)[0] : undefined;
}

/** The cause in a word: a code of Redis, the system (ECONNREFUSED) or TLS, or the error's name. Never an argument. */
export function causeOf(thrown: unknown): string {
  const code = replyCode(thrown);
  if (code !== undefined) return code;
  if (!(thrown instanceof Error)) return 'unknown';
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code;
  // The library's own timeout error has no code.
  return thrown.name === 'Error' ? 'no answer' : thrown.name;
}

/** A Redis reply as a KdebugError. It drops the library's error, which carries the command's arguments. */
export function refusalOf(code: string): KdebugError {
  if (REFUSALS.has(code)) return unreachable(`Redis answers ${code}`);
  // Somebody else has put a key of another type in the place of ours.
  if (code === 'WRONGTYPE') return new KdebugError('store_record_unreadable', { detail: 'a key of another type' });
  return new KdebugError('internal_error', { detail: `Redis answers ${code}` });
}

/** Reads a key; undefined if it has another type. @throws as `RedisConnection.call` */
export async function unlessOfAnotherType<Value>(read: Promise<Value>): Promise<Value | undefined> {
  return read.catch((thrown: unknown) => {
    if (thrown instanceof KdebugError && thrown.code === 'store_record_unreadable') return undefined;
    throw thrown;
  });
}

/** `maybeDone`: the command was sent without an answer, so Redis may have executed it. */
export const unreachable = (detail: string, maybeDone = false): KdebugError =>
  new KdebugError('store_unreachable', { detail, ...defined({ facts: maybeDone ? { maybeDone } : undefined }) });
