import type { IncomingMessage } from 'node:http';
import { ApiError } from './status.ts';

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  /** Said by an impersonation; tokens have none. */
  readonly uid?: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Who asked, and as whom. */
export interface Identity {
  readonly user: User;
  readonly impersonatedBy?: User;
}

export const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'], extra: {} };

const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** The user name of a service account, and back. */
export const userOfServiceAccount = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`;

export function serviceAccountOf(user: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, name] = ACCOUNT.exec(user) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

export const groupsOfServiceAccount = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];

/** Bearer tokens and whom they belong to; a test may add, replace or revoke them at any time. */
export class Tokens {
  readonly #users = new Map<string, User>();

  set(token: string, name: string, groups: readonly string[] = []): void {
    this.#users.set(token, { name, groups: [...groups, 'system:authenticated'], extra: {} });
  }

  revoke(token: string): void {
    this.#users.delete(token);
  }

  /** @throws ApiError 401 for a token that is not known. No token at all is the anonymous user. */
  identify(request: IncomingMessage): User {
    const header = request.headers.authorization;
    if (header === undefined) return ANONYMOUS;
    const user = this.#users.get(header.replace(/^Bearer\s+/i, ''));
    if (!user) throw new ApiError(401, 'Unauthorized', 'Unauthorized');
    return user;
  }
}
