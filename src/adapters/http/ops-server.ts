import { createServer, type RequestListener } from 'node:http';
import { toKdebugError } from '../../core/errors.ts';
import type { Metrics } from '../../flow/ports/machine.ts';
import { type Clock, withDeadline } from '../../lib/clock.ts';
import { listen } from './listen.ts';

/** Resolves when the part it checks answers; rejects with the cause. */
export type Check = () => Promise<void>;

export interface OpsServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** The default is every address, because the kubelet connects from outside the pod's loopback. */
  readonly host?: string;
  readonly checks: Readonly<Record<string, Check>>;
  /** For people: lines below the checks of `/readyz?verbose`, which never change its status. No secrets. */
  readonly infos?: Readonly<Record<string, () => readonly string[]>>;
  readonly metrics: Exposition & Pick<Metrics, 'checked'>;
  readonly clock: Pick<Clock, 'after'>;
  /** A slower check fails; the default is 2 s, below the probe's own limit. */
  readonly checkTimeoutMs?: number;
}

export interface OpsServer {
  readonly port: number;
  close(): Promise<void>;
}

interface OpsResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const PLAIN = 'text/plain; charset=utf-8';

/**
 * Starts the server for probes and metrics. `/livez`: 200 while the event loop turns. `/readyz`: 200 when every check
 * passes, else 503; one line per check, `[+] name ok` or `[-] name failed: code`; with `?verbose` also `[i] name …`.
 * `/metrics`: Prometheus text. Anything
 * else is 404, any method but GET and HEAD 405. The port has no authentication, so it shows only codes.
 */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const server = createServer(listener(options));
  return {
    port: await listen(server, options.port, options.host),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const listener =
  (options: OpsServerOptions): RequestListener =>
  (request, response) => {
    const [path = '/', query] = (request.url ?? '/').split('?', 2);
    const reading = request.method === 'GET' || request.method === 'HEAD';
    const answering = reading
      ? answer(path, new URLSearchParams(query), options)
      : Promise.resolve({ status: 405, type: PLAIN, body: 'only GET and HEAD\n' });
    void answering
      .catch((thrown): OpsResponse => ({ status: 500, type: PLAIN, body: `${toKdebugError(thrown).code}\n` }))
      .then(({ status, type, body }) =>
        response.writeHead(status, { 'content-type': type }).end(request.method === 'HEAD' ? undefined : body),
      );
  };

async function answer(path: string, query: URLSearchParams, options: OpsServerOptions): Promise<OpsResponse> {
  if (path === '/livez') return { status: 200, type: PLAIN, body: 'ok\n' };
  if (path === '/readyz') return readiness(options, query.has('verbose'));
  if (path === '/metrics') {
    return { status: 200, type: options.metrics.contentType, body: await options.metrics.text() };
  }
  return { status: 404, type: PLAIN, body: 'not found; there are /livez, /readyz and /metrics\n' };
}

async function readiness(options: OpsServerOptions, isVerbose: boolean): Promise<OpsResponse> {
  const results = await Promise.all(
    Object.entries(options.checks).map(async ([name, check]) => {
      const failure = await failureOf(check, options);
      options.metrics.checked(name, failure === undefined);
      return { name, failure };
    }),
  );
  const lines = results.map(({ name, failure }) => (failure ? `[-] ${name} failed: ${failure}` : `[+] ${name} ok`));
  const status = results.some(({ failure }) => failure) ? 503 : 200;
  const infos = isVerbose ? Object.entries(options.infos ?? {}) : [];
  const infoLines = infos.flatMap(([name, read]) => read().map((line) => `[i] ${name} ${line}`));
  return { status, type: PLAIN, body: `${[...lines, ...infoLines].join('\n')}\n` };
}

/** The code of the failure, or `timed_out`; undefined when the check passes. */
function failureOf(check: Check, options: OpsServerOptions): Promise<string | undefined> {
  const failure = new Promise<void>((pass) => pass(check())).then(
    () => undefined,
    (thrown: unknown) => toKdebugError(thrown).code,
  );
  return withDeadline(options.clock, options.checkTimeoutMs ?? 2_000, failure, () => 'timed_out');
}

/** The metrics as Prometheus' text. */
export interface Exposition {
  readonly contentType: string;
  text(): Promise<string>;
}
