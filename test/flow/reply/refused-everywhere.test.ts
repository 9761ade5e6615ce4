import { WebAPIPlatformError } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { troubleOf } from '../../../src/adapters/slack/errors.ts';
import type { LogFields } from '../../../src/flow/ports/machine.ts';
import type { Destination, PrivateDestination } from '../../../src/flow/ports/slack.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { anOrigin, aTermination } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { samplesOf } from '../../support/metric-lines.ts';
import { textOf } from '../../support/plain-message.ts';
import { BatchWorld } from '../batch/batch-world.ts';
import { World } from '../support/world.ts';

/** What Slack may answer to a post in a thread, in a channel, or anywhere, for good. */
const OF_THREADS = [
  'restricted_action_thread_locked',
  'restricted_action_non_threadable_channel',
  'thread_locked',
  'cannot_reply_to_message',
  'invalid_thread_ts',
  'thread_not_found',
  'message_not_found',
] as const;
const OF_CHANNELS = [
  'not_in_channel',
  'channel_not_found',
  'is_archived',
  'restricted_action',
  'restricted_action_read_only_channel',
  'restricted_action_thread_only_channel',
  'posting_to_channel_denied',
  'ekm_access_denied',
  'team_access_not_granted',
  'access_denied',
  'no_permission',
  'message_limit_exceeded',
] as const;
const OF_PEOPLE = ['messages_tab_disabled', 'cannot_dm_bot', 'user_disabled', 'user_not_found'] as const;
/** An operator, or time, may fix these. */
const PASSING = ['missing_scope', 'org_login_required', 'plan_upgrade_required', 'some_error_of_next_year'] as const;
const ALL = [...OF_THREADS, ...OF_CHANNELS, ...OF_PEOPLE, ...PASSING] as const;

const HOUR_MS = 3_600_000;
const LONG_LOG = 'line\n'.repeat(500);

function errorOf(error: string): Error {
  const trouble = troubleOf(new WebAPIPlatformError({ ok: false, error }));
  if (trouble.kind !== 'error') throw new Error(`${error} is no refusal`);
  return trouble.error;
}

type Method = 'post' | 'share' | 'tell' | 'update' | 'openDirect';

/** Slack refuses these calls with this error, at those places. */
function refuse(
  world: Pick<World, 'thread'>,
  methods: readonly Method[],
  error: string,
  at: (where: Where) => boolean,
) {
  for (const method of methods) {
    const call = world.thread[method].bind(world.thread) as (where: Where, ...rest: unknown[]) => Promise<unknown>;
    const refusing = async (where: Where, ...rest: unknown[]): Promise<unknown> => {
      if (!at(where)) return call(where, ...rest);
      world.thread.calls.push(`${method} refused`);
      throw errorOf(error);
    };
    Object.assign(world.thread, { [method]: refusing });
  }
}

type Where = Destination | PrivateDestination | string;
const anywhere = (): boolean => true;
const inThread = (where: Where): boolean => typeof where !== 'string' && where.threadTs !== undefined;
const inChannel = (where: Where): boolean => typeof where !== 'string' && where.channelId === 'C0SHOP';

async function started(origin = {}): Promise<World> {
  const world = new World();
  await world.say('web-1 --image=debian -- id', anOrigin(origin));
  await settle();
  return world;
}

async function ended(world: World, log = LONG_LOG): Promise<void> {
  world.cluster.log = log;
  world.cluster.report({ terminated: aTermination() });
  await settle();
  await world.clock.advance(HOUR_MS);
}

const refusals = ({ thread }: Pick<World, 'thread'>): number =>
  thread.calls.filter((call) => /refused/.test(call)).length;
const resultPlaces = ({ thread }: World) =>
  thread.posts.filter(({ meta }) => meta.kind === 'result').map(({ place }) => place);

it.each([
  ['thread_locked', 'slack_thread_closed'],
  ['thread_not_found', 'slack_message_gone'],
  ['is_archived', 'slack_channel_closed'],
  ['user_disabled', 'slack_channel_closed'],
  ['missing_scope', 'slack_refused'],
  ['some_error_of_next_year', 'slack_refused'],
])('%s is %s', (error, code) => {
  expect(errorOf(error)).toMatchObject({ code, detail: error });
});

