import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/adapters/metrics/index.ts';
import { createClient, isSlackUrl, timed } from '../../../src/adapters/slack/client.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { samplesOf } from '../../support/metric-lines.ts';
import { RecordingLog } from './harness.ts';

const SLACK = 'https://slack.com/api/';

it.each([
  ['https://hooks.slack.com/commands/T1/2/3', SLACK, true],
  ['https://files.slack.com/upload/v1/x', SLACK, true],
  ['https://hooks.slack-gov.com/x', SLACK, true],
  ['http://127.0.0.1:9000/hooks/x', 'http://127.0.0.1:9000/api/', true],
  ['http://127.0.0.1:9001/hooks/x', 'http://127.0.0.1:9000/api/', false],
  ['http://hooks.slack.com/x', SLACK, false],
  ['https://evilslack.com/x', SLACK, false],
  ['https://slack.com.evil.example/x', SLACK, false],
  ['https://evil.example/slack.com', SLACK, false],
  ['https://hooks.slack.com@evil.example/x', SLACK, false],
  ['https://user:pw@hooks.slack.com/x', SLACK, false],
  ['ftp://hooks.slack.com/x', SLACK, false],
  ['//hooks.slack.com/x', SLACK, false],
  ['', SLACK, false],
])('%s beside %s may be called: %s', (url, apiUrl, may) => {
  expect(isSlackUrl(url, apiUrl)).toBe(may);
});

describe('a call of the Web API', () => {
  const json = (body: unknown) =>
    new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });

  it.each([
    ['ok', async () => json({ ok: true })],
    ['channel_not_found', async () => json({ ok: false, error: 'channel_not_found' })],
    ['rate_limited', async () => new Response(null, { status: 429 })],
    ['http_502', async () => new Response('a page', { status: 502 })],
    ['network', () => Promise.reject(new TypeError('fetch failed'))],
  ])('counts as %s, with its time', async (result, answer) => {
    const clock = new FakeClock();
    const metrics = createMetrics({ clock, ofProcess: false });
    const send = async () => {
      await clock.advance(30);
      return answer();
    };
    const around = timed((_, call) => call(), clock, metrics);
    const client = createClient('xoxb-1', SLACK, new RecordingLog(), { send, around });
    await client.chat.postMessage({ channel: 'C0SHOP', text: 'a' }).catch(() => undefined);
    const labels = `{api="slack",method="chat.postMessage",result="${result}"}`;
    expect(await samplesOf(metrics, 'api_call')).toEqual([
      `api_call_seconds_sum${labels} 0.03`,
      `api_call_seconds_count${labels} 1`,
    ]);
    expect(await samplesOf(metrics, 'slack_rate_limited')).toEqual(
      result === 'rate_limited' ? ['slack_rate_limited_total{method="chat.postMessage"} 1'] : [],
    );
  });
});
