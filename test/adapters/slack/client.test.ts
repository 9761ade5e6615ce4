import { expect, it } from 'vitest';
import { isSlackUrl } from '../../../src/adapters/slack/client.ts';

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
