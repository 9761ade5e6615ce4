import { beforeEach, describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { aPolicy, aRule } from '../../support/builders.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

const SHOP = asChannelId('C0SHOP');
const VAULT = asChannelId('C0VAULT');
const HIDDEN = asChannelId('C0HIDDEN');

let world: World;
beforeEach(() => {
  const channels = {
    [SHOP]: { name: '#shop-oncall', rules: [aRule()] },
    [VAULT]: { rules: [aRule()] },
    [HIDDEN]: { rules: [aRule()] },
  };
  world = new World({ policy: aPolicy({ channels, owner: '@platform' }) });
  world.directory.inChannels.set('C0VAULT', new Set(['U0ROY']));
  world.directory.inChannels.set('C0ELSE', new Set(['U0ROY', 'U0ZED']));
});

const use = (userId: string) =>
  world.pipeline.inbox.globalShortcut({ name: 'debug-anywhere', teamId: 'T0TEAM', userId });
const submit = (userId: string, channel: string) =>
  world.pipeline.inbox.submit({
    ...{ name: 'pick-channel', value: '', fields: { channel }, dedupeKey: 'one', receivedAtMs: 0 },
    ...{ teamId: 'T0TEAM', userId, channelId: 'C0SHOP' },
  });

describe('the shortcut "Debug a pod" of the workspace', () => {
  it('offers only the channels of the policy that the person is in, by name', async () => {
    const answer = await use('U0ROY');
    const options = answer.kind === 'form' ? answer.form.fields[0]?.options : undefined;
    expect(options).toEqual([
      { value: 'C0SHOP', label: '#shop-oncall' },
      { value: 'C0VAULT', label: '#c0vault' },
    ]);
  });

  it('opens the form at once for people in one channel, and says where the result comes', async () => {
    const answer = await use('U0BOB');
    expect(answer).toMatchObject({ kind: 'form', channelId: 'C0SHOP', form: { name: 'debug' } });
    const { intro } = answer.kind === 'form' && answer.complete ? await answer.complete() : {};
    expect(intro).toContain('The result comes in #shop-oncall.');
  });

  it('tells who is in none whom to ask (channel_none)', async () => {
    const answer = await use('U0ZED');
    expect(answer).toMatchObject({ kind: 'page', message: { code: 'channel_none' } });
    expect(textOf(answer)).toContain('ask @platform');
  });

  it('says so in a window when Slack does not answer', async () => {
    for (const id of ['C0SHOP', 'C0VAULT', 'C0HIDDEN'])
      world.directory.faults.add(`areTogetherIn ${id}`, 'slack_unreachable');
    expect(await use('U0ROY')).toMatchObject({ kind: 'page', message: { code: 'slack_unreachable' } });
  });

  it('offers no channel that kdebug is not in, and opens no form for it', async () => {
    world.directory.notIn.add('C0VAULT');
    expect(await use('U0ROY')).toMatchObject({ kind: 'form', channelId: 'C0SHOP', form: { name: 'debug' } });
    expect(await submit('U0ROY', 'C0VAULT')).toMatchObject({ kind: 'errors' });
  });

  it('says how many channels it could not see them in, and does not leave them out in silence', async () => {
    world.directory.large.add('C0HIDDEN');
    world.directory.faults.add('areTogetherIn C0VAULT', 'slack_busy');
    const answer = await use('U0BOB');
    expect(answer).toMatchObject({ kind: 'form', form: { name: 'pick-channel', fields: [{ options: [{}] }] } });
    expect(answer.kind === 'form' && answer.form.intro).toContain('whether you are in 2 other channels');
    world.directory.large.add('C0SHOP').add('C0VAULT');
    expect(textOf(await use('U0BOB'))).toMatch(/whether you are in 3 other channels.*ask @platform/s);
  });

  it('opens the form for the chosen channel', async () => {
    expect(await submit('U0ROY', 'C0VAULT')).toMatchObject({
      kind: 'form',
      channelId: 'C0VAULT',
      form: { name: 'debug' },
    });
  });

  it.each([
    ['that they are not in', 'U0BOB', 'C0VAULT'],
    ['that the policy does not name', 'U0ROY', 'C0ELSE'],
    ['that nobody may see', 'U0ROY', 'C0HIDDEN'],
    ['that is none', 'U0ROY', '__proto__'],
  ])('opens none for a channel %s, whatever was submitted', async (_, userId, channel) => {
    expect(await submit(userId, channel)).toMatchObject({ kind: 'errors', errors: { channel: expect.any(String) } });
  });
});
