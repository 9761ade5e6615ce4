import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { sha256 } from '../../../core/hash.ts';

/** A shorter secret can be guessed. */
const MIN_SECRET_LENGTH = 16;
/** How far the sender's clock may be from ours. Within this time, a repeat of a captured notification changes nothing. */
const MAX_SKEW_MS = 300_000;

export const isUsableSecret = (secret: string | undefined): secret is string =>
  secret !== undefined && secret.length >= MIN_SECRET_LENGTH;

/** Whether a request without a signature has the secret as its bearer token. */
export const hasBearer = ({ authorization = '' }: IncomingHttpHeaders, secret: string): boolean =>
  isEqual(/^Bearer +(.*\S) *$/i.exec(authorization)?.[1] ?? '', secret);

export const isSigned = (headers: IncomingHttpHeaders): boolean =>
  headers['x-grafana-alerting-signature'] !== undefined;

/**
 * Whether the body has Grafana's signature of the last five minutes: HMAC-SHA-256 over `TIMESTAMP:BODY`, in hexadecimal. Without a timestamp it
 * would hold for ever, so it is refused.
 * @see https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/
 */
export function hasSignature(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { secret, nowMs }: { readonly secret: string; readonly nowMs: number },
): boolean {
  const { 'x-grafana-alerting-signature': signature, 'x-grafana-alerting-timestamp': timestamp } = headers;
  if (typeof signature !== 'string' || typeof timestamp !== 'string' || !/^\d{10}$/.test(timestamp)) return false;
  if (Math.abs(nowMs - Number(timestamp) * 1_000) > MAX_SKEW_MS) return false;
  const expected = createHmac('sha256', secret).update(`${timestamp}:`).update(body).digest('hex');
  return isEqual(signature.toLowerCase(), expected);
}

/** Takes as long whatever differs: hashes have one length. */
const isEqual = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(one), 'hex'), Buffer.from(sha256(other), 'hex'));
