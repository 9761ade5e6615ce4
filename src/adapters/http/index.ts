import { createServer, type RequestListener } from 'node:http';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { toKdebugError } from '../../core/errors.ts';
import type { Metrics } from '../../flow/ports/machine.ts';
import { type Clock, withDeadline } from '../../lib/clock.ts';

/** Resolves when the part it checks answers; rejects with the cause. */
export type Check = () => Promise<void>;

export interface OpsServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** The default is every address, because the kubelet connects from outside the pod's loopback. */
  readonly host?: string;
  readonly checks: Readonly<Record<string, Check>>;
  readonly metrics: Exposition;
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
 * passes, else 503; one line per check, `[+] name ok` or `[-] name failed: code`. `/metrics`: Prometheus text. Anything
 * else is 404, any method but GET and HEAD 405. The port has no authentication, so it shows only codes.
 */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const server = createServer(listener(options));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
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
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const reading = request.method === 'GET' || request.method === 'HEAD';
    const answering = reading
      ? answer(path, options)
      : Promise.resolve({ status: 405, type: PLAIN, body: 'only GET and HEAD\n' });
    void answering
      .catch((thrown): OpsResponse => ({ status: 500, type: PLAIN, body: `${toKdebugError(thrown).code}\n` }))
      .then(({ status, type, body }) =>
        response.writeHead(status, { 'content-type': type }).end(request.method === 'HEAD' ? undefined : body),
      );
  };

async function answer(path: string, options: OpsServerOptions): Promise<OpsResponse> {
  if (path === '/livez') return { status: 200, type: PLAIN, body: 'ok\n' };
  if (path === '/readyz') return readiness(options);
  if (path === '/metrics') {
    return { status: 200, type: options.metrics.contentType, body: await options.metrics.text() };
  }
  return { status: 404, type: PLAIN, body: 'not found; there are /livez, /readyz and /metrics\n' };
}

async function readiness(options: OpsServerOptions): Promise<OpsResponse> {
  const results = await Promise.all(
    Object.entries(options.checks).map(async ([name, check]) => ({ name, failure: await failureOf(check, options) })),
  );
  const lines = results.map(({ name, failure }) => (failure ? `[-] ${name} failed: ${failure}` : `[+] ${name} ok`));
  const status = results.some(({ failure }) => failure) ? 503 : 200;
  return { status, type: PLAIN, body: `${lines.join('\n')}\n` };
}

/** The code of the failure, or `timed_out`; undefined when the check passes. */
function failureOf(check: Check, options: OpsServerOptions): Promise<string | undefined> {
  const failure = new Promise<void>((pass) => pass(check())).then(
    () => undefined,
    (thrown: unknown) => toKdebugError(thrown).code,
  );
  return withDeadline(options.clock, options.checkTimeoutMs ?? 2_000, failure, () => 'timed_out');
}

export interface Exposition {
  readonly contentType: string;
  text(): Promise<string>;
}

/** Bounds in seconds: the acknowledgement has 3 s (Slack), the p99 target is 50 ms. */
const ACKNOWLEDGE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.5, 1, 3];
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
/** A quick run lasts 1 or 2 s; the default maximum of a policy is half an hour. */
const RUN_SECONDS = [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 1800, 3600];

/** Interval of the event-loop lag samples: the default of 10 ms is most of an idle process's work. */
const LOOP_LAG_EVERY_MS = 25;

/** The counters and histograms of kdebug and its process, in a separate registry. */
export function createMetrics(): Metrics & Exposition {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_LAG_EVERY_MS });
  const registers = [registry];
  const commands = new Counter({
    name: 'kdebug_commands_total',
    help: 'Deliveries from Slack, by how they were answered.',
    labelNames: ['result'],
    registers,
  });
  const acknowledge = new Histogram({
    name: 'kdebug_acknowledge_seconds',
    help: 'From receiving a delivery to its acknowledgement.',
    buckets: ACKNOWLEDGE_SECONDS,
    registers,
  });
  const runs = new Histogram({
    name: 'kdebug_run_seconds',
    help: 'From receiving a request to its final state, by outcome.',
    labelNames: ['outcome'],
    buckets: RUN_SECONDS,
    registers,
  });
  const calls = new Histogram({
    name: 'kdebug_api_call_seconds',
    help: 'Calls to the cluster and to Slack, by method and result.',
    labelNames: ['api', 'method', 'result'],
    buckets: CALL_SECONDS,
    registers,
  });
  return {
    command(result, durationMs) {
      commands.inc({ result });
      acknowledge.observe(durationMs / 1000);
    },
    runFinished: (outcome, durationMs) => runs.observe({ outcome }, durationMs / 1000),
    apiCall: (api, method, result, durationMs) => calls.observe({ api, method, result }, durationMs / 1000),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}
