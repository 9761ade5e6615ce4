import { beforeEach, describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { Welcomes } from '../../../src/flow/home/welcome.ts';
import { aPolicy, approvalTerms, aRule } from '../../support/builders.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

let world: World;
let welcomes: Welcomes;
beforeEach(() => {
  world = new World();
  welcomes = new Welcomes(world.deps());
});

const invite = (channelId = 'C0SHOP') => welcomes.answer({ teamId: 'T0TEAM', userId: 'U0ROY', channelId });

async function posted(channelId?: string): Promise<string> {
  const answer = await invite(channelId);
  if (answer.kind !== 'post') throw new Error(`not posted: ${answer.kind}`);
  return textOf(answer.message);
}

describe('the welcome in a channel of the policy', () => {
  it('says what people may do there, gives one example, and whom to ask for more', async () => {
    const rules = [
      aRule({ namespaces: ['shop', 'shop-*'], batch: { maxPods: 50, maxParallelism: 5 } }),
      aRule({ id: 'attach', classes: ['elevated'], approval: approvalTerms({ reason: 'required' }) }),
    ];
    world.policy = aPolicy({ owner: '@platform', channels: { [asChannelId('C0SHOP')]: { rules } } });
    const text = await posted();
    expect(text.split('\n')[0]).toContain('kdebug is ready');
    expect(text).toContain('/kdebug POD');
    expect(text).toMatch(/Look at pods in .?shop.?, .?shop-\*.?: no approval needed; up to 50 pods at once/);
    expect(text).toMatch(/Use more power than a pod has itself in .?shop.?: 1 approval from sre, with a reason/);
    expect(text).toContain('ask @platform');
  });

  it('names the image in the example when the default one may not be used there', async () => {
    const images = { tools: { alias: 'tools', reference: 'tools:1', class: 'observe', command: 'fixed' } } as const;
    world.policy = aPolicy({ images, defaultImage: 'autodiagnose' });
    expect(await posted()).toContain('/kdebug POD --image=tools');
  });

  it("names the channel's own owner before the policy's", async () => {
    const channel = { rules: [aRule()], owner: '#shop-leads' };
    world.policy = aPolicy({ owner: '@platform', channels: { [asChannelId('C0SHOP')]: channel } });
    expect(await posted()).toMatch(/ask #shop-leads$/m);
  });

  it('says so where no rule allows anything', async () => {
    const channels = { [asChannelId('C0SHOP')]: { rules: [aRule({ namespaces: [] })] } };
    world.policy = aPolicy({ channels });
    expect(await posted()).toContain('allows nothing here yet');
  });
});

it('tells a channel that the policy does not name how it is added', async () => {
  const text = await posted('C0NEW');
  expect(text).toContain('kdebug can do nothing in this channel yet');
  expect(text).toMatch(/Ask the owners of the kdebug policy to add .?C0NEW/);
});

describe('where another company may read along', () => {
  it('answers only who invited it, and says nothing of the policy', async () => {
    world.directory.shared.add('C0SHOP');
    const answer = await invite();
    expect(answer).toMatchObject({ kind: 'message', message: { code: 'channel_shared' } });
    expect(JSON.stringify(answer)).not.toContain('Look at pods');
  });

  it('does the same when Slack cannot say', async () => {
    world.directory.faults.add('channel', 'slack_unreachable');
    expect(await invite()).toMatchObject({ kind: 'message', message: { code: 'channel_sharing_unknown' } });
  });

  it('posts where the policy allows that', async () => {
    world.directory.shared.add('C0SHOP');
    const channel = { rules: [aRule()], slackConnect: 'allowed' } as const;
    world.policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: channel } });
    expect(await posted()).toContain('kdebug is ready');
  });
});

it('says it once in ten minutes, however often somebody invites it', async () => {
  await posted();
  expect(await invite()).toEqual({ kind: 'nothing' });
  expect((await invite('C0OTHER')).kind).toBe('post');
  await world.clock.advance(10 * 60_000);
  expect((await invite()).kind).toBe('post');
});
