import type { Answer } from '../serve/http.ts';
import { rateLimited } from '../serve/http.ts';
import type { Rates } from '../serve/rates.ts';
import type { SlackState } from '../state/state.ts';
import { missingScope } from './access.ts';
import { type Args, optional } from './args.ts';
import type { Call, Method, Token } from './method.ts';
import { SlackError } from './slack-error.ts';

/** The token of a request: a bearer header, or (in forms) the `token` argument. @throws SlackError not_authed, invalid_auth */
function authenticate(slack: SlackState, authorization: string | undefined, args: Args): Token {
  const token = authorization?.replace(/^Bearer /i, '') ?? optional(args, 'token');
  if (token === undefined || token === '') throw new SlackError('not_authed');
  if (token === slack.app.botToken) return { kind: 'bot', scopes: slack.app.scopes };
  if (token === slack.app.appToken) return { kind: 'app', scopes: slack.app.appScopes };
  throw new SlackError('invalid_auth');
}

/** Runs one method as Slack would: token's kind, scopes, rate, then the work. Never throws a SlackError. */
export function invoke(
  method: Method,
  call: Omit<Call, 'token'>,
  authorization: string | undefined,
  rates: Rates,
): Answer {
  let headers: Record<string, string> = {};
  try {
    const token = authenticate(call.slack, authorization, call.args);
    headers = { 'x-oauth-scopes': token.scopes.join(','), 'x-accepted-oauth-scopes': method.scopes.join(',') };
    if (method.token !== 'any' && method.token !== token.kind) throw new SlackError('not_allowed_token_type');
    const wait = rates.take(method, call.args);
    if (wait !== undefined) return { ...rateLimited(wait), headers: { ...headers, 'retry-after': String(wait) } };
    if (method.scopes.length > 0 && !method.scopes.some((scope) => token.scopes.includes(scope))) {
      throw missingScope(method.scopes, token.scopes);
    }
    return { status: 200, headers, body: { ok: true, ...method.run({ ...call, token }) } };
  } catch (error) {
    if (error instanceof SlackError) return { status: 200, headers, body: refusal(error) };
    throw error;
  }
}

function refusal(error: SlackError): Record<string, unknown> {
  return { ok: false, error: error.code, ...error.extra };
}
