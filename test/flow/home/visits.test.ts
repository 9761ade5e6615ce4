import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../../play/slack/index.ts';
import { createClient } from '../../../src/adapters/slack/client.ts';
import { createDirectory } from '../../../src/adapters/slack/directory.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import { homeFor } from '../../../src/flow/home/home.ts';
import { RecordingLog } from '../../adapters/slack/harness.ts';
import { aPolicy, approvalTerms, aRule } from '../../support/builders.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

/** With Slack's exact rates: 20 questions a minute about user groups. */
let local: LocalSlack;
let world: World;
beforeEach(async () => {
  const names = ['sre', 'data', 'payments', 'network', 'security'];
  const groups = names.map((name, index) => [name, { usergroup: `S0GROUP${index}`, users: [] }] as const);
  const rules = [aRule({ classes: ['observe'], approval: approvalTerms({ from: names }) })];
  world = new World({
    policy: aPolicy({ approvers: Object.fromEntries(groups), channels: { [asChannelId('C0SHOP')]: { rules } } }),
  });
  local = await startLocalSlack({ now: () => world.clock.now() });
  const { S0SRE: group } = local.team.usergroups;
  for (const [, { usergroup: id }] of groups) local.team.usergroups[id] = { ...group!, id };
});
afterEach(() => local.stop());

it('twenty-one people who open the Home tab in one minute all see what waits for them', async () => {
  const identity = { teamId: 'T0LOCAL', botUserId: 'U0KDEBUG', botId: 'B0KDEBUG', appId: 'A0KDEBUG' };
  const client = createClient(local.botToken, local.apiUrl, new RecordingLog());
  const directory = createDirectory({ client, clock: world.clock, identity: () => identity });
  await world.say('web-1');
  for (let visit = 0; visit < 21; visit += 1) {
    const visitor = { teamId: 'T0LOCAL', userId: visit % 2 ? 'U0BOB' : 'U0ALICE', channelId: 'D0HOME' };
    const text = textOf(await homeFor(visitor, { ...world.deps(), directory }));
    expect(text).toContain('1 request waiting for your approval');
    expect(text).not.toContain('did not tell everything');
    await world.clock.advance(2_800);
  }
  expect(local.requests('usergroups.users.list')).toHaveLength(5);
});
