import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { saying, says, startWorld, type World } from '../harness.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld('http', { rates: { off: true } });
});
afterEach(() => world.stop());

const ROY = 'D00ROY';
const direct = (channel = ROY) => world.local.messages(channel).filter(({ user }) => user === world.local.botUserId);

describe('in the direct message of the bot', () => {
  it('an answer is a message, which notifies and stays', async () => {
    world.inbox.answer = async () => says('not here');
    await world.local.deliver.direct({ user: 'U0ROY', text: 'web-1' });
    await world.local.until(() => direct().length > 0);
    expect(JSON.stringify(direct()[0]?.blocks)).toContain('not here');
    expect(world.local.ephemerals('U0ROY')).toEqual([]);
    expect(world.local.notified('U0ROY')).toMatchObject([{ why: 'direct' }]);
  });

  it('an answer to a question in a thread is in that thread', async () => {
    world.inbox.answer = async () => says('not here');
    const { ts } = world.local.deliver.say({
      user: 'U0ROY',
      channel: world.local.state.direct('U0ROY').id,
      text: 'hi',
    });
    await world.local.deliver.direct({ user: 'U0ROY', text: 'web-1', threadTs: ts });
    const answer = await world.local.until(() =>
      world.local.thread(ROY, ts).find(({ user }) => user === world.local.botUserId),
    );
    expect(JSON.stringify(answer.blocks)).toContain('not here');
  });
});

describe('the answer to a slash command', () => {
  beforeEach(() => {
    world.inbox.answer = async () => says('not here');
  });

  it('is a message in the direct message of the bot, once', async () => {
    await world.local.deliver.command({ user: 'U0ROY', channel: world.local.state.direct('U0ROY').id, text: 'web-1' });
    await world.local.until(() => direct().length > 0);
    expect(direct()).toHaveLength(1);
    expect(world.local.ephemerals('U0ROY')).toEqual([]);
  });

  it('comes by its response_url when Slack fails to post it there', async () => {
    world.local.faults.queue({ method: 'chat.postMessage', kind: 'http_500' });
    await world.local.deliver.command({ user: 'U0ROY', channel: world.local.state.direct('U0ROY').id, text: 'web-1' });
    await world.local.until(() => world.local.ephemerals('U0ROY').length > 0);
    expect(JSON.stringify(world.local.ephemerals('U0ROY'))).toContain('not here');
    expect(world.log.records.map(({ message }) => message)).not.toContain('private answer lost');
  });

  it('is private in a direct message that the bot is not in', async () => {
    const { team } = world.local;
    team.channels.D0OTHERS = { ...team.channels.C0SHOP!, id: 'D0OTHERS', members: ['U0ROY', 'U0BOB'] };
    await world.local.deliver.command({ user: 'U0ROY', channel: 'D0OTHERS', text: 'web-1' });
    await world.local.until(() => world.local.ephemerals('U0ROY').length > 0);
    expect(direct()).toEqual([]);
    expect(direct('D0OTHERS')).toEqual([]);
    expect(world.local.ephemerals('U0BOB')).toEqual([]);
  });
});

describe('where only some may post', () => {
  beforeEach(() => {
    world.local.team.channels.C0SHOP!.posting = 'nobody';
  });

  it('a private answer is a direct message that names the channel', async () => {
    await world.slack.thread.tell({ channelId: 'C0SHOP', userId: 'U0ROY' }, saying('refused'));
    expect(JSON.stringify(direct()[0]?.blocks)).toMatch(/refused.*C0SHOP/);
    expect(world.local.ephemerals('U0ROY')).toEqual([]);
    expect(direct('D00BOB')).toEqual([]);
  });

  it('a private answer that the direct message takes neither is an error with the first refusal', async () => {
    world.local.team.messagesTabDisabled = true;
    await expect(
      world.slack.thread.tell({ channelId: 'C0SHOP', userId: 'U0ROY' }, saying('refused')),
    ).rejects.toMatchObject({ detail: 'restricted_action' });
  });
});
