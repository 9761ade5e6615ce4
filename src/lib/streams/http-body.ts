import type { IncomingMessage } from 'node:http';

export interface BodyLimits {
  readonly limit: number;
  readonly room: BodyRoom;
}

export type ReadBody =
  | { readonly kind: 'read'; readonly body: Buffer }
  | { readonly kind: 'too-long' }
  /** Evicted in favour of other bodies. */
  | { readonly kind: 'no-room' };

/**
 * Reads the raw body. Call `release` once the body is verified or dropped: it frees the body's room. Discards unread bytes. Rejects if the
 * request breaks off.
 */
export function readBody(
  request: IncomingMessage,
  { limit, room }: BodyLimits,
): { readonly read: Promise<ReadBody>; readonly release: () => void } {
  const { promise, resolve, reject } = withResolvers<ReadBody>();
  const slot = room.enter(() => stop('no-room'));
  // One buffer that doubles. A chunk for every byte would use a hundred times the memory that we count.
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
    slot.hold(held.length);
  }
  function stop(kind: 'too-long' | 'no-room'): void {
    slot.leave();
    held = Buffer.alloc(0);
    request.off('data', onData).resume();
    resolve({ kind });
  }

  request.once('end', () => resolve({ kind: 'read', body: held.subarray(0, bytes) }));
  request.once('error', reject);
  request.once('close', () => reject(new Error('the request broke off')));
  if (Number(request.headers['content-length'] ?? 0) > limit) stop('too-long');
  else request.on('data', onData);
  return { read: promise, release: () => slot.leave() };
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

export interface BodySlot {
  /** Records that it now holds `bytes`. Before it returns, it may call `onEvicted` of any slot, even this one. */
  hold(bytes: number): void;
  /** Repeatable. The body is never evicted afterwards. */
  leave(): void;
}

interface Held {
  bytes: number;
  readonly onEvicted: () => void;
}

/**
 * At most `mostBytes` of memory for unverified bodies. Over that, evicts the largest: of N bodies, one below `mostBytes / N` always stays,
 * however slow or many the others are.
 */
export class BodyRoom {
  readonly #mostBytes: number;
  readonly #slots = new Set<Held>();
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** `onEvicted` is called at most once, after the slot was freed. */
  enter(onEvicted: () => void): BodySlot {
    const held: Held = { bytes: 0, onEvicted };
    this.#slots.add(held);
    return {
      hold: (bytes) => this.#hold(held, bytes),
      leave: () => this.#remove(held),
    };
  }

  #hold(held: Held, bytes: number): void {
    if (!this.#slots.has(held)) return;
    this.#bytes += bytes - held.bytes;
    held.bytes = bytes;
    while (this.#bytes > this.#mostBytes) this.#evictLargest();
  }

  #evictLargest(): void {
    let largest: Held | undefined;
    for (const held of this.#slots) if (!largest || held.bytes > largest.bytes) largest = held;
    if (!largest) return;
    this.#remove(largest);
    largest.onEvicted();
  }

  #remove(held: Held): void {
    if (this.#slots.delete(held)) this.#bytes -= held.bytes;
  }
}
