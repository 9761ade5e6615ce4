import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSlack } from '../../../src/adapters/slack/index.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import type { Answer } from '../../../src/flow/ports/slack.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { NOTHING, RecordingLog, realClock, saying, says, startWorld, type World } from './harness.ts';

const ROY = { user: 'U0ROY', channel: 'C0SHOP' };

describe.each(['http', 'socket'] as const)('over %s', (kind) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(kind);
  });
  afterEach(async () => {
    await world.stop();
    expect(world.local.unknown).toEqual([]);
  });

  it('a command is stored before it is acknowledged, with all that the flow needs', async () => {
    let acknowledged = false;
    let whenStored: boolean | undefined;
    world.inbox.answer = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      whenStored = acknowledged;
      return NOTHING;
    };
    const delivery = await world.local.deliver.command({ ...ROY, text: 'pod-1234 --image=autodiagnose' });
    acknowledged = true;
    expect(whenStored).toBe(false);
    expect(delivery).toMatchObject({ status: 200, body: '' });
    expect(world.inbox.commands).toEqual([
      {
        words: 'pod-1234 --image=autodiagnose',
        origin: {
          source: 'slash',
          dedupeKey: expect.stringMatching(/^[0-9a-f]{64}$/),
          teamId: 'T0LOCAL',
          channelId: 'C0SHOP',
          requesterId: 'U0ROY',
          responseUrl: expect.stringContaining(world.local.origin),
          receivedAtMs: expect.any(Number),
        },
      },
    ]);
  });

  it('an empty command goes to the inbox like any other', async () => {
    await world.local.deliver.command({ ...ROY, text: '' });
    expect(world.inbox.commands[0]?.words).toBe('');
  });

  it('the answer rides on the acknowledgement, to that person only', async () => {
    world.inbox.answer = async () => says('no such pod <!channel>');
    const delivery = await world.local.deliver.command({ ...ROY, text: 'nope' });
    expect(delivery.body).toMatchObject({ response_type: 'ephemeral', text: 'no such pod &lt;!channel&gt;' });
    expect(world.local.ephemerals('U0ROY')).toHaveLength(1);
    expect(world.local.requests('chat.postEphemeral')).toHaveLength(0);
  });

  it('an inbox that refuses is an honest private answer with its code', async () => {
    world.inbox.answer = () => Promise.reject(new KdebugError('channel_unknown'));
    const delivery = await world.local.deliver.command({ ...ROY, text: 'x' });
    expect(delivery.status).toBe(200);
    expect(JSON.stringify(delivery.body)).toContain('channel_unknown');
    expect(JSON.stringify(delivery.body)).toContain('this channel is not in the policy');
  });

  it('the same request delivered again has the same key; the same words typed again have another', async () => {
    const first = await world.local.deliver.command({ ...ROY, text: 'pod-1' });
    await world.local.deliver.again(first, { retry: { attempt: 1, reason: 'http_timeout' } });
    await world.local.deliver.command({ ...ROY, text: 'pod-1' });
    const keys = world.inbox.commands.map(({ origin }) => origin.dedupeKey);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it('a mention in a thread is the words after it, for that thread', async () => {
    const root = world.local.deliver.say({ ...ROY, text: 'an alert' });
    const delivery = await world.local.deliver.mention({
      ...ROY,
      text: 'pod-1234 --image=autodiagnose',
      threadTs: root.ts,
    });
    await world.local.deliver.again(delivery, { retry: { attempt: 1, reason: 'http_timeout' } });
    expect(delivery.status).toBe(200);
    expect(world.inbox.commands[0]).toMatchObject({
      words: 'pod-1234 --image=autodiagnose',
      origin: { source: 'mention', channelId: 'C0SHOP', threadTs: root.ts, requesterId: 'U0ROY' },
    });
    expect(world.inbox.commands[1]?.origin.dedupeKey).toBe(world.inbox.commands[0]?.origin.dedupeKey);
  });

  it('a mention outside threads begins one, and its private answer stands beside it', async () => {
    world.inbox.answer = async () => says('private');
    await world.local.deliver.mention({ ...ROY, text: 'pod-1234' });
    const { origin } = await world.local.until(() => world.inbox.commands[0]);
    const asked = world.local.messages('C0SHOP').find(({ text }) => text.includes('pod-1234'));
    expect(origin).toMatchObject({ source: 'mention', threadTs: asked?.ts, beginsThread: true });
    const told = await world.local.until(() => world.local.ephemerals('U0ROY').at(-1));
    expect(told.threadTs).toBeUndefined();
  });

  it('a command in a group message says so', async () => {
    const override = { channel_id: 'C0MPDM', channel_name: 'mpdm-roy--bob-1' };
    await world.local.deliver.command({ ...ROY, text: 'pod-1', override });
    expect(world.inbox.commands[0]?.origin).toMatchObject({ channelId: 'C0MPDM', inGroupMessage: true });
  });

  it('a mention is acknowledged only after it was stored', async () => {
    let store: () => void = () => undefined;
    world.inbox.answer = () =>
      new Promise((resolve) => {
        store = () => resolve(NOTHING);
      });
    let isAcknowledged = false;
    const delivery = world.local.deliver.mention({ ...ROY, text: 'pod-1234' }).then((done) => {
      isAcknowledged = true;
      return done;
    });
    await expect.poll(() => world.inbox.commands.length).toBe(1);
    expect(isAcknowledged).toBe(false);
    store();
    expect((await delivery).status).toBe(200);
  });

  it('a mention is answered privately when it cannot be taken', async () => {
    world.inbox.answer = () => Promise.reject(new KdebugError('store_unreachable'));
    const delivery = await world.local.deliver.mention({ ...ROY, text: 'pod-1234' });
    expect(delivery.status).toBe(200);
    const told = await world.local.until(() => world.local.ephemerals('U0ROY')[0]);
    expect(JSON.stringify(told.blocks)).toContain('store_unreachable');
  });

  it('a click carries the verb and the id, and its answer is private', async () => {
    const button = { action: 'pause', label: 'Stop', value: 'abcdefgh23' } as const;
    const message = { ...saying('running'), parts: [{ kind: 'actions' as const, buttons: [button] }] };
    const ref = await world.slack.thread.post({ channelId: 'C0SHOP' }, message, {
      run: 'abcdefgh23',
      kind: 'anchor',
      seq: 1,
    });
    world.inbox.answer = async () => says('only the requester may stop it');
    const delivery = await world.local.deliver.action({ ...ROY, ts: ref.ts, actionId: 'pause' });
    expect(delivery.status).toBe(200);
    expect(world.inbox.clicks).toEqual([
      {
        action: 'pause',
        value: 'abcdefgh23',
        teamId: 'T0LOCAL',
        userId: 'U0ROY',
        channelId: 'C0SHOP',
        messageTs: ref.ts,
        dedupeKey: expect.any(String),
      },
    ]);
    const told = await world.local.until(() => world.local.ephemerals('U0ROY')[0]);
    expect(told.text).toBe('only the requester may stop it');
    expect(world.local.message('C0SHOP', ref.ts)?.revisions).toBe(0);
  });

  describe('nothing of others is taken', () => {
    it.each([
      ['another team', { team_id: 'T0OTHER' }],
      ['another app', { api_app_id: 'A0OTHER' }],
    ])('a command of %s', async (_who, override) => {
      const delivery = await world.local.deliver.command({ ...ROY, text: 'pod-1', override });
      expect(delivery.status).toBe(200);
      expect(JSON.stringify(delivery.body)).toMatch(/slack_not_our_team/);
      expect(world.inbox.commands).toEqual([]);
    });

    it('a command of no team at all is not acknowledged', async () => {
      const delivery = await world.local.deliver.command({ ...ROY, text: 'pod-1', override: { team_id: '' } });
      expect(delivery.status).toBe(kind === 'http' ? 400 : 0);
      expect(world.inbox.commands).toEqual([]);
    });

    it.each([
      ['another team', { team_id: 'T0OTHER' }],
      ['another app', { api_app_id: 'A0OTHER' }],
      ['a guest of a shared channel', { event: mention({ user: 'U0STRANGER', user_team: 'T0OTHER' }) }],
      ['a bot', { event: mention({ user: 'U0ROBOT', bot_id: 'B0ROBOT' }) }],
      ['ourselves', { event: mention({ user: 'U0KDEBUG' }) }],
      ['nobody', { event: mention({ user: undefined }) }],
    ])('a mention by %s', async (_who, override) => {
      const delivery = await world.local.deliver.mention({ ...ROY, text: 'pod-1', override });
      expect(delivery.status).toBe(200);
      expect(world.inbox.commands).toEqual([]);
    });

    it.each([
      ['another team', { team: { id: 'T0OTHER', domain: 'other' } }],
      ['another team in a shared channel', { user: { id: 'U0STRANGER', team_id: 'T0OTHER' } }],
      ['another app', { api_app_id: 'A0OTHER' }],
    ])('a click of %s', async (_who, override) => {
      const message = {
        ...saying('m'),
        parts: [{ kind: 'actions' as const, buttons: [{ action: 'pause' as const, label: 'Stop', value: 'x' }] }],
      };
      const ref = await world.slack.thread.post({ channelId: 'C0SHOP' }, message, { run: 'x', kind: 'anchor', seq: 1 });
      await world.local.deliver.action({ ...ROY, ts: ref.ts, actionId: 'pause', override });
      expect(world.inbox.clicks).toEqual([]);
    });
  });

  it('prototype keys in a payload are dropped', async () => {
    const override: Record<string, unknown> = JSON.parse(
      '{"event":{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}}}}',
    );
    await world.local.deliver.event({ type: 'app_mention' }, { override });
    expect(Object.hasOwn(Object.prototype, 'isAdmin')).toBe(false);
    expect(world.inbox.commands).toEqual([]);
  });

  it('a stop lets what is under way finish, and is not ready any more', async () => {
    let store: () => void = () => undefined;
    world.inbox.answer = () =>
      new Promise((resolve) => {
        store = () => resolve(says('taken'));
      });
    const delivery = world.local.deliver.command({ ...ROY, text: 'pod-1' });
    await expect.poll(() => world.inbox.commands.length).toBe(1);
    expect(world.slack.ready()).toBe(true);
    const stopped = world.slack.stop();
    expect(world.slack.ready()).toBe(false);
    store();
    expect(JSON.stringify((await delivery).body)).toContain('taken');
    await stopped;
  });
});

