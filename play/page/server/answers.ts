import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { StoredFile } from '../../slack/index.ts';
import { isPicture } from '../contract.ts';
import { type ClusterSide, LOG_LINES } from './cluster-side.ts';
import { Refusal } from './guard.ts';

const BODY_LIMIT = 1024 * 1024;
const PREVIEW_BYTES = 16 * 1024;

export function sendText(response: ServerResponse, type: string, text: string, status = 200): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

export const sendJson = (response: ServerResponse, value: object): void =>
  sendText(response, 'application/json', JSON.stringify(value));

/** The JSON body. Only JSON: a form of another page could never send it unasked. @throws Refusal 413, 415, 400 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  if (!request.headers['content-type']?.startsWith('application/json')) throw new Refusal(415, 'A deed is JSON.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_LIMIT) throw new Refusal(413, 'A deed is at most 1 MiB.');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new Refusal(400, 'This is no JSON.');
  }
}

/** Any bytes, as a download: no browser shows them as a page of this origin. */
export const sendFile = (response: ServerResponse, file: StoredFile | undefined): Promise<void> =>
  sendBytes(response, file, { 'content-type': 'application/octet-stream' });

/**
 * A .png for an `<img>`. Opened by itself it is a download; whatever it holds, the sandbox keeps it out of this origin. @throws Refusal 404 for any other file
 */
export async function sendPicture(response: ServerResponse, file: StoredFile | undefined): Promise<void> {
  if (file === undefined || !isPicture(file)) throw new Refusal(404, 'There is no such picture.');
  await sendBytes(response, file, {
    'content-type': 'image/png',
    'content-security-policy': "default-src 'none'; sandbox",
  });
}

async function sendBytes(
  response: ServerResponse,
  file: StoredFile | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const path = pathOf(file);
  response.writeHead(200, {
    ...headers,
    'content-disposition': `attachment; ${fileNameOf(file?.name ?? '')}`,
    'content-length': String(file?.size ?? 0),
  });
  await pipeline(createReadStream(path), response);
}

/** The beginning as plain text; half a character at its end is left out. */
export async function sendPreview(response: ServerResponse, file: StoredFile | undefined): Promise<void> {
  const handle = await open(pathOf(file));
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(PREVIEW_BYTES), 0, PREVIEW_BYTES, 0);
    const text = new TextDecoder().decode(buffer.subarray(0, bytesRead), { stream: true });
    sendText(response, 'text/plain', text);
  } finally {
    await handle.close();
  }
}

function pathOf(file: StoredFile | undefined): string {
  if (file?.state !== 'complete' || file.path === undefined) throw new Refusal(404, 'There is no such file.');
  return file.path;
}

/** RFC 6266: a plain name for all, the real one for those who can read it. */
function fileNameOf(name: string): string {
  const plain = name.replace(/[^\w.-]/g, '_');
  const real = encodeURIComponent(name).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return `filename="${plain}"; filename*=UTF-8''${real}`;
}

/** The log as it grows, at the reader's pace. @throws Refusal 409 with the reason why it cannot be read now */
export async function sendLog(response: ServerResponse, side: ClusterSide, query: URLSearchParams): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const part = (name: string): string => query.get(name) ?? '';
  const place = { namespace: part('namespace'), pod: part('pod'), container: part('container') };
  const blocks = await side.log(place, gone.signal).catch((error: unknown) => {
    throw new Refusal(409, error instanceof Error ? error.message : `The newest ${LOG_LINES} lines cannot be read.`);
  });
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
  response.flushHeaders();
  await pipeline(Readable.from(blocks, { objectMode: false }), response);
}
