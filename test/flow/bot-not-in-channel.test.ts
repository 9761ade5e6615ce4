import { describe, expect, it } from 'vitest';
import { KdebugError } from '../../src/core/errors.ts';
import { asChannelId } from '../../src/core/ids.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import type { Destination } from '../../src/flow/ports/slack.ts';
import { anOrigin, aPolicy, approvalTerms, aRule } from '../support/builders.ts';
import { settle } from '../support/fake-clock.ts';
import { textOf } from '../support/plain-message.ts';
import { BATCH_RULE, BatchWorld, policyOf } from './batch/batch-world.ts';
import { World } from './support/world.ts';

const APPROVAL = approvalTerms({ grants: 'denied' });

const guarded = (): Policy =>
  aPolicy({
    approvers: { sre: { usergroup: 'S0SRE', users: [] } },
    channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ approval: APPROVAL })] } },
  });

const RESPONSE_URL = 'https://hooks.slack.com/commands/1';

function outside<W extends Pick<World, 'directory'>>(world: W): W {
  world.directory.notIn.add('C0SHOP');
  return world;
}

/** Slack takes no post in the channel. */
function closeFor(
  world: Pick<World, 'thread'>,
  error: string,
  code: 'slack_channel_closed' | 'slack_refused' = 'slack_channel_closed',
) {
  const post = world.thread.post.bind(world.thread);
  world.thread.post = (place: Destination, ...rest) =>
    place.channelId === 'C0SHOP' ? Promise.reject(new KdebugError(code, { facts: { error } })) : post(place, ...rest);
}

const inDirect = ({ thread }: Pick<World, 'thread'>) =>
  thread.posts.filter(({ place }) => place.channelId.startsWith('D'));

describe('a channel that kdebug is not in', () => {
  it.each(['web-1', '--all', 'web-1 --image=debian -- id'])(
    'gets no run of "%s": nothing is launched, and who asked is told to invite it',
    async (words) => {
      const world = outside(new World());
      await world.say(words, anOrigin({ responseUrl: RESPONSE_URL }));
      expect((await world.run()).refusal?.code).toBe('bot_not_in_channel');
      expect(world.refusal).toContain('/invite @kdebug');
      expect(world.thread.told[0]?.person.responseUrl).toBe(RESPONSE_URL);
      expect([world.cluster.calls, world.thread.posts]).toEqual([[], []]);
      expect([(await world.run()).delivery.told, world.pipeline.active]).toEqual([true, 0]);
    },
  );

  it('gets none where it is private either, which Slack does not know to who is not in it', async () => {
    const world = outside(new World());
    world.directory.hidden.add('C0SHOP');
    await world.say('web-1');
    expect((await world.run()).refusal?.code).toBe('bot_not_in_channel');
  });

  it('gets none where the policy lets it be shared with another company', async () => {
    const policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: { slackConnect: 'allowed', rules: [aRule()] } } });
    const world = outside(new World({ policy }));
    await world.say('web-1');
    expect((await world.run()).refusal?.code).toBe('bot_not_in_channel');
  });

  it('gets no batch', async () => {
    const world = outside(new BatchWorld(2, { policy: policyOf(BATCH_RULE) }));
    await world.say('-l app=web --parallelism=1');
    await settle();
    expect(textOf(world.thread.told)).toContain('/invite @kdebug');
    expect(world.thread.posts).toEqual([]);
  });

  it('gets its run once it is invited', async () => {
    const world = outside(new World());
    await world.say('web-1');
    world.directory.notIn.clear();
    await world.say('web-1', anOrigin({ dedupeKey: 'again' }));
    expect(world.cluster.launches).toHaveLength(1);
  });

  it.each(['can-i web-1', 'web-1 --dry-run'])(
    'gets an answer to "%s", with a word on the invitation',
    async (words) => {
      const world = outside(new World());
      const answer = JSON.stringify((await world.say(words)) ?? null) + world.refusal;
      expect(answer).toContain('nothing can be run here yet');
      expect(answer).toContain('/invite @kdebug');
      expect(answer).not.toContain('bot_not_in_channel');
      expect(world.thread.posts).toEqual([]);
    },
  );

  it('launches nothing when kdebug was removed before the approval', async () => {
    const world = new World({ policy: guarded() });
    await world.say('web-1');
    outside(world);
    await world.click('U0BOB', 'approve');
    expect(world.cluster.launches).toEqual([]);
  });
});

describe('a card that its channel does not take', () => {
  it.each([
    ['not_in_channel', 'bot_not_in_channel'],
    ['channel_not_found', 'bot_not_in_channel'],
    ['is_archived', 'channel_takes_no_posts'],
    ['restricted_action_read_only_channel', 'channel_takes_no_posts'],
  ])('is never an approval card in a direct message (%s): the run is denied as %s', async (error, code) => {
    const world = new World({ policy: guarded() });
    closeFor(world, error);
    await world.say('web-1', anOrigin({ responseUrl: RESPONSE_URL }));
    await world.clock.advance(60_000);
    const run = await world.run();
    expect([run.state, run.refusal?.code]).toEqual(['denied', code]);
    expect(inDirect(world)).toEqual([]);
    expect(world.thread.told).toHaveLength(1);
    expect([world.cluster.launches, world.pipeline.active]).toEqual([[], 0]);
    expect((await world.click('U0BOB', 'approve')).kind).toBe('message');
    expect(world.cluster.launches).toEqual([]);
  });

  it('of a batch that waits for people is none in a direct message either', async () => {
    const world = new BatchWorld(2, { policy: policyOf({ ...BATCH_RULE, approval: APPROVAL }) });
    closeFor(world, 'is_archived');
    await world.say('-l app=web --parallelism=1');
    await world.clock.advance(60_000);
    expect(inDirect(world)).toEqual([]);
    expect(textOf(world.thread.told)).toContain('channel_takes_no_posts');
  });

  it('that is refused again and again for a reason that might pass is given up after ten tries, and the run is denied', async () => {
    const world = new World({ policy: guarded() });
    closeFor(world, 'missing_scope', 'slack_refused');
    await world.say('web-1');
    await world.clock.advance(900_000);
    expect((await world.run()).state).toBe('denied');
    expect([world.thread.told.length, world.pipeline.active]).toEqual([1, 0]);
  });
});
