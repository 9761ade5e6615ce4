import type { HomeView } from '@slack/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { outcome, plainClient, startBolt } from './bolt-app.ts';

const home = (text: string): HomeView => ({
  type: 'home',
  blocks: [{ type: 'section', text: { type: 'plain_text', text } }],
});

let slack: LocalSlack;
/** The events that the app got. */
let heard: unknown[];
let stop: () => Promise<unknown>;

beforeEach(async () => {
  slack = await startLocalSlack({ rates: { off: true } });
  heard = [];
  const app = await startBolt(slack, 'http', (bolt) => {
    for (const name of ['app_home_opened', 'app_mention', 'message'])
      bolt.event(name, async ({ body }) => void heard.push(body));
  });
  stop = () => app.stop();
});
afterEach(async () => {
  await stop();
  await slack.stop();
  expect(slack.unknown).toEqual([]);
});

const publish = (text: string, hash?: string) =>
  plainClient(slack).views.publish({ user_id: 'U0ROY', view: home(text), ...(hash === undefined ? {} : { hash }) });

describe('the Home tab (docs.slack.dev, "views.publish")', () => {
  it('is not published for an app without one', async () => {
    Object.assign(slack.state.app, { hasHome: false });
    expect(await outcome(publish('hello'))).toBe('not_enabled');
  });

  it('is replaced only in the state that the hash names', async () => {
    const { view: first } = await publish('first');
    const { view: second } = await publish('second', first?.hash);
    expect(second?.id).toBe(first?.id);
    expect(await outcome(publish('third', first?.hash))).toBe('hash_conflict');
    expect(await outcome(publish('third'))).toBe('ok');
  });

  it('comes with the event once something was published, and with the Messages tab never', async () => {
    const opened = (tab: 'home' | 'messages') => slack.deliver.openHome({ user: 'U0ROY', tab });
    await opened('home');
    const { view } = await publish('hello');
    await opened('home');
    await opened('messages');
    expect(heard).toMatchObject([
      { event: { tab: 'home' } },
      { event: { tab: 'home', view: { type: 'home', id: view?.id, hash: view?.hash } } },
      { event: { tab: 'messages' } },
    ]);
    expect(heard.map((body) => 'view' in (body as { event: object }).event)).toEqual([false, true, false]);
  });
});

describe('a direct message (docs.slack.dev, "app_mention event", "message.im event")', () => {
  const at = { user: 'U0ROY', channel: 'D00ROY' };

  it('is no mention, also with one in it', async () => {
    slack.state.direct('U0ROY');
    await expect(slack.deliver.mention({ ...at, text: 'pod-1' })).rejects.toThrow('not dispatched via app_mention');
    await slack.deliver.type({ ...at, text: '@kdebug pod-1' });
    await slack.deliver.type({ ...at, text: 'pod-2' });
    expect(heard).toMatchObject([
      { event: { type: 'message', channel_type: 'im', text: `<@${slack.botUserId}> pod-1` } },
      { event: { type: 'message', channel_type: 'im', text: 'pod-2' } },
    ]);
  });

  it('with a file says so, and names it', async () => {
    const { files } = await slack.share({
      user: 'U0ROY',
      channel: slack.state.direct('U0ROY').id,
      name: 'a',
      content: 'x',
    });
    await slack.deliver.direct({ user: 'U0ROY', text: 'pod-1', files });
    expect(heard).toMatchObject([{ event: { subtype: 'file_share', files: [{ name: 'a' }] } }]);
  });
});

it('in an organisation, an event says which one, and which workspace the app is in', async () => {
  await slack.deliver.openHome({ user: 'U0ROY' });
  Object.assign(slack.team, { enterpriseId: 'E0ORG' });
  await slack.deliver.openHome({ user: 'U0ROY' });
  expect(heard[0]).not.toHaveProperty('enterprise_id');
  expect(heard[1]).toMatchObject({
    enterprise_id: 'E0ORG',
    context_team_id: 'T0LOCAL',
    context_enterprise_id: 'E0ORG',
  });
});
