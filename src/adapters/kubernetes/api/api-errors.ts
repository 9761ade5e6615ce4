import { KdebugError, type ReasonCode } from '../../../core/errors.ts';
import { asObject, asObjects, asText, type JsonObject } from './json-fields.ts';

export interface ApiResponse {
  readonly status: number;
  readonly body: unknown;
  readonly bytes?: number;
  readonly retryAfterMs?: number;
}

/** The fields of a meta/v1 Status that affect a decision. */
export interface ApiStatus {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  /** The kind of the object concerned; empty when the API server has no such resource. */
  readonly kind: string;
  readonly causes: readonly { readonly reason: string; readonly field: string }[];
}

/** Reads a meta/v1 Status; anything else reads as an empty one with `code`. */
export function readStatus(code: number, body: unknown): ApiStatus {
  const status = asObject(body);
  const details = asObject(status.details);
  return {
    code,
    reason: asText(status.reason),
    message: asText(status.message).slice(0, 4_000),
    kind: asText(details.kind),
    causes: asObjects(details.causes).map((cause) => ({ reason: asText(cause.reason), field: asText(cause.field) })),
  };
}

const BUSY: ReadonlySet<number> = new Set([409, 429, 503, 504]);
const CODES: ReadonlyMap<number, ReasonCode> = new Map([
  [401, 'cluster_unauthenticated'],
  [403, 'cluster_forbidden'],
]);

/**
 * RBAC refuses because a role that a binding names is not there. A starting API server says so until it has read its
 * roles; it says the same for ever when somebody deleted the role, so whoever waits for it needs a limit.
 */
export const lacksRole = (message: string): boolean =>
  /\bRBAC: .*role\.rbac\.authorization\.k8s\.io ".*" not found/.test(message);

/**
 * Classifies every response that is not a success: by status and `Retry-After`, never by message.
 * 409, 429, 503 and 504: `cluster_busy` with the fact `retryAfterMs`; every other 5xx and any other status: `cluster_failed`.
 * `notFound` is the code of a 404. The one thing read from a message: `lacksRole` gives a 403 the fact `mayPass`.
 */
export function toClusterError(answer: ApiResponse, notFound: ReasonCode = 'cluster_failed'): KdebugError {
  const { message } = readStatus(answer.status, answer.body);
  const facts = { status: answer.status };
  if (BUSY.has(answer.status)) {
    return new KdebugError('cluster_busy', {
      detail: message,
      facts: { ...facts, retryAfterMs: answer.retryAfterMs ?? 1_000 },
    });
  }
  const code = answer.status === 404 ? notFound : (CODES.get(answer.status) ?? 'cluster_failed');
  const mayPass = code === 'cluster_forbidden' && lacksRole(message);
  return new KdebugError(code, { detail: message, facts: mayPass ? { ...facts, mayPass } : facts });
}

/**
 * The items of a list (meta/v1). A success that is none, like the page of a proxy or an empty object, says nothing: that an object is
 * missing can be concluded from a list alone. @throws KdebugError cluster_failed
 */
export function itemsOf(list: unknown): readonly JsonObject[] {
  const { items } = asObject(list);
  if (Array.isArray(items) || items === null) return asObjects(items);
  throw new KdebugError('cluster_failed', { detail: 'the answer is no list' });
}

/** A connection that failed: refused, reset, timed out, untrusted. The cause's message is for the log only. */
export function toUnreachable(cause: unknown): KdebugError {
  if (cause instanceof KdebugError) return cause;
  return new KdebugError('cluster_unreachable', { detail: errorCode(cause), cause });
}

/** `ECONNREFUSED`, `UND_ERR_HEADERS_TIMEOUT` …: a code, because messages may carry addresses. */
const errorCode = (cause: unknown): string => asText((cause as { code?: unknown } | null | undefined)?.code);
