import { WebClient } from '@slack/web-api';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { outcome, plainClient, quiet } from './bolt-app.ts';

let slack: LocalSlack;

beforeEach(async () => {
  slack = await startLocalSlack();
});
afterEach(() => slack.stop());

const impatient = () =>
  new WebClient(slack.botToken, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    timeout: 150,
    logger: quiet,
  });
const post = (client = plainClient(slack)) => outcome(client.chat.postMessage({ channel: 'C0SHOP', text: 'x' }));

it.each([
  ['http_500', 'slack_webapi_http_error', 0],
  ['http_503', 'slack_webapi_http_error', 0],
  ['reset_before', 'slack_webapi_request_error', 0],
  ['reset_after_commit', 'slack_webapi_request_error', 1],
  ['token_revoked', 'token_revoked', 0],
  ['ratelimited', 'slack_webapi_rate_limited_error', 0],
])('%s is seen as %s and leaves %i messages', async (kind, seen, messages) => {
  slack.faults.queue({ method: 'chat.postMessage', kind });
  expect(await post()).toBe(seen);
  expect(slack.messages('C0SHOP')).toHaveLength(messages);
  expect(slack.faults.hits).toBe(1);
  expect(await post()).toBe('ok');
});

it('truncated_json commits and answers half', async () => {
  slack.faults.queue({ method: 'chat.postMessage', kind: 'truncated_json' });
  const body = new URLSearchParams({ token: slack.botToken, channel: 'C0SHOP', text: 'x' });
  const response = await fetch(`${slack.apiUrl}chat.postMessage`, { method: 'POST', body });
  await expect(response.json()).rejects.toThrow(SyntaxError);
  expect(slack.messages('C0SHOP')).toHaveLength(1);
});

it.each([
  ['hang', 0],
  ['hang_after_commit', 1],
])('%s never answers and leaves %i messages', async (kind, messages) => {
  slack.faults.queue({ method: 'chat.postMessage', kind });
  expect(await post(impatient())).toMatch(/request_error/);
  expect(slack.messages('C0SHOP')).toHaveLength(messages);
});

it('slow answers late, and truly', async () => {
  slack.faults.queue({ method: 'chat.postMessage', kind: 'slow', ms: 120 });
  const begun = performance.now();
  expect(await post()).toBe('ok');
  expect(performance.now() - begun).toBeGreaterThan(110);
});

it('faults skip, repeat, and match any method; Retry-After is the one asked for', async () => {
  slack.faults.queue({ method: '*', kind: 'ratelimited', skip: 1, times: 2, retryAfterSeconds: 30 });
  expect(await post()).toBe('ok');
  const refused = await plainClient(slack)
    .chat.postMessage({ channel: 'C0SHOP', text: 'x' })
    .catch((error) => error.retryAfter);
  expect(refused).toBe(30);
  expect(await outcome(plainClient(slack).auth.test())).toBe('slack_webapi_rate_limited_error');
  expect(await post()).toBe('ok');
});

it('every request is on record with its status, without the token', async () => {
  slack.faults.queue({ method: 'chat.postMessage', kind: 'http_500' });
  await post();
  await post();
  await outcome(plainClient(slack).chat.postMessage({ channel: 'C0NOWHERE', text: 'x' }));
  expect(slack.requests('chat.postMessage')).toMatchObject([
    { status: 500, ok: false },
    { status: 200, ok: true, args: { channel: 'C0SHOP', text: 'x' } },
    { status: 200, ok: false, error: 'channel_not_found' },
  ]);
  expect(JSON.stringify(slack.requests())).not.toContain(slack.botToken);
  expect(slack.requestCounts.get('chat.postMessage')).toBe(3);
});
