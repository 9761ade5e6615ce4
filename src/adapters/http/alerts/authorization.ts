import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { hmacSha256, sha256 } from '../../../core/hash.ts';

/** The sender's clock may differ from ours by at most this. Within this time, a repeat of a captured notification changes nothing. */
const MAX_SKEW_MS = 300_000;

/** True if a request has the secret as its bearer token. */
export const hasBearer = ({ authorization = '' }: IncomingHttpHeaders, secret: string): boolean =>
  // Anybody may send this header: a pattern that looks for the token's end would take a second for 16 KiB of blanks.
  isEqual(/^Bearer /i.test(authorization) ? authorization.slice('Bearer '.length).trim() : '', secret);

export const isSigned = (headers: IncomingHttpHeaders): boolean =>
  headers['x-grafana-alerting-signature'] !== undefined;

/**
 * When the body was signed, if it has Grafana's signature of the last five minutes: HMAC-SHA-256 over `TIMESTAMP:BODY`, in hexadecimal. Without a
 * timestamp it would hold for ever, so it is refused.
 * @see https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/
 */
export function signedAtMs(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { secret, nowMs }: { readonly secret: string; readonly nowMs: number },
): number | undefined {
  const { 'x-grafana-alerting-signature': signature, 'x-grafana-alerting-timestamp': timestamp } = headers;
  if (typeof signature !== 'string' || typeof timestamp !== 'string' || !/^\d{10}$/.test(timestamp)) return undefined;
  const atMs = Number(timestamp) * 1_000;
  if (Math.abs(nowMs - atMs) > MAX_SKEW_MS) return undefined;
  const isOurs = isEqual(signature.toLowerCase(), hmacSha256(Buffer.from(secret), `${timestamp}:`, body));
  return isOurs ? atMs : undefined;
}

/** Takes as long whatever differs: hashes have one length. */
const isEqual = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(one), 'hex'), Buffer.from(sha256(other), 'hex'));
