import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FaultKind } from './faults.ts';
import type { Identity } from './identity.ts';
import { BODY_KEPT, type Exchange, type RequestRecord } from './request-log.ts';
import type { Route } from './route.ts';
import { ApiError } from './status.ts';

const MAX_BODY = 3 * 1024 * 1024;

/** One request on its way through the server. Handlers answer by `answer`, or stream by `response` themselves. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  readonly query: URLSearchParams;
  readonly identity: Identity;
  readonly record: RequestRecord;
  readonly fault: FaultKind | undefined;
  /** Where bodies are noted down; absent while nobody wants them. */
  readonly exchange: Exchange | undefined;
  /** Tells those who watch that something of this request has changed. */
  readonly told: () => void;
}

export type Handler = (call: Call) => void | Promise<void>;

/** Sends JSON: an object, or text that is JSON already. A queued `reset-after-commit` cuts the connection here instead. */
export function answer(call: Call, status: number, body: object | string): void {
  if (call.fault?.kind === 'reset-after-commit') {
    call.record.status = status;
    call.request.socket.destroy();
    return;
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  call.record.status = status;
  if (call.exchange) call.exchange.response = beginningOf(Buffer.from(text));
  call.response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  call.response.end(text);
}

/** Begins an answer that is written piece by piece. */
export function beginStream(call: Call, contentType: string, status = 200): void {
  call.record.status = status;
  call.response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-cache, private' });
  call.response.flushHeaders();
  call.told();
}

/** The whole body as text. @throws ApiError 413 */
export async function readBody(call: Call): Promise<string> {
  return (await readBytes(call)).toString('utf8');
}

/** The whole body. @throws ApiError 413 */
export async function readBytes({ request, exchange }: Call): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += part.length;
    if (bytes > MAX_BODY)
      throw new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY}`);
    chunks.push(part);
  }
  const body = Buffer.concat(chunks);
  if (exchange) exchange.request = beginningOf(body);
  return body;
}

const beginningOf = (body: Buffer): string => body.toString('utf8', 0, BODY_KEPT);

/** Whether the client prefers a Table (kubectl get). */
export function wantsTable(call: Call): boolean {
  return (call.request.headers.accept ?? '').includes('as=Table');
}
