import { KdebugError } from '../../../core/errors.ts';

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
