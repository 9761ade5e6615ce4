import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { warnOfChannels } from '../../../src/flow/planning/channel-check.ts';
import type { LogFields } from '../../../src/flow/ports/machine.ts';
import { anOrigin, aPolicy, approvalTerms, aRule, aTermination } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { BATCH_RULE, BatchWorld, policyOf } from '../batch/batch-world.ts';
import { World } from '../support/world.ts';

const LINE = 'a line of a customer';
const SHOP = asChannelId('C0SHOP');
const allowing = () => aPolicy({ channels: { [SHOP]: { slackConnect: 'allowed', rules: [aRule()] } } });
const APPROVAL = approvalTerms({ grants: 'denied' });

function sharedWorld(options: ConstructorParameters<typeof World>[0] = {}): World {
  const world = new World(options);
  world.directory.shared.add('C0SHOP');
  return world;
}

async function ended(world: World, log = `${LINE}\n`): Promise<void> {
  world.cluster.log = log;
  world.cluster.report({ terminated: aTermination() });
  await settle();
}

const inChannel = ({ thread }: World): string =>
  JSON.stringify(thread.posts.filter(({ place }) => place.channelId === 'C0SHOP').map(({ message }) => message)) +
  JSON.stringify(thread.files.filter(({ place }) => place.channelId === 'C0SHOP'));

describe('a channel that is shared with another company', () => {
  it.each(['web-1', 'web-1 --dry-run', '--all', 'web-1 --image=debian -- id'])(
    'gets no run of "%s", no post, and one private answer that says why',
    async (words) => {
      const world = sharedWorld();
      await world.say(words);
      expect((await world.run()).refusal?.code).toBe('channel_shared');
      expect(world.refusal).toContain('shared with another company');
      expect(world.refusal).toContain('slackConnect: allowed');
      expect(world.thread.posts).toEqual([]);
      expect(world.cluster.calls).toEqual([]);
    },
  );

  it('gets no answer to can-i either, and the cluster is asked nothing', async () => {
    const world = sharedWorld();
    expect(textOf(await world.say('can-i web-1'))).toContain('shared with another company');
    expect(world.cluster.calls).toEqual([]);
  });

  it('gets runs and output where the policy allows it, even when Slack does not say what it is', async () => {
    const world = sharedWorld({ policy: allowing() });
    world.directory.faults.add('channel', 'slack_refused');
    await world.say('web-1');
    await ended(world);
    expect(inChannel(world)).toContain(LINE);
  });

  it.each(['slack_refused', 'slack_channel_closed', 'slack_unreachable'] as const)(
    'is what one counts as that nobody can say it of (%s)',
    async (code) => {
      const world = new World();
      world.directory.faults.add('channel', code);
      await world.say('web-1');
      expect((await world.run()).refusal?.code).toBe('channel_sharing_unknown');
      expect(world.refusal).toContain('channels:read');
      expect(world.cluster.calls).toEqual([]);
    },
  );

  it('is not asked about when no policy names it: Slack is spared, and the answer is the usual one', async () => {
    const world = new World();
    world.directory.faults.add('channel', 'slack_refused');
    await world.say('web-1', anOrigin({ channelId: asChannelId('C0ELSE') }));
    expect((await world.run()).refusal?.code).toBe('channel_unknown');
  });
});

