import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formOf, typed } from '../deeds.ts';
import { NOBODY, saying, says, startWorld, type World } from '../harness.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld('http');
});
afterEach(() => world.stop());

describe('an invitation of the bot', () => {
  const invite = (invited = world.local.botUserId) =>
    world.local.deliver.invite({ user: 'U0ROY', channel: 'C0OTHER', invited });

  it('is welcomed in the channel, for everybody to read', async () => {
    world.inbox.welcome = async () => ({ kind: 'post', message: saying('hello') });
    expect((await invite())?.status).toBe(200);
    expect(world.inbox.invitations).toEqual([{ teamId: 'T0LOCAL', userId: 'U0ROY', channelId: 'C0OTHER' }]);
    const said = await world.local.until(() => world.local.messages('C0OTHER')[0]);
    expect(said.text).toBe('hello');
    expect(world.local.ephemerals('U0ROY')).toEqual([]);
  });

  it('is answered privately where the inbox says so', async () => {
    world.inbox.welcome = async () => ({ kind: 'message', message: saying('not here') });
    await invite();
    expect((await world.local.until(() => world.local.ephemerals('U0ROY')[0])).text).toBe('not here');
    expect(world.local.messages('C0OTHER')).toEqual([]);
  });

  it('is logged and no more where Slack takes no post', async () => {
    world.inbox.welcome = async () => ({ kind: 'post', message: saying('hello') });
    world.local.team.channels.C0OTHER!.posting = 'nobody';
    await invite();
    await expect.poll(() => world.log.records.map(({ message }) => message)).toContain('welcome not posted');
  });

  it('is none when somebody else joins, or when nobody invited the bot', async () => {
    world.local.team.channels.C0OTHER!.members.push(world.local.botUserId);
    await invite('U0GUEST');
    const event = { type: 'member_joined_channel', user: world.local.botUserId, channel: 'C0OTHER' };
    // "The value will be blank if a user manually joins a channel."
    for (const inviter of [undefined, null, ''])
      expect((await world.local.deliver.event({ ...event, inviter })).status).toBe(200);
    expect(world.log.records.filter(({ message }) => message.includes('not understood'))).toEqual([]);
    expect(world.inbox.taken).toEqual(NOBODY);
    expect(world.inbox.refusals).toEqual([]);
  });
});

describe('a visit of the Home tab', () => {
  const seen = () => world.local.views('U0ROY').find(({ kind }) => kind === 'home');

  it('publishes what the inbox says, for this person alone', async () => {
    world.inbox.homePage = async () => saying('yours');
    expect((await world.local.deliver.openHome({ user: 'U0ROY' }))?.status).toBe(200);
    expect(JSON.stringify((await world.local.until(seen)).view)).toContain('yours');
    expect(world.inbox.visits).toEqual([{ teamId: 'T0LOCAL', userId: 'U0ROY', channelId: 'D00ROY' }]);
    expect(world.local.views('U0BOB')).toEqual([]);
  });

  it('replaces the page at the next visit, and leaves it where the inbox says nothing', async () => {
    world.inbox.homePage = async () => saying('first');
    await world.local.deliver.openHome({ user: 'U0ROY' });
    await world.local.until(seen);
    world.inbox.homePage = async () => saying('second');
    await world.local.deliver.openHome({ user: 'U0ROY' });
    await world.local.until(() => JSON.stringify(seen()?.view).includes('second'));
    world.inbox.homePage = async () => undefined;
    await world.local.deliver.openHome({ user: 'U0ROY' });
    expect(JSON.stringify(seen()?.view)).toContain('second');
  });

  it('tells a guest why there is nothing, and the Messages tab is no visit', async () => {
    await world.local.deliver.openHome({ user: 'U0ROY', tab: 'messages' });
    expect(world.inbox.taken).toEqual(NOBODY);
    await world.local.deliver.openHome({ user: 'U0GUEST' });
    const told = await world.local.until(() => world.local.views('U0GUEST')[0]);
    expect(JSON.stringify(told.view)).toContain('person_is_guest');
    expect(world.inbox.taken).toEqual(NOBODY);
  });
});

describe('a global shortcut', () => {
  const use = () => world.local.deliver.shortcut({ user: 'U0ROY', callbackId: 'debug-anywhere' });
  const CHANNEL_FORM = {
    kind: 'form',
    channelId: 'C0OPS',
    form: formOf('pick-channel'),
  } as const;

  it('opens the form, and the next one takes its place, for the channel that was chosen', async () => {
    world.inbox.anywhere = async () => CHANNEL_FORM;
    await use();
    const { id } = await world.local.until(() => world.local.views('U0ROY')[0]);
    world.inbox.submitAnswer = async () => ({ kind: 'form', channelId: 'C0SHOP', form: formOf('debug') });
    await world.local.deliver.viewSubmission({ user: 'U0ROY', viewId: id, values: typed('x') });
    expect(world.inbox.submissions[0]).toMatchObject({ name: 'pick-channel', channelId: 'C0OPS' });
    const [view] = world.local.views('U0ROY');
    expect(view?.id).toBe(id);
    expect(view?.view).toMatchObject({ callback_id: 'debug' });
    expect(String(view?.view.private_metadata)).toContain('C0SHOP');
  });

  it('answers in a window where there is no form', async () => {
    await use();
    expect(JSON.stringify((await world.local.until(() => world.local.views('U0ROY')[0])).view)).toContain('nowhere');
  });
});

