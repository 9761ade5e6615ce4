import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FaultKind } from './faults.ts';
import type { Identity } from './identity.ts';
import type { RequestRecord } from './request-log.ts';
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
  call.response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  call.response.end(text);
}

/** The whole body as text. @throws ApiError 413 */
export async function readBody(request: IncomingMessage): Promise<string> {
  return (await readBytes(request)).toString('utf8');
}

/** The whole body. @throws ApiError 413 */
export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += part.length;
    if (bytes > MAX_BODY)
      throw new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY}`);
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

/** Whether the client prefers a Table (kubectl get). */
export function wantsTable(call: Call): boolean {
  return (call.request.headers.accept ?? '').includes('as=Table');
}
