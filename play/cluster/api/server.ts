import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Authorizer } from './authorizer.ts';
import { answer, type Call, type Handler } from './call.ts';
import type { Certificates } from './certificates.ts';
import { discoveryOf, HEALTH, isProbed } from './discovery.ts';
import type { FaultKind, Faults } from './faults.ts';
import type { Identity, Tokens } from './identity.ts';
import { impersonate } from './impersonation.ts';
import type { RequestLog, RequestRecord } from './request-log.ts';
import { attributesOf, type Route, routeOf } from './route.ts';
import { ApiError, noSuchResource, PlainError } from './status.ts';
import { checkWriteOptions } from './write-options.ts';

interface ApiServerParts {
  readonly certificates: Certificates;
  readonly tokens: Tokens;
  readonly authorizer: Authorizer;
  readonly faults: Faults;
  readonly requests: RequestLog;
  /** Keys are `verb resource[/subresource]`, for example `patch pods/ephemeralcontainers`. */
  readonly handlers: ReadonlyMap<string, Handler>;
}

/** The HTTP side: who asks, may they, does a fault wait, which handler; and a record of every request. */
export class ApiServer {
  readonly #parts: ApiServerParts;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(parts: ApiServerParts) {
    this.#parts = parts;
    const { key, cert } = parts.certificates;
    this.#server = createServer({ key, cert, keepAlive: true, noDelay: true }, (request, response) => {
      void this.#serve(request, response);
    });
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    // A client that goes away in the middle of a handshake or a request is its own business.
    this.#server.on('tlsClientError', () => undefined);
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  async listen(port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    const address: AddressInfo | string | null = this.#server.address();
    return `https://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.dropConnections();
    await closed;
  }

  /** Cuts every open connection, as a restart of the API server does. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'https://local');
    const route = routeOf(request.method ?? 'GET', url);
    const record = recordOf(request, route);
    this.#parts.requests.add(record);
    response.on('error', () => undefined);
    const fault = this.#parts.faults.take(route);
    const nobody: Identity = { user: { name: '', groups: [], extra: {} } };
    const exchange = this.#parts.requests.exchange(record);
    const told = () => this.#parts.requests.tell(exchange);
    const about = { request, response, route, query: url.searchParams, record, fault };
    let call: Call = { ...about, identity: nobody, exchange, told };
    told();
    if (exchange)
      response.on('close', () => {
        exchange.isOver = true;
        told();
      });
    try {
      if (await this.#isStoppedByFault(call)) return;
      call = { ...call, identity: this.#identify(request, record) };
      await this.#dispatch(call);
    } catch (thrown) {
      refuse(call, thrown);
    }
  }

  #identify(request: IncomingMessage, record: RequestRecord): Identity {
    const sender = this.#parts.tokens.identify(request);
    record.user = sender.name;
    const identity = impersonate(request, sender, this.#parts.authorizer);
    record.user = identity.user.name;
    record.groups = identity.user.groups;
    record.extra = identity.user.extra;
    record.impersonatedBy = identity.impersonatedBy?.name ?? '';
    return identity;
  }

  async #isStoppedByFault(call: Call): Promise<boolean> {
    const fault = call.fault;
    if (fault?.kind === 'hang') return true;
    if (fault?.kind === 'reset-before') {
      call.request.socket.destroy();
      return true;
    }
    if (fault?.kind === 'status') throw faultStatus(fault);
    if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms));
    return false;
  }

  async #dispatch(call: Call): Promise<void> {
    const { route, identity, fault } = call;
    const { authorizer } = this.#parts;
    const asked = attributesOf(route, call.query);
    if (fault?.kind === 'rbac-starts') throw authorizer.refusalAtStart(identity.user, asked, fault.missingRole);
    authorizer.check(identity.user, asked);
    if (!route.isResource) return dispatchPath(call);
    const resource = route.subresource === '' ? route.resource : `${route.resource}/${route.subresource}`;
    const handler = this.#parts.handlers.get(`${route.verb} ${resource}`);
    if (!handler) {
      call.record.unknown = true;
      throw noSuchResource();
    }
    checkWriteOptions(call);
    await handler(call);
  }
}

function dispatchPath(call: Call): void {
  if (HEALTH.has(call.route.path)) {
    call.record.status = 200;
    call.response.end('ok');
    return;
  }
  const found = discoveryOf(call.route);
  if (found) {
    answer(call, 200, found);
    return;
  }
  call.record.unknown = !isProbed(call.route);
  throw new ApiError(404, 'NotFound', `the server could not find the requested resource: ${call.route.path}`, {});
}

function faultStatus(fault: Extract<FaultKind, { kind: 'status' }>): ApiError {
  const reasons: Record<number, string> = {
    401: 'Unauthorized',
    403: 'Forbidden',
    409: 'Conflict',
    429: 'TooManyRequests',
    500: 'InternalError',
    503: 'ServiceUnavailable',
    504: 'Timeout',
  };
  const details = fault.retryAfterSeconds === undefined ? undefined : { retryAfterSeconds: fault.retryAfterSeconds };
  return new ApiError(
    fault.status,
    reasons[fault.status] ?? '',
    fault.message ?? 'a fault of the local cluster, on demand',
    details,
  );
}

function refuse(call: Call, thrown: unknown): void {
  if (call.response.headersSent) {
    call.request.socket.destroy();
    return;
  }
  if (thrown instanceof PlainError) {
    call.request.resume();
    call.record.status = thrown.code;
    call.response.writeHead(thrown.code, { 'content-type': 'text/plain; charset=utf-8' });
    call.response.end(thrown.message);
    return;
  }
  const error = thrown instanceof ApiError ? thrown : new ApiError(500, 'InternalError', String(thrown));
  const retry = error.details?.retryAfterSeconds;
  if (retry !== undefined) call.response.setHeader('retry-after', String(retry));
  // A body that nobody read would keep the connection busy.
  call.request.resume();
  answer(call, error.code, error.toStatus());
}

function recordOf(request: IncomingMessage, route: Route): RequestRecord {
  const { verb, resource, subresource, namespace, name } = route;
  const userAgent = request.headers['user-agent'] ?? '';
  const told = {
    verb,
    resource,
    subresource,
    namespace,
    name,
    method: request.method ?? '',
    url: request.url ?? '',
    userAgent,
  };
  return { ...told, user: '', groups: [], extra: {}, impersonatedBy: '', status: 0, unknown: false };
}
