import type { Env } from '../config/env.ts';
import { type ReasonCode, toKdebugError } from '../core/errors.ts';
import { DEFAULT_NAMES, withNames } from '../core/shown-names.ts';
import { shorten } from '../lib/text.ts';

/** An error for an operator: the cause in words, and what to do about it. Neither ever holds a secret. */
export interface Failure {
  readonly code: ReasonCode;
  readonly cause: string;
  readonly fix: string;
}

interface Why {
  readonly words: (host: string) => string;
  readonly fix: string;
}

const why = (words: Why['words'], fix: string): Why => ({ words, fix });

const CERTIFICATE =
  'a TLS-intercepting proxy, or a private CA: give its certificate in NODE_EXTRA_CA_CERTS for Slack, in REDIS_CA_FILE for Redis, in the kubeconfig for a cluster';
const FIREWALL = 'allow this connection in the firewall and in the NetworkPolicy for egress';
/** Only calls of Slack go through a proxy. */
const OR_PROXY = ', or set HTTPS_PROXY';
const untrusted = why(
  (host) => `the certificate of ${host} is not signed by a CA that this machine trusts`,
  CERTIFICATE,
);
const silent = why((host) => `${host} did not answer in time`, FIREWALL);
const closed = why((host) => `${host} closed the connection`, FIREWALL);

/** Codes of the system, TLS (Node, OpenSSL), undici and Redis. */
const WHY: Readonly<Record<string, Why>> = {
  ENOTFOUND: why(
    (host) => `DNS knows no host ${host.replace(/:\d+$/, '')}`,
    'check the name, and the DNS of this pod: its dnsPolicy, and a NetworkPolicy to port 53',
  ),
  EAI_AGAIN: why(
    (host) => `DNS did not answer for ${host}`,
    'check the DNS of this pod: its dnsPolicy, and a NetworkPolicy to port 53',
  ),
  ECONNREFUSED: why((host) => `nothing listens at ${host}`, 'check host and port, and that the server runs'),
  EHOSTUNREACH: why((host) => `there is no route to ${host}`, FIREWALL),
  ENETUNREACH: why((host) => `there is no route to ${host}`, FIREWALL),
  ETIMEDOUT: silent,
  UND_ERR_CONNECT_TIMEOUT: silent,
  UND_ERR_HEADERS_TIMEOUT: silent,
  UND_ERR_BODY_TIMEOUT: silent,
  TimeoutError: silent,
  AbortError: silent,
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  CERT_HAS_EXPIRED: why(
    (host) => `the certificate of ${host} has expired`,
    'renew it, or correct the clock of this machine',
  ),
  CERT_NOT_YET_VALID: why((host) => `the certificate of ${host} is not valid yet`, 'correct the clock of this machine'),
  ERR_TLS_CERT_ALTNAME_INVALID: why(
    (host) => `the certificate is for another host than ${host}`,
    'use the name that is in the certificate',
  ),
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  EPROTO: why(
    (host) => `${host} does not speak TLS there`,
    'check the port, and https:// or rediss:// against what the server speaks',
  ),
  ERR_SSL_WRONG_VERSION_NUMBER: why(
    (host) => `${host} does not speak TLS there`,
    'check the port, and https:// or rediss:// against what the server speaks',
  ),
  EADDRINUSE: why((host) => `another program uses ${host}`, 'end that program, or set PORT or OPS_PORT to a free port'),
  EACCES: why(() => 'this user may not do that', 'use a port above 1023, or a folder that the user 65532 may write to'),
  slack_webapi_rate_limited_error: why((host) => `${host} limits the rate of calls`, 'wait a minute, then try again'),
  WRONGPASS: why(
    (host) => `${host} refuses user or password`,
    'correct user and password in REDIS_URL, percent-encoded',
  ),
  NOAUTH: why((host) => `${host} asks for a password`, 'give user and password in REDIS_URL'),
  NOPERM: why((host) => `${host} does not give this user the rights`, 'give it the rights of docs/redis.md'),
};

