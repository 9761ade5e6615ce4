/** What the API server says no with (meta/v1 Status). Answers are recognised by code, reason, causes and fields. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly (StatusCause | { readonly message: string })[];
  readonly retryAfterSeconds?: number;
}

export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** The Status object. An empty reason is left out, as the API server does for errors it cannot name. */
  toStatus(): object {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

/** An answer that is no Status at all, but text: the server's own filters speak so. */
export class PlainError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'PlainError';
    this.code = code;
  }
}

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message);

/** A kind or resource with its API group, as messages have it; the core group adds nothing. */
const qualified = (kind: string, group: string) => (group === '' ? kind : `${kind}.${group}`);

/** Go leaves empty fields out. */
const about = (name: string, group: string, kind: string) => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  ...(kind === '' ? {} : { kind }),
});

export const notFound = (kind: string, name: string, group = ''): ApiError =>
  new ApiError(404, 'NotFound', `${qualified(kind, group)} "${name}" not found`, about(name, group, kind));

/** The path leads nowhere: details are empty, unlike for an object that is missing. */
export const noSuchResource = (): ApiError =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (kind: string, name: string, group = ''): ApiError =>
  new ApiError(409, 'AlreadyExists', `${qualified(kind, group)} "${name}" already exists`, about(name, group, kind));

/** The write was for an older resourceVersion. */
export function conflict(kind: string, name: string, group = ''): ApiError {
  const what = `${qualified(kind, group)} "${name}"`;
  const told = `Operation cannot be fulfilled on ${what}: the object has been modified; please apply your changes to the latest version and try again`;
  return new ApiError(409, 'Conflict', told, about(name, group, kind));
}

export const expired = (message: string): ApiError => new ApiError(410, 'Expired', message);

export function forbidden(kind: string, name: string, why: string, group = ''): ApiError {
  const what = name === '' ? qualified(kind, group) : `${qualified(kind, group)} "${name}"`;
  return new ApiError(403, 'Forbidden', `${what} is forbidden: ${why}`, about(name, group, kind));
}

/** For a path that names no object. */
export const forbiddenPath = (why: string): ApiError => new ApiError(403, 'Forbidden', `forbidden: ${why}`, {});

export const cause = (reason: string, field: string, message: string): StatusCause => ({ reason, message, field });

/** A 422. One cause stands alone, several are in brackets (apimachinery `NewInvalid`). */
export function invalid(kind: string, name: string, causes: readonly StatusCause[], group = ''): ApiError {
  const told = causes.map((each) => `${each.field}: ${each.message}`);
  const list = told.length === 1 ? told[0] : `[${told.join(', ')}]`;
  const details = { ...about(name, group, kind), causes };
  return new ApiError(422, 'Invalid', `${qualified(kind, group)} "${name}" is invalid: ${list}`, details);
}
