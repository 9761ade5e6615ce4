import { createServer, type IncomingMessage } from 'node:http';
import { isUsableSecret } from '../../../core/alert/secret.ts';
import { KdebugError, type ReasonCode, toKdebugError } from '../../../core/errors.ts';
import type { AlertSource } from '../../../core/policy/policy.ts';
import type { AlertReceiver } from '../../../flow/ports/alerts.ts';
import type { Log, Metrics } from '../../../flow/ports/machine.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import { BodyRoom, readBody as bodyWithin } from '../../../lib/streams/http-body.ts';
import { Strangers } from '../../../lib/streams/strangers.ts';
import { Trouble } from '../../../lib/trouble.ts';
import { listen } from '../listen.ts';
import { hasBearer, isSigned, signedAtMs } from './authorization.ts';
import { readBody } from './body.ts';

export interface AlertServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** The sources of the policy that holds now. */
  readonly sources: () => Readonly<Record<string, AlertSource>>;
  /** The value of an environment variable; undefined: it is not set. */
  readonly secretOf: (variable: string) => string | undefined;
  readonly receiver: AlertReceiver;
  readonly metrics: Pick<Metrics, 'alertsReceived'>;
  readonly log: Log;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
}

export interface AlertServer {
  readonly port: number;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1_048_576;
/** Alertmanager and Grafana give up after ten seconds or more. */
const LIMITS = { requestTimeout: 10_000, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 };
/** Without the secret, anybody may connect and claim a signature. A body of 32 KiB always has room. */
const MAX_STRANGERS = 200;
const MAX_UNREAD_BYTES = 16 * MAX_BODY_BYTES;

const LINES = {
  begins: 'a notification of alerts was refused',
  ends: 'notifications of alerts are accepted again',
};

/** All others are answered with 503, so that the source tries again. */
const STATUS: Readonly<Partial<Record<ReasonCode, number>>> = {
  alert_source_unknown: 404,
  alert_unauthorized: 401,
  alert_body_invalid: 400,
  alert_body_too_large: 413,
};

/**
 * Starts the server for `POST /alerts/NAME`. 200 once everything is stored. 4xx: nothing was stored, and the same request would be refused again.
 * 503: the source must send it again. Never 429, after which Alertmanager gives up. Answers have a code, and nothing of the policy.
 */
export async function startAlertServer(options: AlertServerOptions): Promise<AlertServer> {
  const troubles = new Map<string, Trouble>();
  const room = new BodyRoom(MAX_UNREAD_BYTES);
  const server = createServer(LIMITS, (request, response) => {
    const beganMs = options.clock.elapsed();
    const door = { room, vouch: () => strangers.vouchFor(request.socket) };
    void answer(request, options, door).then(({ status, result, source, detail }) => {
      options.metrics.alertsReceived(source, result, options.clock.elapsed() - beganMs);
      // Few: names of the policy, and one for all others.
      const trouble = troubles.get(source) ?? new Trouble(options, LINES);
      troubles.set(source, trouble);
      if (status === 200) trouble.worked();
      else trouble.failed({ source, reason: result, detail });
      response.writeHead(status, {
        'content-type': 'application/json',
        connection: status === 200 ? 'keep-alive' : 'close',
      });
      response.end(`${JSON.stringify({ result })}\n`);
    });
  });
  const strangers = new Strangers(server, MAX_STRANGERS);
  return {
    port: await listen(server, options.port),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), 1_000).unref();
      }),
  };
}

interface Answered {
  readonly status: number;
  readonly result: string;
  /** A name of the policy, or `unknown`. */
  readonly source: string;
  readonly detail?: string | undefined;
}

interface Door {
  readonly room: BodyRoom;
  /** Call once the request has proved that it knows the secret. */
  readonly vouch: () => void;
}

async function answer(request: IncomingMessage, options: AlertServerOptions, door: Door): Promise<Answered> {
  let source = 'unknown';
  try {
    if (request.method !== 'POST') return { status: 405, result: 'method_not_allowed', source };
    const known = sourceOf(request, options);
    source = known.name;
    const { body, sentAtMs } = await authorizedBody(request, known, { ...options, ...door });
    const read = readBody(body, known.format);
    if (read.kind !== 'ok')
      throw new KdebugError(read.kind === 'invalid' ? 'alert_body_invalid' : 'alert_body_too_large', {
        detail: read.detail,
      });
    return {
      status: 200,
      result: await options.receiver.receive(source, { ...read.notification, ...defined({ sentAtMs }) }),
      source,
    };
  } catch (thrown) {
    const { code, detail } = toKdebugError(thrown);
    return { status: STATUS[code] ?? 503, result: code, source, detail };
  }
}

/** Only names of the policy: what else stands in a path is anybody's. */
function sourceOf({ url = '' }: IncomingMessage, { sources }: AlertServerOptions): AlertSource {
  const [, name = ''] = /^\/alerts\/([a-z0-9-]{1,40})$/.exec(url) ?? [];
  const known = sources();
  const source = Object.hasOwn(known, name) ? known[name] : undefined;
  if (!source) throw new KdebugError('alert_source_unknown');
  return source;
}

/** Without a signature, reads nothing of a request that lacks the secret. */
async function authorizedBody(
  request: IncomingMessage,
  { secretEnv, format }: AlertSource,
  { secretOf, clock, room, vouch }: AlertServerOptions & Door,
): Promise<{ readonly body: string; readonly sentAtMs?: number }> {
  const secret = secretOf(secretEnv);
  if (!isUsableSecret(secret)) throw new KdebugError('alert_secret_missing', { detail: secretEnv });
  const { headers } = request;
  const signed = format === 'grafana' && isSigned(headers);
  if (!signed && !hasBearer(headers, secret)) throw new KdebugError('alert_unauthorized');
  if (!signed) vouch();
  const body = await bodyOf(request, room);
  const sentAtMs = signed ? signedAtMs(headers, body, { secret, nowMs: clock.now() }) : undefined;
  if (signed && sentAtMs === undefined) throw new KdebugError('alert_unauthorized');
  vouch();
  return { body: body.toString('utf8'), ...defined({ sentAtMs }) };
}

async function bodyOf(request: IncomingMessage, room: BodyRoom): Promise<Buffer> {
  const { read, release } = bodyWithin(request, { limit: MAX_BODY_BYTES, room });
  const got = await read
    .catch((cause: unknown) => {
      throw new KdebugError('alert_body_invalid', { detail: 'it broke off', cause });
    })
    .finally(release);
  if (got.kind === 'no-room') throw new KdebugError('too_busy');
  if (got.kind === 'too-long') throw new KdebugError('alert_body_too_large', { detail: 'more than 1 MiB' });
  return got.body;
}
