import type { Json } from '../state/message.ts';

/** An answer `{ok: false, error}` with HTTP 200, in Slack's own words. */
export class SlackError extends Error {
  readonly code: string;
  readonly extra: Json;

  constructor(code: string, extra: Json = {}) {
    super(code);
    this.code = code;
    this.extra = extra;
  }
}

/** The usual answer for a missing or misshapen argument: the reasons ride in `response_metadata.messages`. */
export function invalidArguments(...reasons: string[]): SlackError {
  return new SlackError('invalid_arguments', {
    response_metadata: { messages: reasons.map((reason) => `[ERROR] ${reason}`) },
  });
}