describe.each(['http', 'socket'] as const)('an inbox that breaks its promise, over %s', (kind) => {
  it.each([
    ['while Slack waits', async () => undefined],
    ['also in a stop', (world: World) => world.slack.stop()],
  ])('is acknowledged for %s, without a word that it failed: it has begun', async (_when, meanwhile) => {
    const clock = new FakeClock();
    const world = await startWorld(kind, { clock });
    try {
      let end: (answer: Answer) => void = () => undefined;
      world.inbox.answer = () => new Promise((resolve) => (end = resolve));
      const delivery = world.local.deliver.command({ ...ROY, text: 'pod-1' });
      await expect.poll(() => world.inbox.commands.length).toBe(1);
      const done = meanwhile(world);
      // Slack's own patience is three seconds of the real clock.
      await clock.advance(2_700);
      const { status, body } = await delivery;
      expect([status, JSON.stringify(body ?? {})]).toEqual([200, expect.not.stringContaining('slack_not_taken')]);
      end(says('taken'));
      await done;
    } finally {
      await world.stop();
    }
  });
});

function mention(fields: Record<string, unknown>): Record<string, unknown> {
  return {
    type: 'app_mention',
    ts: '1700000000.000100',
    event_ts: '1700000000.000100',
    text: '<@U0KDEBUG> pod-1',
    channel: 'C0SHOP',
    ...fields,
  };
}

