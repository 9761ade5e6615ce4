import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import { KdebugError } from '../../../core/errors.ts';
import type { ActingAs } from '../../../flow/ports/cluster.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import { CredentialSource, type Credentials, type KubeconfigSource } from './credentials.ts';

export type HeaderLines = Record<string, string | string[]>;

const PRINTABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Refuses users and groups that start with `system:`, as RBAC does too: a mistake in a policy's template must never act
 * as the cluster itself.
 * @throws KdebugError identity_reserved
 */
export function checkIdentity(user: string, groups: readonly string[]): void {
  for (const name of [user, ...groups]) {
    if (!PRINTABLE.test(name) || name.toLowerCase().startsWith('system:')) {
      throw new KdebugError('identity_reserved', { detail: JSON.stringify(name.slice(0, 80)) });
    }
  }
}

/**
 * The impersonation headers of a request (Kubernetes "User impersonation"): one user, one line per group, and the Slack
 * user as an extra for the audit log.
 * @throws KdebugError identity_reserved
 */
export function identityHeaders(actingAs: ActingAs | undefined): HeaderLines {
  if (!actingAs) return {};
  checkIdentity(actingAs.user, actingAs.groups);
  if (!PRINTABLE.test(actingAs.slackUser)) throw new KdebugError('identity_reserved', { detail: 'Slack user' });
  return {
    'Impersonate-User': actingAs.user,
    ...defined({ 'Impersonate-Group': actingAs.groups.length > 0 ? [...actingAs.groups] : undefined }),
    'Impersonate-Extra-slack-user': actingAs.slackUser,
  };
}

/** Short calls share these connections; further calls wait their turn. */
const CALL_CONNECTIONS = 16;
/** Watches and log readers hold one connection each. Their own pool keeps them from starving a launch. */
const STREAM_CONNECTIONS = 2_048;
const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 60_000;

export interface Route {
  readonly origin: string;
  /** The path of the kubeconfig's server address, without a trailing slash. */
  readonly basePath: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly calls: Dispatcher;
  readonly streams: Dispatcher;
}

interface Pools {
  /** The same object skips the comparison by key. */
  credentials: Credentials;
  readonly key: string;
  readonly calls: Dispatcher;
  readonly streams: Dispatcher;
}

/** The connections to one cluster: pooled, long-lived, replaced when the certificates behind them change. */
export class Connection {
  readonly #credentials: CredentialSource;
  #pools: Pools | undefined;
  #closed = false;

  /** @throws KdebugError cluster_config_invalid */
  constructor(source: KubeconfigSource, clock: Clock) {
    this.#credentials = new CredentialSource(source, clock);
  }

  /** @throws KdebugError cluster_config_invalid, cluster_unauthenticated */
  async route(): Promise<Route & { renew(): Promise<Route> }> {
    const reading = this.#credentials.read();
    const route = this.#routeOf(await reading);
    return { ...route, renew: async () => this.#routeOf(await this.#credentials.renew(reading)) };
  }

  /** Ends all running requests. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    const pools = this.#pools;
    this.#pools = undefined;
    await Promise.all([pools?.calls.destroy(), pools?.streams.destroy()]);
  }

  #routeOf(credentials: Credentials): Route {
    if (this.#closed) throw new KdebugError('cluster_unreachable', { detail: 'closed' });
    const server = readServer(credentials.server);
    const { calls, streams } = this.#poolsFor(credentials);
    return {
      origin: server.origin,
      basePath: server.pathname.replace(/\/+$/, ''),
      headers: credentials.headers,
      calls,
      streams,
    };
  }

  #poolsFor(credentials: Credentials): Pools {
    if (this.#pools?.credentials === credentials) return this.#pools;
    const key = JSON.stringify([credentials.server, credentials.proxyUrl, credentials.tls]);
    if (this.#pools?.key === key) {
      this.#pools.credentials = credentials;
      return this.#pools;
    }
    // Running requests end on the old connections.
    void this.#pools?.calls.close();
    void this.#pools?.streams.close();
    this.#pools = {
      credentials,
      key,
      calls: pool(credentials, CALL_CONNECTIONS),
      streams: pool(credentials, STREAM_CONNECTIONS),
    };
    return this.#pools;
  }
}

function readServer(server: string): URL {
  if (!URL.canParse(server))
    throw new KdebugError('cluster_config_invalid', { detail: 'the server is not an address' });
  return new URL(server);
}

function pool(credentials: Credentials, connections: number): Dispatcher {
  const tls = { ...credentials.tls, timeout: CONNECT_TIMEOUT_MS, keepAlive: true };
  const options = { connections, pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, connect: tls };
  const { proxyUrl } = credentials;
  if (proxyUrl === undefined) return new Agent(options);
  if (!/^https?:/.test(proxyUrl)) {
    throw new KdebugError('cluster_config_invalid', { detail: 'only http and https proxies are supported' });
  }
  return new ProxyAgent({ ...options, uri: proxyUrl, requestTls: tls });
}
