import type { IncomingMessage } from 'node:http';
import type { Attributes, Authorizer } from './authorizer.ts';
import { ANONYMOUS, groupsOfServiceAccount, type Identity, serviceAccountOf, type User } from './identity.ts';
import { PlainError } from './status.ts';

interface Wish {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/**
 * Applies the `Impersonate-*` headers: each name, group, uid and extra value needs the verb `impersonate`, checked in
 * this order. @throws ApiError 403 for the first that is missing; 500 groups or extras without a user
 */
export function impersonate(request: IncomingMessage, user: User, authorizer: Authorizer): Identity {
  const wish: Wish = {
    name: String(request.headers['impersonate-user'] ?? ''),
    groups: rawValues(request, 'impersonate-group'),
    uid: String(request.headers['impersonate-uid'] ?? ''),
    extra: extras(request),
  };
  if (wish.name === '') {
    refuseOrphans(request, wish);
    return { user };
  }
  for (const asked of rightsFor(wish)) authorizer.check(user, asked);
  const uid = wish.uid === '' ? {} : { uid: wish.uid };
  return { user: { name: wish.name, groups: groupsOf(wish), ...uid, extra: wish.extra }, impersonatedBy: user };
}

const right = (resource: string, name: string, more: Partial<Attributes> = {}): Attributes => ({
  verb: 'impersonate',
  group: '',
  resource,
  subresource: '',
  namespace: '',
  name,
  path: '',
  isResource: true,
  ...more,
});

function rightsFor({ name, groups, uid, extra }: Wish): readonly Attributes[] {
  const account = serviceAccountOf(name);
  const group = 'authentication.k8s.io';
  return [
    account ? right('serviceaccounts', account.name, { namespace: account.namespace }) : right('users', name),
    ...groups.map((each) => right('groups', each)),
    ...Object.entries(extra).flatMap(([subresource, values]) =>
      values.map((value) => right('userextras', value, { group, subresource })),
    ),
    ...(uid === '' ? [] : [right('uids', uid, { group })]),
  ];
}

/** A service account keeps its own groups unless some are named; everybody is authenticated or says otherwise. */
function groupsOf({ name, groups }: Wish): readonly string[] {
  const account = serviceAccountOf(name);
  const own = account && groups.length === 0 ? groupsOfServiceAccount(account.namespace) : groups;
  const isKnown = own.includes('system:authenticated') || own.includes('system:unauthenticated');
  if (name === ANONYMOUS.name) return [...new Set([...own, ...ANONYMOUS.groups])];
  return isKnown ? own : [...own, 'system:authenticated'];
}

/** The real server prints its own structures here (Go's `%v` of an ObjectReference) as plain text. */
function refuseOrphans(request: IncomingMessage, { groups, extra, uid }: Wish): void {
  const orphans = [
    ...groups.map((group) => `{Group  ${group}    }`),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => `{UserExtra  ${value}  authentication.k8s.io/v1  ${key}}`),
    ),
    ...(uid === '' ? [] : [`{UID  ${uid}  authentication.k8s.io/v1  }`]),
  ];
  if (orphans.length === 0) return;
  const told = `requested [${orphans.join(' ')}] without impersonating a user`;
  throw new PlainError(500, `Internal Server Error: ${JSON.stringify(request.url ?? '')}: ${told}\n`);
}

function rawValues(request: IncomingMessage, header: string): string[] {
  // `headers` joins repeated lines with a comma; a group's name may hold one, so the raw lines are read.
  return request.rawHeaders.filter((_, at) => at % 2 === 1 && request.rawHeaders[at - 1]?.toLowerCase() === header);
}

function extras(request: IncomingMessage): Record<string, string[]> {
  const prefix = 'impersonate-extra-';
  const keys = Object.keys(request.headers).filter((header) => header.startsWith(prefix));
  return Object.fromEntries(keys.map((key) => [unescaped(key.slice(prefix.length)), rawValues(request, key)]));
}

/** A key that is not well escaped stands as it came. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
