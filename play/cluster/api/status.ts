/** What the API server says no with (meta/v1 Status). Answers are recognised by code, reason, causes and fields. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

interface StatusDetails {
  readonly name?: string;
  readonly kind?: string;
  readonly causes?: readonly StatusCause[];
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

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message);

export const notFound = (kind: string, name: string): ApiError =>
  new ApiError(404, 'NotFound', `${kind} "${name}" not found`, { name, kind });

/** The path leads nowhere: details are empty, unlike for an object that is missing. */
export const noSuchResource = (): ApiError =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});

export const expired = (message: string): ApiError => new ApiError(410, 'Expired', message);

export const forbidden = (kind: string, name: string, why: string): ApiError =>
  new ApiError(
    403,
    'Forbidden',
    name === '' ? `${kind} is forbidden: ${why}` : `${kind} "${name}" is forbidden: ${why}`,
    {
      ...(name === '' ? {} : { name }),
      kind,
    },
  );

export const cause = (reason: string, field: string, message: string): StatusCause => ({ reason, message, field });

/** A 422. One cause is told plainly, several in brackets (apimachinery `NewInvalid`). */
export function invalid(kind: string, name: string, causes: readonly StatusCause[]): ApiError {
  const told = causes.map((each) => `${each.field}: ${each.message}`);
  const list = told.length === 1 ? told[0] : `[${told.join(', ')}]`;
  const details = name === '' && kind === '' ? { causes } : { name, kind, causes };
  return new ApiError(422, 'Invalid', `${kind} "${name}" is invalid: ${list}`, details);
}
