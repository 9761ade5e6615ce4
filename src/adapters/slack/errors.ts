import { ErrorCode, WebAPIPlatformError, WebAPIRateLimitedError } from '@slack/web-api';
import { KdebugError, type ReasonCode } from '../../core/errors.ts';

export type Trouble =
  /** Refused before anything happened; the call may go again after this time. */
  { readonly kind: 'limited'; readonly retryAfterMs: number } | { readonly kind: 'error'; readonly error: KdebugError };

const DEFAULT_RETRY_AFTER_S = 30;

const CODES: Readonly<Record<string, ReasonCode>> = {
  message_not_found: 'slack_message_gone',
  thread_not_found: 'slack_message_gone',
  invalid_thread_ts: 'slack_message_gone',
  thread_locked: 'slack_thread_closed',
  cannot_reply_to_message: 'slack_thread_closed',
  restricted_action_thread_locked: 'slack_thread_closed',
  restricted_action_non_threadable_channel: 'slack_thread_closed',
  channel_not_found: 'slack_channel_closed',
  invalid_channel: 'slack_channel_closed',
  channel_is_limited_access: 'slack_channel_closed',
  is_archived: 'slack_channel_closed',
  is_inactive: 'slack_channel_closed',
  not_in_channel: 'slack_channel_closed',
  user_not_in_channel: 'slack_channel_closed',
  posting_to_channel_denied: 'slack_channel_closed',
  restricted_action: 'slack_channel_closed',
  restricted_action_read_only_channel: 'slack_channel_closed',
  restricted_action_thread_only_channel: 'slack_channel_closed',
  no_permission: 'slack_channel_closed',
  access_denied: 'slack_channel_closed',
  team_access_not_granted: 'slack_channel_closed',
  ekm_access_denied: 'slack_channel_closed',
  message_limit_exceeded: 'slack_channel_closed',
  // For this app, nothing opens again until an administrator lets it; the log has the word.
  app_access_restricted: 'slack_channel_closed',
  team_not_found: 'slack_channel_closed',
  too_many_contact_cards: 'slack_channel_closed',
  // For direct messages.
  messages_tab_disabled: 'slack_channel_closed',
  cannot_dm_bot: 'slack_channel_closed',
  user_disabled: 'slack_channel_closed',
  user_not_found: 'slack_channel_closed',
  user_not_visible: 'slack_channel_closed',
  invalid_user_combination: 'slack_channel_closed',
  // Retried for a while: an operator, or time, may fix these.
  missing_scope: 'slack_refused',
  org_login_required: 'slack_refused',
  plan_upgrade_required: 'slack_refused',
  // For updates: the message stays unchanged.
  cant_update_message: 'slack_refused',
  edit_window_closed: 'slack_refused',
  // For files: the text is posted without them.
  slack_connect_file_link_sharing_blocked: 'slack_refused',
  invalid_auth: 'slack_token_rejected',
  not_authed: 'slack_token_rejected',
  account_inactive: 'slack_token_rejected',
  token_revoked: 'slack_token_rejected',
  token_expired: 'slack_token_rejected',
  two_factor_setup_required: 'slack_token_rejected',
  // With these two and the first three, Slack's own client of Socket Mode gives up for good.
  user_removed_from_team: 'slack_token_rejected',
  team_disabled: 'slack_token_rejected',
  // Slack's docs of these: "it's possible some aspect of the operation succeeded".
  internal_error: 'slack_unanswered',
  fatal_error: 'slack_unanswered',
  service_unavailable: 'slack_unanswered',
  request_timeout: 'slack_unanswered',
  // A migration: nothing is possible until it is over, then all of it is.
  external_channel_migrating: 'slack_unanswered',
  team_added_to_org: 'slack_unanswered',
  // Slack's docs report a failure on its side, but not how far the call got.
  update_failed: 'slack_unanswered',
  file_update_failed: 'slack_unanswered',
  fetch_members_failed: 'slack_unanswered',
};

/** Slack's errors look like this. Anything else is the client's description of a body that is not JSON. */
const ERROR_STRING = /^[a-z0-9_.]{1,80}$/i;

/** Classifies by error string, status and kind; never by a message. */
export function troubleOf(thrown: unknown): Trouble {
  if (thrown instanceof WebAPIRateLimitedError) return limited(thrown.retryAfter);
  if (thrown instanceof WebAPIPlatformError) return platformTrouble(thrown);
  if (thrown instanceof KdebugError) return { kind: 'error', error: thrown };
  return {
    kind: 'error',
    error: new KdebugError('slack_unanswered', { facts: { kind: kindOf(thrown) }, cause: thrown }),
  };
}

function platformTrouble(thrown: WebAPIPlatformError): Trouble {
  const { error, response_metadata: metadata } = thrown.data;
  if (typeof error !== 'string' || !ERROR_STRING.test(error)) {
    return { kind: 'error', error: new KdebugError('slack_unanswered', { facts: { kind: 'not_json' } }) };
  }
  if (error === 'ratelimited' || error === 'rate_limited') return limited(metadata?.retryAfter);
  return {
    kind: 'error',
    error: new KdebugError(codeOf(error), { detail: error, facts: { error } }),
  };
}

/** Own words only: `constructor` is no code. */
const codeOf = (error: string): ReasonCode => (Object.hasOwn(CODES, error) && CODES[error]) || 'slack_refused';

const limited = (seconds: number | undefined): Trouble => ({
  kind: 'limited',
  retryAfterMs: 1000 * Math.max(1, seconds ?? DEFAULT_RETRY_AFTER_S),
});

function kindOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'unknown';
  if ('code' in thrown && thrown.code === ErrorCode.HTTPError && 'statusCode' in thrown)
    return `http_${String(thrown.statusCode)}`;
  return 'network';
}

const TOO_BIG = new Set([
  'msg_too_long',
  'msg_blocks_too_long',
  'msg_blocks_too_many',
  'attachment_payload_limit_exceeded',
  'invalid_blocks',
  'invalid_blocks_format',
  // For updates: "rich-text blocks cannot be replaced with non-rich-text blocks".
  'block_mismatch',
]);

/** Slack refused the shape of a message, so a simpler one may pass. */
export const isAboutShape = (thrown: unknown): boolean =>
  thrown instanceof KdebugError && thrown.code === 'slack_refused' && TOO_BIG.has(String(thrown.facts.error));

/**
 * Calls the Web API once, at once, outside the poster's queue.
 * @throws KdebugError slack_unreachable (no answer, or a rate limit), slack_token_rejected, slack_refused (fact `error`)
 */
export async function callSlack<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (thrown) {
    const trouble = troubleOf(thrown);
    if (trouble.kind === 'error' && trouble.error.code !== 'slack_unanswered') throw trouble.error;
    throw new KdebugError('slack_unreachable', { cause: thrown });
  }
}
