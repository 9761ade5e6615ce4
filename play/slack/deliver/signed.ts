import { createHmac } from 'node:crypto';

/** Ways to be wrong on purpose. */
export interface Forgery {
  /** `wrong`: signed with another secret; `missing`: no signature header. Default `good`. */
  readonly signature?: 'good' | 'wrong' | 'missing';
  /** Added to the timestamp before signing: −301 is stale, +301 from the future. */
  readonly timestampOffsetSeconds?: number;
  /** Changes the body after it was signed. */
  readonly tamper?: (body: string) => string;
}

/** One request as bytes; sending it twice is a replay. */
export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Slack's signature, version v0: HMAC-SHA256 of `v0:timestamp:body` (docs.slack.dev, "Verifying requests"). */
export function sign(secret: string, timestamp: string, body: string): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
}

export function signedRequest(
  secret: string,
  nowMs: number,
  content: { type: string; body: string },
  forgery: Forgery,
): SignedRequest {
  const timestamp = String(Math.floor(nowMs / 1000) + (forgery.timestampOffsetSeconds ?? 0));
  const signature = sign(forgery.signature === 'wrong' ? `not ${secret}` : secret, timestamp, content.body);
  return {
    headers: {
      'content-type': content.type,
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      'x-slack-request-timestamp': timestamp,
      ...(forgery.signature === 'missing' ? {} : { 'x-slack-signature': signature }),
    },
    body: forgery.tamper?.(content.body) ?? content.body,
  };
}
