import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { dirname } from 'node:path';
import { KubeConfig, loadYaml, makeAbsolutePath } from '@kubernetes/client-node';
import { KdebugError } from '../../../core/errors.ts';
import type { PolicyCluster } from '../../../core/policy/policy.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import { asObject, asObjects, asText } from './json-fields.ts';

export interface KubeconfigSource {
  readonly cluster: PolicyCluster;
  /** Absent: `KUBECONFIG`, `~/.kube/config`, or the pod's own service account, as for kubectl. */
  readonly kubeconfigPath?: string;
}

/**
 * Reads the kubeconfig afresh into a new object for each cluster, because the library caches plug-in tokens by user
 * name inside the object (kubernetes-client/javascript issue 592).
 * @throws KdebugError cluster_config_invalid
 */
function readKubeconfig({ cluster, kubeconfigPath }: KubeconfigSource): KubeConfig {
  const kubeconfig = new KubeConfig();
  try {
    if (cluster.inCluster) kubeconfig.loadFromCluster();
    else if (kubeconfigPath !== undefined) kubeconfig.loadFromFile(kubeconfigPath);
    else kubeconfig.loadFromDefault();
    if (!cluster.inCluster && kubeconfigPath !== undefined) useTokenFiles(kubeconfig, kubeconfigPath);
  } catch (cause) {
    throw unreadable(cause);
  }
  if (cluster.context !== undefined) kubeconfig.setCurrentContext(cluster.context);
  if (!kubeconfig.getCurrentCluster() || !kubeconfig.getCurrentUser()) {
    throw new KdebugError('cluster_config_invalid', { detail: `no usable context ${cluster.context ?? ''}`.trim() });
  }
  return kubeconfig;
}

/** The message of a YAML error quotes the lines around the mistake, and a token may be in them. */
function unreadable(cause: unknown): KdebugError {
  return cause instanceof Error && cause.name === 'YAMLException'
    ? new KdebugError('cluster_config_invalid', { detail: 'it cannot be read: it is no YAML' })
    : new KdebugError('cluster_config_invalid', { detail: 'it cannot be read', cause });
}

/** client-node 1.4.0 ignores the kubeconfig's own `tokenFile`, but supports the same as an auth provider. */
function useTokenFiles(kubeconfig: KubeConfig, path: string): void {
  const users = asObjects(asObject(loadYaml(readFileSync(path, 'utf8'))).users);
  kubeconfig.users = kubeconfig.users.map((user) => {
    const raw = asObject(users.find(({ name }) => name === user.name)?.user);
    const tokenFile = asText(raw.tokenFile);
    if (tokenFile === '' || asText(raw.token) !== '') return user;
    return {
      ...user,
      authProvider: { name: 'tokenFile', config: { tokenFile: makeAbsolutePath(dirname(path), tokenFile) } },
    };
  });
}

/** The part of a kubeconfig that a connection needs: TLS material and the headers that identify the caller. */
export interface Credentials {
  readonly server: string;
  readonly proxyUrl?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Tls;
}

export interface Tls {
  readonly ca?: Buffer | string;
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
  readonly servername?: string;
  /** Only present as `false`, and only when the kubeconfig has `insecure-skip-tls-verify`. */
  readonly rejectUnauthorized?: false;
}

/** Files (tokens, certificates) stay cached this long; a projected service account token lives at least an hour. */
const FRESH_MS = 30_000;

/**
 * The credentials of one cluster, read again every 30 s, or at once after a 401. An exec plug-in caches its own token
 * until that expires, so its object lives until a 401. Concurrent callers share one reading.
 */
export class CredentialSource {
  readonly #source: KubeconfigSource;
  readonly #clock: Clock;
  #kubeconfig: KubeConfig;
  #reading: Promise<Credentials> | undefined;
  #readAtMs = 0;

  /** @throws KdebugError cluster_config_invalid */
  constructor(source: KubeconfigSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
    this.#kubeconfig = readKubeconfig(source);
  }

  /** @throws KdebugError cluster_config_invalid, cluster_unauthenticated (a plug-in that fails) */
  read(): Promise<Credentials> {
    if (this.#reading && this.#clock.elapsed() - this.#readAtMs < FRESH_MS) return this.#reading;
    const usesPlugin = Boolean(this.#kubeconfig.getCurrentUser()?.exec);
    return this.#readAgain(usesPlugin);
  }

  /** After a 401: reads everything again, once for all callers whose credentials came from the same reading. */
  renew(refused: Promise<Credentials>): Promise<Credentials> {
    return this.#reading === refused || !this.#reading ? this.#readAgain(false) : this.#reading;
  }

  #readAgain(reusesObject: boolean): Promise<Credentials> {
    this.#readAtMs = this.#clock.elapsed();
    const reading = this.#load(reusesObject);
    this.#reading = reading;
    reading.catch(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    return reading;
  }

  async #load(reusesObject: boolean): Promise<Credentials> {
    if (!reusesObject) this.#kubeconfig = readKubeconfig(this.#source);
    const cluster = this.#kubeconfig.getCurrentCluster();
    const options: RequestOptions = {};
    try {
      await this.#kubeconfig.applyToHTTPSOptions(options);
    } catch (cause) {
      throw new KdebugError('cluster_unauthenticated', { detail: 'the credentials cannot be read', cause });
    }
    return {
      server: cluster?.server ?? '',
      ...defined({ proxyUrl: cluster?.proxyUrl || undefined }),
      headers: headersOf(options),
      tls: tlsOf(options),
    };
  }
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (typeof value === 'string') headers[name] = value.trim();
  }
  if (options.auth) headers.Authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return headers;
}

function tlsOf(options: RequestOptions): Tls {
  return defined({
    ca: isMaterial(options.ca) ? options.ca : undefined,
    cert: isMaterial(options.cert) ? options.cert : undefined,
    key: isMaterial(options.key) ? options.key : undefined,
    servername: options.servername,
    rejectUnauthorized: options.rejectUnauthorized === false ? (false as const) : undefined,
  });
}

const isMaterial = (value: unknown): value is Buffer | string => typeof value === 'string' || Buffer.isBuffer(value);
