import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { installed } from '../../slack/manifest.ts';
import { outcome, plainClient } from './bolt-app.ts';

let slack: LocalSlack;

beforeEach(async () => {
  slack = await startLocalSlack({ rates: { off: true } });
});
afterEach(async () => {
  await slack.stop();
  expect(slack.unknown).toEqual([]);
});

it('the token has the scopes of slack-app.yml and no others, and every answer names them', async () => {
  expect(installed().scopes).toContain('chat:write');
  const { response_metadata: metadata } = await plainClient(slack).auth.test();
  expect(metadata?.scopes).toEqual(installed().scopes);
  const { ts } = slack.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'hi' });
  const react = plainClient(slack).reactions.add({ channel: 'C0SHOP', timestamp: ts, name: 'eyes' });
  expect(await outcome(react)).toBe('missing_scope');
});

it.each([
  ['public', 'C0SHOP', 'channels:history'],
  ['private', 'C0SECRET', 'groups:history'],
  ['direct', 'D00ROY', 'im:history'],
])('the kind of conversation decides the scope: %s', async (_kind, channel, scope) => {
  const narrow = await startLocalSlack({ scopes: installed().scopes.filter((one) => one !== scope) });
  const wide = await startLocalSlack({ scopes: [...installed().scopes, scope] });
  for (const one of [narrow, wide]) one.state.direct('U0ROY');
  const look = (one: LocalSlack) => outcome(plainClient(one).conversations.history({ channel }));
  expect(await look(narrow)).toBe('missing_scope');
  expect(await look(wide)).toBe('ok');
  await Promise.all([narrow.stop(), wide.stop()]);
});

it('an organisation-wide installation has the organisation as its team', async () => {
  slack.team.enterpriseId = 'E0ORG';
  slack.team.isEnterpriseInstall = true;
  expect(await plainClient(slack).auth.test()).toMatchObject({ team_id: 'E0ORG', is_enterprise_install: true });
});

it('shortcuts do not name the app they are for; commands and buttons do', async () => {
  const payloads: Record<string, unknown>[] = [];
  slack.changes.on('change', (change) => {
    if (change.kind === 'delivered') payloads.push(change.payload);
  });
  const { ts } = slack.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1' });
  await slack.deliver.shortcut({ user: 'U0ROY', channel: 'C0SHOP', ts, callbackId: 'debug-pod' });
  await slack.deliver.shortcut({ user: 'U0ROY', callbackId: 'debug-pod' });
  await slack.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'help' });
  expect(payloads.map((one) => one.api_app_id)).toEqual([undefined, undefined, slack.appId]);
});
