import { WebAPIPlatformError } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { isAboutShape, troubleOf } from '../../../src/adapters/slack/errors.ts';
import slackErrors from '../../fixtures/slack-errors.json' with { type: 'json' };

const codeOf = (error: string): string => {
  const trouble = troubleOf(new WebAPIPlatformError({ ok: false, error }));
  return trouble.kind === 'error' ? trouble.error.code : trouble.kind;
};

/**
 * The words on the pages of the methods that kdebug calls, by method: docs.slack.dev as of 2026-08-20, collected in slack-ruby/slack-api-ref.
 * A word that is new there needs a row here, so that somebody decides what it means.
 */
const BY_METHOD: Readonly<Record<string, readonly string[]>> = slackErrors;
const WORDS = [...new Set(Object.values(BY_METHOD).flat())].sort();

const MEANT: Readonly<Record<string, string>> = {
  limited: 'rate_limited ratelimited',
  slack_channel_closed:
    'access_denied app_access_restricted channel_is_limited_access channel_not_found ekm_access_denied invalid_channel' +
    ' invalid_user_combination is_archived is_inactive message_limit_exceeded messages_tab_disabled no_permission not_in_channel' +
    ' posting_to_channel_denied restricted_action restricted_action_read_only_channel restricted_action_thread_only_channel' +
    ' team_not_found too_many_contact_cards user_disabled user_not_found user_not_in_channel user_not_visible',
  slack_message_gone: 'message_not_found thread_not_found',
  slack_refused:
    'accesslimited alt_txt_too_large as_user_not_supported attachment_payload_limit_exceeded block_mismatch blocked_file_type' +
    ' bot_not_found bots_not_found cant_broadcast_message cant_update_message canvas_disabled_file_team canvas_disabled_user_team' +
    ' canvas_globally_disabled channels_limit_exceeded deprecated_endpoint draft_already_deleted draft_already_sent draft_has_conflict' +
    ' draft_not_found duplicate_channel_not_found duplicate_external_id duplicate_message_not_found edit_window_closed' +
    ' enterprise_is_restricted exchanged_trigger_id expired_trigger_id file_deleted file_is_deleted file_not_found' +
    ' file_share_limit_reached file_type_not_allowed file_upload_size_restricted file_uploads_disabled' +
    ' file_uploads_except_images_disabled forbidden_team hash_conflict insecure_request invalid_arg_name invalid_array_arg' +
    ' invalid_attachments invalid_blocks invalid_blocks_format invalid_charset invalid_cursor invalid_form_data invalid_limit' +
    ' invalid_metadata_filter_keys invalid_metadata_format invalid_metadata_schema invalid_post_type invalid_trigger_id' +
    ' invalid_ts_latest invalid_ts_oldest invalid_types is_bot list_record_comment_fetch_failed markdown_text_conflict' +
    ' max_file_sharing_exceeded metadata_must_be_sent_from_app metadata_too_large method_deprecated' +
    ' method_not_supported_for_channel_type missing_args missing_argument missing_file_data missing_post_type missing_profile_id' +
    ' missing_scope msg_blocks_too_long msg_too_long no_dual_broadcast_content_update no_such_subteam no_text not_allowed_token_type' +
    ' not_enabled not_enough_users not_found not_implemented not_visible org_login_required plan_upgrade_required' +
    ' send_on_behalf_not_allowed slack_connect_blocked_file_type slack_connect_canvas_sharing_blocked' +
    ' slack_connect_clip_sharing_blocked slack_connect_file_link_sharing_blocked slack_connect_file_upload_sharing_blocked' +
    ' slack_connect_lists_sharing_blocked snippet_too_large storage_limit_reached streaming_state_conflict template_not_visible' +
    ' too_many_attachments too_many_users unable_to_share_files unknown_method unknown_snippet_type unknown_subtype' +
    ' users_list_not_supplied view_too_large',
  slack_thread_closed:
    'cannot_reply_to_message restricted_action_non_threadable_channel restricted_action_thread_locked',
  slack_token_rejected:
    'account_inactive invalid_auth not_authed token_expired token_revoked two_factor_setup_required',
  slack_unanswered:
    'external_channel_migrating fatal_error fetch_members_failed file_update_failed internal_error request_timeout service_unavailable' +
    ' team_added_to_org update_failed',
};

it('every word that Slack lists for a method that kdebug calls has a meaning here', () => {
  expect(WORDS.filter((word) => !Object.values(MEANT).some((words) => words.split(' ').includes(word)))).toEqual([]);
});

it.each(Object.entries(MEANT))('%s: %s', (code, words) => {
  expect(words.split(' ').map((word) => [word, codeOf(word)])).toEqual(words.split(' ').map((word) => [word, code]));
});

/** Each from the list of errors on a method's own page at docs.slack.dev. */
describe("Slack's words", () => {
  it.each([
    ['files.completeUploadExternal', 'invalid_channel', 'slack_channel_closed'],
    ['files.completeUploadExternal', 'file_update_failed', 'slack_unanswered'],
    ['files.completeUploadExternal', 'file_type_not_allowed', 'slack_refused'],
    ['files.getUploadURLExternal', 'storage_limit_reached', 'slack_refused'],
    ['conversations.open', 'user_not_visible', 'slack_channel_closed'],
    ['conversations.open', 'invalid_user_combination', 'slack_channel_closed'],
    ['conversations.members', 'fetch_members_failed', 'slack_unanswered'],
    ['chat.update', 'update_failed', 'slack_unanswered'],
    ['chat.update', 'edit_window_closed', 'slack_refused'],
    ['chat.postMessage', 'rate_limited', 'limited'],
    ['chat.postMessage', 'a_word_of_tomorrow', 'slack_refused'],
    ['nothing: a hostile Slack', 'constructor', 'slack_refused'],
    ['nothing: a hostile Slack', '__proto__', 'slack_refused'],
  ])('of %s: %s means %s', (_method, error, code) => {
    expect(codeOf(error)).toBe(code);
  });

  it.each(['msg_blocks_too_many', 'attachment_payload_limit_exceeded', 'msg_blocks_too_long'])(
    '%s is about the shape: a simpler message may pass',
    (error) => {
      const trouble = troubleOf(new WebAPIPlatformError({ ok: false, error }));
      expect(trouble.kind === 'error' && isAboutShape(trouble.error)).toBe(true);
    },
  );

  it('an update that would take rich text away is about the shape', () => {
    const trouble = troubleOf(new WebAPIPlatformError({ ok: false, error: 'block_mismatch' }));
    expect(trouble.kind === 'error' && isAboutShape(trouble.error)).toBe(true);
  });
});
