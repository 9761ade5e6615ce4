import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../support/fake-clock.ts';
import { NOBODY, saying, says, startWorld, type World } from '../harness.ts';

const ROY = { user: 'U0ROY', channel: 'C0SHOP' };
const MINUTE = 60_000;

let clock: FakeClock;
let world: World;
beforeEach(async () => {
  clock = new FakeClock();
  world = await startWorld('http', { clock });
});
afterEach(async () => {
  await world.stop();
  expect(world.local.unknown).toEqual([]);
});

const mention = async (text = '<@U0KDEBUG> web-1') => {
  const delivery = await world.local.deliver.mention({ ...ROY, text });
  return { delivery, ts: world.local.messages('C0SHOP').at(-1)?.ts ?? '' };
};
const edit = (ts: string, text: string, channel = 'C0SHOP') =>
  world.local.deliver.edit({ user: 'U0ROY', channel, ts, text });
const commands = () => world.inbox.commands.map(({ words }) => words);
/** What Roy alone was told, once `count` answers are there. */
const told = async (count: number) => {
  await expect.poll(() => world.local.ephemerals('U0ROY').length).toBe(count);
  return world.local.ephemerals('U0ROY').map(({ blocks }) => JSON.stringify(blocks));
};

describe('a mention that was edited', () => {
  it('within five minutes is the same request with the new words, so that a run is started once', async () => {
    const { ts } = await mention('<@U0KDEBUG> web-1 --imag=x');
    await clock.advance(30_000);
    expect((await edit(ts, '<@U0KDEBUG> web-1 --image=x'))?.status).toBe(200);
    await clock.advance(5 * MINUTE - 30_000);
    await edit(ts, '<@U0KDEBUG> web-1');
    expect(commands()).toEqual(['web-1 --imag=x', 'web-1 --image=x', 'web-1']);
    expect(new Set(world.inbox.commands.map(({ origin }) => origin.dedupeKey)).size).toBe(1);
    expect(await told(0)).toEqual([]);
  });

  it('is known as an edit to what takes it, but not when Slack repeats it', async () => {
    const { ts } = await mention('<@U0KDEBUG> web-1');
    const edited = await edit(ts, '<@U0KDEBUG> web-2');
    await world.local.deliver.again(edited!, { retry: { attempt: 1, reason: 'http_timeout' } });
    await clock.advance(1_000);
    await edit(ts, '<@U0KDEBUG> web-3');
    expect(world.inbox.commands.map(({ words, origin }) => [words, origin.isEdit])).toEqual([
      ['web-1', undefined],
      ['web-2', true],
      ['web-2', undefined],
      ['web-3', true],
    ]);
  });

  it('is not followed by its first words, nor by older ones, which Slack repeats after it', async () => {
    const { delivery, ts } = await mention('<@U0KDEBUG> web-1');
    const retry = { attempt: 2, reason: 'http_error' };
    await clock.advance(1_000);
    const second = await edit(ts, '<@U0KDEBUG> web-2');
    expect((await world.local.deliver.again(delivery, { retry })).status).toBe(200);
    await clock.advance(1_000);
    await edit(ts, '<@U0KDEBUG> web-3');
    expect((await world.local.deliver.again(second!, { retry })).status).toBe(200);
    expect(commands()).toEqual(['web-1', 'web-2', 'web-3']);
    await mention('<@U0KDEBUG> web-4');
    expect(commands()).toHaveLength(4);
    expect(await told(0)).toEqual([]);
  });

  it('later starts nothing, and its writer is told once', async () => {
    const { ts } = await mention();
    await clock.advance(5 * MINUTE + 1_000);
    const late = await edit(ts, '<@U0KDEBUG> web-1 --profile=sysadmin');
    expect(late?.status).toBe(200);
    const [words] = await told(1);
    expect(words).toContain('slack_edit_late');
    // The message itself may well have started something.
    expect(words).not.toContain('Nothing was started');
    await edit(ts, '<@U0KDEBUG> web-2');
    await world.local.deliver.again(late!, { retry: { attempt: 1, reason: 'http_timeout' } });
    const other = await mention();
    await clock.advance(5 * MINUTE + 1_000);
    await edit(other.ts, '<@U0KDEBUG> web-3');
    expect(await told(2)).toHaveLength(2);
    expect(commands()).toEqual(['web-1', 'web-1']);
  });

  it('later by somebody who may not use kdebug is refused as anything of theirs', async () => {
    const { delivery, ts } = await mention();
    const { event } = delivery.parcel.payload as { event: object };
    await clock.advance(20 * MINUTE);
    const guest = { ...event, user: 'U0GUEST', edited: { user: 'U0GUEST', ts } };
    await world.local.deliver.event(guest);
    await expect.poll(() => JSON.stringify(world.local.ephemerals('U0GUEST'))).toContain('person_is_guest');
  });
});