describe('a channel that becomes shared', () => {
  it('while a run works gets its outcome only: result and file go to the requester', async () => {
    const world = new World();
    await world.say('web-1 --image=debian -- id');
    world.directory.shared.add('C0SHOP');
    await ended(world, `${LINE}\n`.repeat(500));
    expect(world.thread.posts.map(({ meta, place }) => [meta.kind, place.channelId])).toEqual([
      ['anchor', 'C0SHOP'],
      ['result', 'D-U0ROY'],
      ['result', 'D-U0ROY'],
    ]);
    expect(world.thread.files.map(({ place }) => place.channelId)).toEqual(['D-U0ROY']);
    expect(inChannel(world)).toContain('Succeeded after');
    expect(inChannel(world)).toContain('by direct message');
    expect(inChannel(world)).not.toContain(LINE);
    expect(textOf(world.result())).toContain(LINE);
  });

  it('or that the bot may not see any more, gets no output either', async () => {
    const world = new World();
    await world.say('web-1');
    for (let n = 0; n < 20; n += 1) world.directory.faults.add('channel', 'slack_channel_closed');
    await ended(world);
    expect(inChannel(world)).not.toContain(LINE);
    expect(textOf(world.result())).toContain(LINE);
  });

  it('is waited for when Slack does not say: nothing is posted before it does', async () => {
    const world = new World();
    await world.say('web-1');
    for (let n = 0; n < 3; n += 1) world.directory.faults.add('channel', 'slack_unreachable');
    await ended(world);
    expect(world.result()).toBeUndefined();
    await world.clock.advance(120_000);
    expect(inChannel(world)).toContain(LINE);
  });

  it('before the approval launches nothing', async () => {
    const rule = aRule({ approval: APPROVAL });
    const policy = aPolicy({
      approvers: { sre: { usergroup: 'S0SRE', users: [] } },
      channels: { [SHOP]: { rules: [rule] } },
    });
    const world = new World({ policy });
    await world.say('web-1');
    expect((await world.run()).state).toBe('pending-approval');
    world.directory.shared.add('C0SHOP');
    await world.click('U0BOB', 'approve');
    expect(world.cluster.launches).toEqual([]);
  });

  it('after the result gets no late end: that goes to the requester', async () => {
    const world = new World();
    await world.say('web-1 --image=debian --timeout=1s -- sleep 5');
    world.cluster.report({ running: { startedAt: new Date(world.clock.now()).toISOString() } });
    await settle();
    await world.clock.advance(5_000);
    expect((await world.run()).outcome?.kind).toBe('timed-out');
    world.directory.shared.add('C0SHOP');
    await ended(world);
    expect(inChannel(world)).not.toContain(LINE);
    expect(world.thread.posts.at(-1)).toMatchObject({ place: { channelId: 'D-U0ROY' }, meta: { kind: 'result' } });
  });

  it('between two tries of a result gets neither its words nor its file', async () => {
    const world = new World();
    await world.say('web-1');
    world.thread.faults.add('share', 'slack_token_rejected');
    await ended(world, `${LINE}\n`.repeat(500));
    expect([world.result(), world.thread.files]).toEqual([undefined, []]);
    world.directory.shared.add('C0SHOP');
    await world.clock.advance(120_000);
    expect(world.thread.files.map(({ place }) => place.channelId)).toEqual(['D-U0ROY']);
    expect(inChannel(world)).not.toContain(LINE);
  });

  it('while a batch works gets its counts only', async () => {
    const world = new BatchWorld(2, { policy: policyOf(BATCH_RULE) });
    await world.say('-l app=web --parallelism=1');
    world.directory.shared.add('C0SHOP');
    await world.clock.advance(60_000);
    expect(world.thread.posts.map(({ meta, place }) => [meta.kind, place.channelId])).toEqual([
      ['anchor', 'C0SHOP'],
      ['result', 'D-U0ROY'],
      ['result', 'D-U0ROY'],
    ]);
    expect(world.thread.files.map(({ place }) => place.channelId)).toEqual(['D-U0ROY', 'D-U0ROY']);
  });
});

describe('at the start', () => {
  it('every channel of the policy is looked at once, and the log warns of those that are shared or not to be seen', async () => {
    const world = sharedWorld();
    const rules = [aRule()];
    const channels = {
      [SHOP]: { rules },
      [asChannelId('C0OPS')]: { rules },
      [asChannelId('C0OPEN')]: { rules, slackConnect: 'allowed' as const },
    };
    world.policy = aPolicy({ channels });
    world.directory.shared.add('C0OPEN');
    const warned: unknown[] = [];
    const log = { ...world.deps().log, warn: (_: string, fields?: LogFields) => void warned.push(fields) };
    await warnOfChannels({ ...world.deps(), log });
    expect(warned).toEqual([{ channelId: 'C0SHOP', reason: 'channel_shared' }]);
    world.directory.faults.add('channel', 'slack_refused');
    await warnOfChannels({ ...world.deps(), log });
    expect(warned.slice(1)).toEqual([expect.objectContaining({ channelId: 'C0SHOP', reason: 'slack_refused' })]);
  });
});
