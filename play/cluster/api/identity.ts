import type { IncomingMessage } from 'node:http';
import type { Authorizer } from './authorizer.ts';
import { ApiError, forbidden } from './status.ts';

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Who asked, and as whom. */
export interface Identity {
  readonly user: User;
  readonly impersonatedBy?: User;
}

const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'], extra: {} };

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

/** Applies the impersonation headers. @throws ApiError 403 when the user may not impersonate one of them. */
export function impersonate(request: IncomingMessage, user: User, authorizer: Authorizer): Identity {
  const name = request.headers['impersonate-user'];
  const groups = rawValues(request, 'impersonate-group');
  const extra = extras(request);
  if (typeof name !== 'string') {
    if (groups.length === 0 && Object.keys(extra).length === 0) return { user };
    throw new ApiError(500, '', `Internal Server Error: requested groups without impersonating a user`);
  }
  const wanted = [
    { resource: 'users', value: name },
    ...groups.map((value) => ({ resource: 'groups', value })),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => ({ resource: `userextras/${key}`, value })),
    ),
  ];
  for (const { resource, value } of wanted) {
    const [base = '', subresource = ''] = resource.split('/');
    const asked = { verb: 'impersonate', group: '', resource: base, subresource, namespace: '', name: value };
    if (!authorizer.allows(user, asked)) {
      throw forbidden(
        base,
        value,
        `User "${user.name}" cannot impersonate resource "${resource}" in API group "" at the cluster scope`,
      );
    }
  }
  return { user: { name, groups: [...groups, 'system:authenticated'], extra }, impersonatedBy: user };
}

function rawValues(request: IncomingMessage, header: string): string[] {
  // `headers` joins repeated lines with a comma; a group's name may hold one, so the raw lines are read.
  return request.rawHeaders.filter((_, at) => at % 2 === 1 && request.rawHeaders[at - 1]?.toLowerCase() === header);
}

function extras(request: IncomingMessage): Record<string, string[]> {
  const prefix = 'impersonate-extra-';
  const keys = Object.keys(request.headers).filter((header) => header.startsWith(prefix));
  return Object.fromEntries(keys.map((key) => [decodeURIComponent(key.slice(prefix.length)), rawValues(request, key)]));
}
