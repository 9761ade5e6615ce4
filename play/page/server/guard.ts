import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Nothing from anywhere else, nobody else's frame, and no word about us to others. */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Puts on the headers that every answer has, refusals too. */
export function protect(response: ServerResponse): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
}

/** A request that is not served: its status, and one sentence for a person. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

/**
 * Lets in who knows the token and speaks to us by our own address. A name that another site had resolved to this machine
 * (DNS rebinding) shows in `Host`, a page of another origin in `Origin`.
 */
export class Guard {
  readonly #token: Buffer;
  readonly #hosts: ReadonlySet<string>;

  constructor(token: string, port: number) {
    this.#token = digest(token);
    this.#hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`]);
  }

  /** @throws Refusal 403 a foreign host or origin, 401 no token or a wrong one */
  check(request: IncomingMessage, url: URL): void {
    const { host = '', origin, 'x-play-token': given } = request.headers;
    if (!this.#hosts.has(host)) throw new Refusal(403, 'This page answers to its own address only.');
    if (origin !== undefined && origin !== `http://${host}`)
      throw new Refusal(403, 'Another page may not ask this one.');
    const token = typeof given === 'string' ? given : (url.searchParams.get('token') ?? '');
    // Digests are equally long, so the comparison takes the same time whatever was given.
    if (!timingSafeEqual(digest(token), this.#token))
      throw new Refusal(401, 'Open the address that npm run play has printed, with its token.');
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
