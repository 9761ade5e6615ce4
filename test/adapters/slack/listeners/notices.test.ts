import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NOBODY, startWorld, type World } from '../harness.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld('http', { isNamed: (channelId) => channelId === 'C0SECRET' });
});
afterEach(() => world.stop());

const errors = () => world.log.records.filter(({ level }) => level === 'error').map(({ fields }) => fields);
const warnings = () => world.log.records.filter(({ level }) => level === 'warn').map(({ message }) => message);

describe('another id of a channel', () => {
  it('is an error with both, and says whether the policy names the old one', async () => {
    const { deliver } = world.local;
    expect((await deliver.changeChannelId({ channel: 'C0SECRET', to: 'C0NEW' }))?.status).toBe(200);
    expect((await deliver.changeChannelId({ channel: 'C0OPS', to: 'C0NEWOPS' }))?.status).toBe(200);
    expect(errors()).toEqual([
      { oldChannelId: 'C0SECRET', newChannelId: 'C0NEW', inPolicy: true },
      { oldChannelId: 'C0OPS', newChannelId: 'C0NEWOPS', inPolicy: false },
    ]);
    expect(world.inbox.taken).toEqual(NOBODY);
  });
});

describe('a change of a user group', () => {
  it('makes the next question about it a fresh one', async () => {
    const { directory } = world.slack;
    expect((await directory.members('S0SRE', 'shown')).has('U0ROY')).toBe(false);
    expect((await world.local.deliver.changeGroup({ id: 'S0SRE', users: ['U0ROY'] }))?.status).toBe(200);
    expect([...(await directory.members('S0SRE', 'shown'))]).toEqual(['U0ROY']);
  });
});

it.each([
  ['another team', { team_id: 'T0OTHER' }],
  ['another app', { api_app_id: 'A0OTHER' }],
  ['no app', { api_app_id: '' }],
])('a notice of %s changes and logs nothing but that', async (_, override) => {
  const { deliver } = world.local;
  await world.slack.directory.members('S0SRE', 'shown');
  const event = { old_channel_id: 'C0SECRET', new_channel_id: 'C0NEW', subteam_id: 'S0SRE' };
  for (const type of ['channel_id_changed', 'subteam_members_changed'])
    expect((await deliver.event({ ...event, type }, { override })).status).toBe(200);
  await world.slack.directory.members('S0SRE', 'shown');
  expect(world.local.requests('usergroups.users.list')).toHaveLength(1);
  expect(errors()).toEqual([]);
  expect(warnings()).toEqual(Array.from({ length: 2 }, () => 'notice of another team or app ignored'));
});
