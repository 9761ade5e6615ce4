import { createHash, createHmac, hkdfSync } from 'node:crypto';

/**
 * JSON with the keys of every object sorted and `undefined` left out, so that equal values have equal text. Only for
 * plain data (no dates, maps or cycles).
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value ?? null);
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
}

/** SHA-256 in lower-case hexadecimal. */
export const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

/** The SHA-256 of what comes in pieces; `hex` ends it. */
export function sha256Stream(): { update(piece: Uint8Array): void; hex(): string } {
  const hash = createHash('sha256');
  return {
    update: (piece) => {
      hash.update(piece);
    },
    hex: () => hash.digest('hex'),
  };
}

/** HMAC-SHA-256 (RFC 2104) over the parts in order, in lower-case hexadecimal. */
export function hmacSha256(key: Uint8Array, ...parts: readonly (string | Uint8Array)[]): string {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest('hex');
}

/**
 * A 32-byte key for one purpose (HKDF-SHA-256, RFC 5869). It reveals nothing about the secret or the keys of other
 * labels.
 */
export const deriveKey = (secret: string | Uint8Array, label: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', label, 32));

export const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** The first `length` (up to 32) characters of the SHA-256 of `text`, as lower-case base32: a valid DNS label. */
export function base32Hash(text: string, length: number): string {
  const digest = createHash('sha256').update(text).digest();
  return Array.from({ length }, (_, index) => BASE32[(digest[index] ?? 0) % 32]).join('');
}