/** Published payloads of messages with files have `"bot_id":null`; older ones, `"username":""`. */
const ABSENT = [null, ''];

describe('a mention', () => {
  const event = (more: object) =>
    world.local.deliver.event({
      ...{ type: 'app_mention', user: 'U0ROY', channel: 'C0SHOP', ts: world.local.state.nextTs() },
      ...{ text: '<@U0KDEBUG> pod-1', ...more },
    });

  it.each(ABSENT)('is a command where Slack names what it has not got as %j', async (none) => {
    expect((await event({ bot_id: none, thread_ts: none, subtype: none, user_team: none })).status).toBe(200);
    expect(world.inbox.commands).toMatchObject([{ words: 'pod-1', origin: { beginsThread: true } }]);
  });

  it.each([
    ['a bot', { bot_id: 'B0OTHER', user: undefined }],
    ['a bot whose words are all in attachments', { bot_id: 'B0OTHER', user: null, text: null }],
    ['a person who forwards a message that mentions the bot', { text: 'web-1' }],
  ])('is none when it is %s', async (_, more) => {
    expect((await event(more)).status).toBe(200);
    expect(world.inbox.taken).toEqual(NOBODY);
    expect(world.log.records.filter(({ level }) => level !== 'info')).toEqual([]);
  });
});

/** As Slack sends what happens to a message of ours (docs.slack.dev, "message_changed event"). */
const OURS = { type: 'message', user: 'U0KDEBUG', bot_id: 'B0KDEBUG', app_id: 'A0KDEBUG', text: 'done' };
const HIDDEN = { hidden: true, event_ts: '1700000001.000100' };

describe('a direct message', () => {
  const event = (more: object) =>
    world.local.deliver.event({
      ...{
        type: 'message',
        channel_type: 'im',
        user: 'U0ROY',
        channel: 'D00ROY',
        ts: world.local.state.nextTs(),
        text: 'pod-1',
      },
      ...more,
    });

  it('is a command there, answered beside it', async () => {
    world.inbox.answer = async () => says('use a channel');
    await world.local.deliver.direct({ user: 'U0ROY', text: 'pod-1 -n shop' });
    const [{ origin, words } = { origin: undefined, words: '' }] = world.inbox.commands;
    expect(words).toBe('pod-1 -n shop');
    expect(origin).toMatchObject({ source: 'mention', channelId: 'D00ROY', requesterId: 'U0ROY' });
    expect(origin?.threadTs).toBeUndefined();
    await expect.poll(() => world.local.messages('D00ROY').at(-1)?.text).toBe('use a channel');
    expect(world.local.ephemerals('U0ROY')).toEqual([]);
  });

  it.each(['file_share', 'thread_broadcast'])('is a command too with words that Slack marks as %s', async (subtype) => {
    await event({ subtype });
    expect(world.inbox.commands).toMatchObject([{ words: 'pod-1' }]);
  });

  it.each(ABSENT)('is a command where Slack names what it has not got as %j', async (none) => {
    expect((await event({ bot_id: none, thread_ts: none, subtype: none, team: none })).status).toBe(200);
    expect(world.inbox.commands).toMatchObject([{ words: 'pod-1', origin: { channelId: 'D00ROY' } }]);
  });

  it('is the same command however often Slack sends it', async () => {
    const delivery = await event({});
    await world.local.deliver.again(delivery);
    const [one, other] = world.inbox.commands;
    expect(other?.origin.dedupeKey).toBe(one?.origin.dedupeKey);
  });

  it.each([
    ['an edit', { subtype: 'message_changed', user: undefined, text: undefined, ...HIDDEN, message: OURS }],
    ['a deletion', { subtype: 'message_deleted', user: undefined, text: undefined, ...HIDDEN, previous_message: OURS }],
    [
      'of a bot, edited',
      {
        subtype: 'message_changed',
        user: undefined,
        text: undefined,
        ...HIDDEN,
        message: { ...OURS, edited: { user: 'U0KDEBUG', ts: '1700000001.000000' } },
      },
    ],
    ['a file without words', { subtype: 'file_share', text: '' }],
    ['a change of the topic', { subtype: 'channel_topic' }],
    ['a bot', { bot_id: 'B0OTHER' }],
    ['our own', OURS],
    ['our own file', { user: 'U0KDEBUG', subtype: 'file_share', text: 'the log', upload: true }],
    ['a channel', { channel_type: 'channel', channel: 'C0SHOP' }],
  ])('is none when it is %s', async (_, more) => {
    expect((await event(more)).status).toBe(200);
    expect(world.inbox.taken).toEqual(NOBODY);
    expect(world.log.records.filter(({ message }) => message.includes('not understood'))).toEqual([]);
  });
});
