/** What a request is about, as the API server's RequestInfo tells it. */
export interface Route {
  /** get, list, watch, create, patch, update, delete or deletecollection; for other paths the method in lower case. */
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  /** False for `/version`, discovery and other paths that name no object. */
  readonly isResource: boolean;
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Reads a path. Never throws: what is not a resource path comes back as one that names none. */
export function routeOf(method: string, url: URL): Route {
  const parts = url.pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decodeSafely);
  const core = parts[0] === 'api' && parts[1] === 'v1';
  const named = parts[0] === 'apis' && parts.length > 3;
  if (!(core && parts.length > 2) && !named) return nonResource(method, url.pathname);
  const rest = parts.slice(core ? 2 : 3);
  const namespaced = rest[0] === 'namespaces' && rest.length > 2;
  const [resource = '', name = '', subresource = ''] = namespaced ? rest.slice(2) : rest;
  // A namespace is in itself: a Role there may grant `get namespaces` (RequestInfo does it so).
  const namespace = rest[0] === 'namespaces' ? (rest[1] ?? '') : '';
  const verb = verbOf(method, name, url.searchParams);
  const group = core ? '' : (parts[1] ?? '');
  return { verb, group, resource, subresource, namespace, name, path: url.pathname, isResource: true };
}

function verbOf(method: string, name: string, query: URLSearchParams): string {
  const known = VERBS[method];
  if (known) return known === 'delete' && name === '' ? 'deletecollection' : known;
  const watch = query.get('watch');
  if (watch === 'true' || watch === '1') return 'watch';
  return name === '' ? 'list' : 'get';
}

/** What has to be allowed: a list or watch of one name by a field selector is about that name (RequestInfo). */
export function attributesOf(route: Route, query: URLSearchParams): Route {
  if (route.name !== '' || (route.verb !== 'list' && route.verb !== 'watch')) return route;
  const name = /(?:^|,)metadata\.name==?([^,=]+)(?:,|$)/.exec(query.get('fieldSelector') ?? '')?.[1];
  return name === undefined ? route : { ...route, name };
}

function nonResource(method: string, path: string): Route {
  const verb = method.toLowerCase();
  return { verb, group: '', resource: '', subresource: '', namespace: '', name: '', path, isResource: false };
}

function decodeSafely(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
