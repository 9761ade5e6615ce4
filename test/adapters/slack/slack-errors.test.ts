import { WebAPIPlatformError } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { isAboutShape, troubleOf } from '../../../src/adapters/slack/errors.ts';

const codeOf = (error: string): string => {
  const trouble = troubleOf(new WebAPIPlatformError({ ok: false, error }));
  return trouble.kind === 'error' ? trouble.error.code : trouble.kind;
};

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

  it('an update that would take rich text away is about the shape', () => {
    const trouble = troubleOf(new WebAPIPlatformError({ ok: false, error: 'block_mismatch' }));
    expect(trouble.kind === 'error' && isAboutShape(trouble.error)).toBe(true);
  });
});
