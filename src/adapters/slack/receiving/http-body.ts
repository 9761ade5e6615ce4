import type { IncomingMessage } from 'node:http';

/** The raw body, or undefined when it is longer than `limit` bytes; the rest is then read and dropped. Rejects when the request breaks off. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    request.resume();
    return undefined;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > limit) {
      request.resume();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What a body of Slack's says: JSON, or a form whose `payload` field may hold JSON. Undefined when it is neither. */
export function parseBody(raw: string, contentType: string): Record<string, unknown> | undefined {
  const [type = ''] = contentType.split(';');
  if (type.trim() === 'application/json') return parseObject(raw);
  if (type.trim() !== 'application/x-www-form-urlencoded') return undefined;
  const fields = new URLSearchParams(raw);
  const payload = fields.get('payload');
  return payload === null ? Object.fromEntries(fields) : parseObject(payload);
}

function parseObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
