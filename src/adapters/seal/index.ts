import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Seals texts so that only holders of the key can read or make them (AES-256-GCM, a fresh nonce each time). */
export interface Seal {
  /**
   * URL-safe text: version, nonce, tag and cipher text. It opens only with the same `about`, which it does not contain.
   */
  seal(plain: string, about?: string): string;
  /** Undefined when it was changed, or sealed with another key or `about`. */
  open(sealed: string, about?: string): string | undefined;
}

const VERSION = 'k1.';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createSeal(key: Uint8Array): Seal {
  return {
    seal(plain, about = '') {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
    },
    open(sealed, about = '') {
      if (!sealed.startsWith(VERSION)) return undefined;
      const raw = Buffer.from(sealed.slice(VERSION.length), 'base64url');
      if (raw.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key, raw.subarray(0, NONCE_BYTES));
      decipher.setAAD(Buffer.from(about));
      decipher.setAuthTag(raw.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(raw.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString(
          'utf8',
        );
      } catch {
        return undefined;
      }
    },
  };
}
