import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Args } from '../api/args.ts';
import { invoke } from '../api/invoke.ts';
import type { Method } from '../api/method.ts';
import { METHODS } from '../api/methods.ts';
import type { Triggers } from '../api/triggers.ts';
import type { SlackState } from '../state/state.ts';
import type { Faults } from './faults.ts';
import { type Answer, answer, isJsonType, parseArgs, readBody, send } from './http.ts';
import type { Rates } from './rates.ts';
import type { RequestLog } from './request-log.ts';
import type { ResponseUrls } from './response-urls.ts';
import type { Sockets } from './sockets.ts';
import type { Uploads } from './upload.ts';

export interface Parts {
  readonly slack: SlackState;
  readonly triggers: Triggers;
  readonly rates: Rates;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly responseUrls: ResponseUrls;
  readonly uploads: Uploads;
  readonly sockets: Sockets;
  /** Requests that this Slack does not know, by name; tests fail on them. */
  readonly unknown: string[];
}

/** What the method reads of a body. */
const readBy = (method: Method | undefined, args: Args, contentType: string): Args =>
  method?.takes === 'form' && isJsonType(contentType) ? {} : args;

/** The HTTP face: `/api/METHOD`, `/upload/v1/ID`, `/files-pri/ID/NAME`, `/hooks/…`, and the upgrade to Socket Mode. */
export class SlackServer {
  private readonly parts: Parts;
  private readonly server: Server;
  origin = '';

  constructor(parts: Parts) {
    this.parts = parts;
    this.server = createServer((request, response) => void this.serve(request, response));
    // Longer than any client keeps a connection idle: none is closed under a request.
    this.server.keepAliveTimeout = 65_000;
    this.server.on('upgrade', (request, stream, head) => parts.sockets.upgrade(request, stream, head));
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, '127.0.0.1', resolve);
    });
    this.origin = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin);
    try {
      await this.route(request, response, url);
    } catch (error) {
      // A client that disconnects is not an error of this server; anything else must be visible.
      if (request.destroyed && !request.complete) return;
      this.parts.unknown.push(`${url.pathname}: ${String(error)}`);
      send(response, { status: 500, body: String(error) });
    }
  }

  private async route(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const [, area, ...rest] = url.pathname.split('/');
    const last = rest.at(-1) ?? '';
    if (area === 'api' && rest.length === 1) return this.api(request, response, url, last);
    if (area === 'upload' && request.method === 'POST') return this.upload(request, response, last);
    if (area === 'files-pri' && request.method === 'GET') return this.download(request, response, rest[0] ?? '');
    if (area === 'hooks' && request.method === 'POST') return this.hook(request, response, last);
    this.parts.unknown.push(`${request.method} ${url.pathname}`);
    send(response, { status: 404, body: `no such address: ${request.method} ${url.pathname}` });
  }

  private async api(request: IncomingMessage, response: ServerResponse, url: URL, name: string): Promise<void> {
    const { log, faults, slack } = this.parts;
    const body = (await readBody(request)).toString('utf8');
    const type = request.headers['content-type'] ?? '';
    const args = parseArgs(type, body, url.searchParams);
    const atMs = slack.now();
    const outcome = await answer(response, faults.take(name, true), {
      run: async () => this.call(name, args && readBy(METHODS.get(name), args, type), request.headers.authorization),
      refuse: (error) => ({ status: 200, body: { ok: false, error } }),
    });
    const logged = log.add(name, args ?? {}, atMs, outcome);
    slack.tell({ kind: 'call', method: name, ok: logged.ok });
  }

  private call(name: string, args: Args | undefined, authorization: string | undefined): Answer {
    const { slack, triggers, rates, sockets, unknown } = this.parts;
    const method = METHODS.get(name);
    if (method === undefined) {
      unknown.push(name);
      return { status: 200, body: { ok: false, error: 'unknown_method', req_method: name } };
    }
    if (args === undefined) return { status: 200, body: { ok: false, error: 'invalid_json' } };
    const openSocket = () => `${this.origin.replace('http', 'ws')}${sockets.ticket()}`;
    return invoke(method, { slack, args, triggers, origin: this.origin, openSocket }, authorization, rates);
  }

  private async upload(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
    const { faults, log, slack, uploads } = this.parts;
    const fault = faults.take('upload', false);
    const atMs = slack.now();
    const outcome = await answer(response, fault, {
      run: () => uploads.receive(id, request),
      refuse: (error) => ({ status: 400, body: error }),
    });
    request.resume();
    log.add('upload', { file: id }, atMs, outcome);
  }

  private async download(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
    const { faults, log, slack, uploads } = this.parts;
    const atMs = slack.now();
    const outcome = await answer(response, faults.take('download', false), {
      run: () => uploads.download(id, request.headers.authorization),
      refuse: (error) => ({ status: 403, body: error }),
    });
    log.add('download', { file: id }, atMs, outcome);
  }

  private async hook(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
    const { faults, log, slack, responseUrls } = this.parts;
    const body = (await readBody(request)).toString('utf8');
    const args = parseArgs(request.headers['content-type'] ?? '', body, new URLSearchParams());
    const atMs = slack.now();
    const outcome = await answer(response, faults.take('response_url', false), {
      run: async () => responseUrls.respond(id, args),
      refuse: (error) => ({ status: 404, body: { ok: false, error } }),
    });
    log.add('response_url', args ?? {}, atMs, outcome);
    slack.tell({ kind: 'call', method: 'response_url', ok: outcome.status === 200 });
  }
}
