import type { IncomingMessage } from 'node:http';
import type { BodyRoom } from './body-room.ts';

export interface BodyLimits {
  /** Bytes of one body. */
  readonly limit: number;
  /** Shared by all bodies that are being read. */
  readonly room: BodyRoom;
}

export type ReadBody =
  | { readonly kind: 'read'; readonly body: Buffer }
  /** Longer than the limit. */
  | { readonly kind: 'too-long' }
  /** It had to give way to others. */
  | { readonly kind: 'no-room' };

/**
 * The raw body. `release` gives its place in the room back and must be called once it is verified or dropped. What is not read is
 * dropped. Rejects when the request breaks off.
 */
export function readBody(
  request: IncomingMessage,
  { limit, room }: BodyLimits,
): { readonly read: Promise<ReadBody>; readonly release: () => void } {
  const { promise, resolve, reject } = withResolvers<ReadBody>();
  const place = room.enter(() => stop('no-room'));
  // One buffer that doubles: a chunk of its own for every byte would take a hundred times the memory that is counted.
  let held = Buffer.alloc(0);
  let bytes = 0;

  const onData = (chunk: Buffer): void => {
    const needed = bytes + chunk.length;
    if (needed > limit) stop('too-long');
    else if (needed > held.length) grow(needed);
    bytes += chunk.copy(held, bytes);
  };
  function grow(needed: number): void {
    const larger = Buffer.alloc(Math.min(limit, 2 * needed));
    held.copy(larger, 0, 0, bytes);
    held = larger;
    place.hold(held.length);
  }
  /** From now on nothing is held. */
  function stop(kind: 'too-long' | 'no-room'): void {
    place.leave();
    held = Buffer.alloc(0);
    request.off('data', onData).resume();
    resolve({ kind });
  }

  request.once('end', () => resolve({ kind: 'read', body: held.subarray(0, bytes) }));
  request.once('error', reject);
  request.once('close', () => reject(new Error('the request broke off')));
  if (Number(request.headers['content-length'] ?? 0) > limit) stop('too-long');
  else request.on('data', onData);
  return { read: promise, release: () => place.leave() };
}

function withResolvers<T>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (reason: unknown) => void;
} {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
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