/** The error, its causes and what Slack's client calls `original`, outermost first. */
function chainOf(thrown: unknown): readonly object[] {
  const chain: object[] = [];
  let next: unknown = thrown;
  while (typeof next === 'object' && next !== null && chain.length < 10) {
    chain.push(next);
    const { cause, original, errors } = next as { cause?: unknown; original?: unknown; errors?: unknown };
    next = cause ?? original ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return chain;
}

const textOf = (error: object, field: string): string => {
  const value = (error as Readonly<Record<string, unknown>>)[field];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

/** The host that an error names: of a DNS question, or the address and port of a connection. */
function hostIn(errors: readonly object[]): string | undefined {
  for (const error of errors) {
    const [hostname, address, port] = ['hostname', 'address', 'port'].map((field) => textOf(error, field));
    if (hostname) return hostname;
    if (address && port) return `${address}:${port}`;
  }
  return undefined;
}

/**
 * Explains an error that ends a start or a check to an operator. `host`: the server that was called, for errors that do
 * not name it. Never throws.
 */
export function explainFailure(thrown: unknown, host?: string): Failure {
  const chain = chainOf(thrown);
  const { code, title, detail, hint } = toKdebugError(thrown);
  const known = wordsOf(chain).find((word) => Object.hasOwn(WHY, word)) ?? '';
  const reason = Object.hasOwn(WHY, known) ? WHY[known] : undefined;
  if (reason === undefined) {
    const words = detail === '' ? innermost(chain) : detail;
    return {
      code,
      cause: words === '' ? title : `${title}: ${words}`,
      fix: FIXES[code] ?? withNames(hint, DEFAULT_NAMES),
    };
  }
  const proxy = /through the proxy \S+/.exec(detail)?.[0];
  const cause = `${reason.words(calledHost(host, hostIn(chain)))} (${known})`;
  const orProxy = reason.fix === FIREWALL && code.startsWith('slack_') ? OR_PROXY : '';
  return { code, cause: proxy === undefined ? cause : `${cause}, ${proxy}`, fix: reason.fix + orProxy };
}

/** Codes whose own hint is for people in Slack. */
const FIXES: Readonly<Partial<Record<ReasonCode, string>>> = {
  slack_unreachable: `look at slack-status.com; ${FIREWALL}${OR_PROXY}`,
  store_unreachable: 'check host and port in REDIS_URL, and that Redis runs',
  cluster_unreachable:
    'check the address in the kubeconfig, and allow this connection in firewalls and NetworkPolicies',
  cluster_forbidden: 'give kdebug the right that the message names',
  cluster_unauthenticated:
    'renew the account in the kubeconfig; `inCluster: true` works in a pod only: kubectl -n kdebug exec deploy/kdebug -- node main.js doctor',
};

/** The status of an HTTP response, or the words of the first cause; empty without one. */
function innermost(chain: readonly object[]): string {
  const status = chain.map((error) => textOf(error, 'statusCode')).find((text) => text !== '');
  return status === undefined
    ? shorten(
        chain
          .slice(1)
          .map((error) => textOf(error, 'message'))
          .at(-1) ?? '',
        200,
      )
    : `HTTP ${status}`;
}

/** Codes of all errors of the chain, and of the details, where the store's adapter writes them. */
const wordsOf = (chain: readonly object[]): readonly string[] =>
  chain.flatMap((error) => [
    textOf(error, 'code'),
    textOf(error, 'name'),
    ...(textOf(error, 'detail').match(/[A-Z][A-Z_]{4,}/g) ?? []),
  ]);

/** The host by its name, with the address that it stands for. */
function calledHost(host: string | undefined, named: string | undefined): string {
  if (host === undefined) return named ?? 'the server';
  return named === undefined || named === '' || host.includes(named) ? host : `${host} (${named})`;
}

/** The same for an error that ended a start: its code says what was called. */
export function explainStart(thrown: unknown, { slack, redis, opsPort, port }: Env): Failure {
  const { code } = toKdebugError(thrown);
  if (code === 'slack_port_unavailable') return explainFailure(thrown, `PORT ${port}`);
  if (code.startsWith('slack_')) return explainFailure(thrown, new URL(slack.apiUrl).host);
  if (code.startsWith('store_') && redis !== undefined) return explainFailure(thrown, hostOfRedis(redis.url));
  return explainFailure(thrown, `OPS_PORT ${opsPort}`);
}

/** Host and port without user and password. */
export function hostOfRedis(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || 6379}`;
}
