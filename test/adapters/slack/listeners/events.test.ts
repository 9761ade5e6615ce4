import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NOBODY, saying, startWorld, type World } from '../harness.ts';

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
    expect((await world.local.deliver.event(event)).status).toBe(200);
    expect(world.inbox.taken).toEqual(NOBODY);
    expect(world.inbox.refusals).toEqual([]);
  });
});