describe('an event that comes late', () => {
  it('is taken for ten minutes, as long as Slack repeats it', async () => {
    const { delivery } = await mention();
    await clock.advance(10 * MINUTE);
    await world.local.deliver.again(delivery, { retry: { attempt: 3, reason: 'http_timeout' } });
    expect(commands()).toEqual(['web-1', 'web-1']);
  });

  it('starts nothing after that, and its writer is told once', async () => {
    const first = await mention();
    const { event, event_time } = first.delivery.parcel.payload as { event: object; event_time: number };
    await clock.advance(3 * 60 * MINUTE);
    const missed = { ...event, ts: '1700000000.000100' };
    for (const attempt of [1, 2]) {
      const retry = { attempt, reason: 'http_timeout' };
      await world.local.deliver.event(missed, { override: { event_time }, retry });
    }
    expect(await told(1)).toEqual([expect.stringContaining('slack_event_late')]);
    // What was heard in time is not news.
    await world.local.deliver.again(first.delivery);
    expect(await told(1)).toHaveLength(1);
    expect(commands()).toEqual(['web-1']);
  });

  it('counts by its message where Slack says no time', async () => {
    const { delivery } = await mention();
    const { event } = delivery.parcel.payload as { event: object };
    await clock.advance(11 * MINUTE);
    const other = { ...event, text: '<@U0KDEBUG> web-2', ts: `${clock.now() / 1_000 - 660}.000001` };
    await world.local.deliver.event(other, { override: { event_time: undefined } });
    expect(await told(1)).toEqual([expect.stringContaining('slack_event_late')]);
  });

  it('counts by its message where Slack stamps the replay anew', async () => {
    const { delivery } = await mention();
    const { event } = delivery.parcel.payload as { event: object };
    await clock.advance(11 * MINUTE);
    await world.local.deliver.event({ ...event, ts: `${clock.now() / 1_000 - 660}.000001` });
    expect(await told(1)).toEqual([expect.stringContaining('slack_event_late')]);
    expect(commands()).toEqual(['web-1']);
  });

  it('posts no welcome', async () => {
    world.inbox.welcome = async () => ({ kind: 'post', message: saying('hello') });
    const joined = { type: 'member_joined_channel', user: world.local.botUserId, channel: 'C0SHOP', inviter: 'U0ROY' };
    const event_time = Math.floor(clock.now() / 1_000) - 601;
    expect((await world.local.deliver.event(joined, { override: { event_time } })).status).toBe(200);
    expect(world.inbox.taken).toEqual(NOBODY);
    await world.local.deliver.event(joined);
    expect(world.inbox.taken).toEqual({ ...NOBODY, invited: 1 });
  });

  it('shows the Home tab all the same', async () => {
    const event = { type: 'app_home_opened', user: 'U0ROY', channel: 'D00ROY', tab: 'home' };
    await world.local.deliver.event(event, { override: { event_time: 1 } });
    expect(world.inbox.taken).toEqual({ ...NOBODY, home: 1 });
  });
});

describe('a direct message', () => {
  const direct = async (text: string) => {
    const delivery = await world.local.deliver.direct({ user: 'U0ROY', text });
    return { delivery, ts: world.local.messages('D00ROY').at(-1)?.ts ?? '' };
  };

  /** What the bot said there, once `count` answers are there. */
  const answers = async (count: number) => {
    const own = () => world.local.messages('D00ROY').filter(({ user }) => user === world.local.botUserId);
    await expect.poll(() => own().length).toBe(count);
    return own().map(({ blocks }) => JSON.stringify(blocks));
  };

  it('that is edited within five minutes is the same request with the new words', async () => {
    world.inbox.answer = async () => says('unknown flag');
    const { ts } = await direct('web-1 --imag=x');
    await edit(ts, 'web-1 --image=x', 'D00ROY');
    expect(commands()).toEqual(['web-1 --imag=x', 'web-1 --image=x']);
    const [first, second] = world.inbox.commands;
    expect(second?.origin.dedupeKey).toBe(first?.origin.dedupeKey);
  });

  it('that is edited later, or comes late, starts nothing and is refused once', async () => {
    const { ts } = await direct('web-1');
    await clock.advance(6 * MINUTE);
    await edit(ts, 'web-2', 'D00ROY');
    await edit(ts, 'web-3', 'D00ROY');
    expect(await answers(1)).toEqual([expect.stringContaining('slack_edit_late')]);
    const event_time = Math.floor(clock.now() / 1_000) - 601;
    await world.local.deliver.direct({ user: 'U0ROY', text: 'web-4', override: { event_time } });
    expect(await answers(2)).toEqual([expect.anything(), expect.stringContaining('slack_event_late')]);
    expect(commands()).toEqual(['web-1']);
  });

  it('that was edited is not followed by its first words, which Slack repeats after that', async () => {
    const { delivery, ts } = await direct('web-1 --imag=x');
    await edit(ts, 'web-1', 'D00ROY');
    await world.local.deliver.again(delivery!, { retry: { attempt: 2, reason: 'http_error' } });
    expect(commands()).toEqual(['web-1 --imag=x', 'web-1']);
  });

  it('of which only the looks changed is no request', async () => {
    const { ts } = await direct('see https://example.com');
    await edit(ts, 'see https://example.com', 'D00ROY');
    expect(commands()).toHaveLength(1);
  });
});