describe('the start', () => {
  it.each(['http', 'socket'] as const)('over %s fails with a clear code when the bot token is bad', async (kind) => {
    const world = await startWorld(kind);
    const transport =
      kind === 'http' ? ({ kind, signingSecret: 's', port: 0 } as const) : ({ kind, appToken: 'xapp-1' } as const);
    const log = new RecordingLog();
    const slack = createSlack({ botToken: 'xoxb-wrong', transport, apiUrl: world.local.apiUrl, log, clock: realClock });
    await expect(slack.start(world.inbox)).rejects.toMatchObject({ code: 'slack_token_rejected' });
    expect(slack.ready()).toBe(false);
    await slack.stop();
    await world.stop();
  });

  it('fails with a clear code when the app token is bad, when Slack is away, and when the port is taken', async () => {
    const world = await startWorld('http');
    const make = (transport: Parameters<typeof createSlack>[0]['transport'], apiUrl = world.local.apiUrl) =>
      createSlack({ botToken: world.local.botToken, transport, apiUrl, log: world.log, clock: realClock });
    const badToken = make({ kind: 'socket', appToken: 'xapp-wrong' });
    const away = make({ kind: 'http', signingSecret: 's', port: 0 }, 'http://127.0.0.1:9/api/');
    const taken = make({ kind: 'http', signingSecret: 's', port: world.slack.port() ?? 0 });
    await expect(badToken.start(world.inbox)).rejects.toMatchObject({ code: 'slack_token_rejected' });
    await expect(away.start(world.inbox)).rejects.toMatchObject({ code: 'slack_unreachable' });
    await expect(taken.start(world.inbox)).rejects.toMatchObject({ code: 'slack_port_unavailable' });
    for (const slack of [badToken, away, taken]) await slack.stop();
    await world.stop();
  });

  it('over Socket Mode says so when the app token was made without its scope, or is no app token at all', async () => {
    const world = await startWorld('http', { appScopes: ['authorizations:read'] });
    const { appToken, botToken, apiUrl } = world.local;
    for (const [token, detail] of [
      [appToken, /connections:write/],
      [botToken, /not an app-level token/],
    ] as const) {
      const transport = { kind: 'socket', appToken: token } as const;
      const slack = createSlack({ botToken, transport, apiUrl, log: world.log, clock: realClock });
      const error = { code: 'slack_token_rejected', detail: expect.stringMatching(detail) };
      await expect(slack.start(world.inbox)).rejects.toMatchObject(error);
      await slack.stop();
    }
    await world.stop();
  });

  it('fails with a clear code when who is who may not be asked: then nobody could be let in', async () => {
    const started = startWorld('http', { scopes: ['chat:write', 'commands'] });
    await expect(started).rejects.toMatchObject({ code: 'slack_scopes_missing' });
  });
});