describe('a result, with its file', () => {
  it.each(OF_THREADS)('whose thread takes no reply (%s) goes to the channel', async (error) => {
    const world = await started();
    refuse(world, ['post', 'share'], error, inThread);
    await ended(world);
    expect(resultPlaces(world)).toEqual([{ channelId: 'C0SHOP' }]);
    expect(world.thread.files).toHaveLength(1);
    expect([(await world.run()).delivery.closed, world.pipeline.active]).toEqual([true, 0]);
  });

  it.each(OF_CHANNELS)('whose channel takes no post (%s) goes to the requester directly', async (error) => {
    const world = await started();
    refuse(world, ['post', 'share'], error, inChannel);
    await ended(world);
    expect(resultPlaces(world)).toEqual([{ channelId: 'D-U0ROY' }]);
    expect(world.thread.files).toHaveLength(1);
    expect([(await world.run()).delivery.lost, world.pipeline.active]).toEqual([undefined, 0]);
  });

  it.each(ALL)('that is refused everywhere (%s) is told privately once, and on record as lost', async (error) => {
    const world = await started();
    refuse(world, ['post', 'share'], error, anywhere);
    await ended(world);
    const { delivery } = await world.run();
    expect(delivery).toMatchObject({ closed: true, lost: (errorOf(error) as { code?: string }).code });
    expect(world.thread.told).toHaveLength(1);
    expect(textOf(world.thread.told)).toContain('Succeeded');
    expect(await samplesOf(world.metrics, 'deliveries_lost')).toEqual([]);
    expect(refusals(world)).toBeLessThanOrEqual(24);
    expect([world.pipeline.active, world.cluster.watchers]).toEqual([0, 0]);
  });

  it.each(ALL)('that cannot even be told privately (%s) is on record as lost, and the run is let go', async (error) => {
    const world = await started();
    refuse(world, ['post', 'share', 'tell', 'openDirect'], error, anywhere);
    await ended(world);
    expect((await world.run()).delivery).toMatchObject({ closed: true });
    expect((await world.run()).delivery.lost).toBeDefined();
    expect(world.thread.told).toEqual([]);
    expect(await samplesOf(world.metrics, 'deliveries_lost')).toEqual(['deliveries_lost_total 1']);
    expect(world.pipeline.active).toBe(0);
    const calls = refusals(world);
    await world.clock.advance(HOUR_MS);
    expect(refusals(world)).toBe(calls);
  });

  it.each(OF_PEOPLE)(
    'that is for the requester alone and cannot be sent to them (%s) is told privately',
    async (error) => {
      const world = await started();
      world.policy = { ...world.policy, output: { ...world.policy.output, deliverTo: 'requester' } };
      refuse(world, ['openDirect'], error, anywhere);
      await ended(world, 'short');
      expect(textOf(world.thread.told)).toContain('short');
      expect(JSON.stringify(world.thread.posts.map(({ message }) => message))).not.toContain('short');
      expect((await world.run()).delivery).toMatchObject({ closed: true, lost: 'slack_channel_closed' });
    },
  );

  it('is tried for as long as it takes while Slack does not answer, or refuses the token', async () => {
    const world = await started();
    for (let n = 0; n < 12; n += 1) world.thread.faults.add('post', 'slack_token_rejected');
    for (let n = 0; n < 12; n += 1) world.thread.faults.add('post', 'slack_unanswered');
    await ended(world, 'short');
    expect(resultPlaces(world)).toHaveLength(1);
    expect((await world.run()).delivery).toMatchObject({ closed: true });
    expect((await world.run()).delivery.lost).toBeUndefined();
  });

  it('that is lost is an error in the log, with what Slack said', async () => {
    const world = new World();
    const errors: unknown[] = [];
    const log = { ...world.deps().log, error: (message: string, fields?: LogFields) => errors.push([message, fields]) };
    const pipeline = new RunSupervisor({ ...world.deps(), log });
    await pipeline.inbox.command(anOrigin({ receivedAtMs: world.clock.now() }), 'web-1');
    await settle();
    refuse(world, ['post', 'share', 'tell'], 'is_archived', anywhere);
    await ended(world);
    expect(errors).toEqual([
      [
        'Slack refused the result everywhere',
        expect.objectContaining({ reason: 'slack_channel_closed', detail: 'is_archived' }),
      ],
    ]);
  });
});

describe('the card of a run that is under way', () => {
  it.each(ALL)('that Slack takes nowhere (%s) does not hold up the run, which is told in the end', async (error) => {
    const world = new World();
    for (let n = 0; n < 10; n += 1) world.thread.faults.add('post', 'slack_unanswered');
    await world.say('web-1');
    refuse(world, ['post'], error, anywhere);
    await world.clock.advance(900_000);
    await ended(world, 'short');
    expect((await world.run()).delivery).toMatchObject({ anchorGone: true, closed: true });
    expect(textOf(world.thread.told)).toContain('short');
    expect(world.pipeline.active).toBe(0);
  });

  it.each(['cant_update_message', 'edit_window_closed', ...ALL])(
    'that may not be changed any more (%s) stays, and the result comes',
    async (error) => {
      const world = await started();
      refuse(world, ['update'], error, anywhere);
      await ended(world, 'short');
      expect(resultPlaces(world)).toHaveLength(1);
      expect([(await world.run()).delivery.anchorGone, world.pipeline.active]).toEqual([true, 0]);
    },
  );
});

describe('a refusal of a request', () => {
  it.each(ALL)('that nobody can be told (%s) is on record as lost', async (error) => {
    const world = new World();
    refuse(world, ['post', 'tell', 'openDirect'], error, anywhere);
    await world.say('web-1 -n forbidden');
    await world.clock.advance(HOUR_MS);
    expect((await world.run()).delivery).toMatchObject({
      told: true,
      lost: (errorOf(error) as { code?: string }).code,
    });
    expect(world.pipeline.active).toBe(0);
  });
});

describe('the end of a batch', () => {
  it.each(ALL)('that is refused everywhere (%s) is told privately, and the batch is let go', async (error) => {
    const world = new BatchWorld(2);
    await world.say('-l app=web --parallelism=1');
    refuse(world, ['post', 'share'], error, anywhere);
    await world.clock.advance(HOUR_MS);
    expect(textOf(world.thread.told)).toContain('2 pods');
    expect((await world.run()).delivery.lost).toBeDefined();
    expect(world.bot.active).toBe(0);
  });
});
