import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HANDLERS } from '../../../src/adapters/slack/handlers.ts';
import { createSlack, type Slack } from '../../../src/adapters/slack/index.ts';
import { samplesOf } from '../../support/metric-lines.ts';
import { deed } from './deeds.ts';
import { NOTHING, RecordingLog, realClock, startWorld, type World } from './harness.ts';

const ROY = { user: 'U0ROY', channel: 'C0SHOP' };
let world: World;
beforeEach(async () => {
  world = await startWorld('socket');
});
afterEach(() => world.stop());

const sockets = (count: number) => world.local.until(() => world.local.sockets.count === count);
const works = async (): Promise<boolean> =>
  (await world.local.deliver.command({ ...ROY, text: 'pod-1' })).status === 200;

it('two connections are open, and both work', async () => {
  expect(world.local.sockets.count).toBe(2);
  expect([await works(), await works(), await works()]).toEqual([true, true, true]);
});

it('acknowledges whatever has no content by the id of its envelope alone: a payload may replace an alert', async () => {
  const bodies = new Map<string, unknown>();
  for (const row of HANDLERS)
    bodies.set(`${row.listens} ${row.name}`, (await deed(world, row, { user: 'U0ROY' })).body);
  expect([...bodies].filter(([, body]) => JSON.stringify(body) === '{}')).toEqual([]);
  expect(bodies.get('alert kdebug-alert')).toBe('');
});

it('the metrics show how many connections are open', async () => {
  expect(await samplesOf(world.metrics, 'slack_sockets')).toEqual(['slack_sockets 2']);
  world.local.sockets.disableLink();
  await sockets(0);
  await expect.poll(() => world.metrics.text()).toContain('kdebug_slack_sockets 0');
});

describe('connections come back', () => {
  it('when Slack recycles one: no request is lost, neither on the old one nor meanwhile', async () => {
    let store: () => void = () => undefined;
    const stored = new Promise<void>((resolve) => {
      store = resolve;
    });
    world.inbox.answer = async () => {
      await stored;
      return NOTHING;
    };
    const underWay = [1, 2].map((count) => world.local.deliver.command({ ...ROY, text: `pod-${count}` }));
    await expect.poll(() => world.inbox.commands.length).toBe(2);
    const refreshed = world.local.sockets.refresh(2_000, 0);
    await sockets(3);
    store();
    expect((await Promise.all(underWay)).map(({ status }) => status)).toEqual([200, 200]);
    await refreshed;
    await sockets(2);
    expect([await works(), await works()]).toEqual([true, true]);
  });

  it('when Slack recycles both at once, without a moment with none', async () => {
    let least = 2;
    const watch = () => {
      least = Math.min(least, world.local.sockets.count);
    };
    world.local.changes.on('change', watch);
    await world.local.sockets.refresh(2_000);
    await sockets(2);
    world.local.changes.off('change', watch);
    expect(least).toBeGreaterThanOrEqual(2);
    expect(await works()).toBe(true);
  });

  it('when a replacement fails: the old one serves until Slack allows a new one', async () => {
    world.local.faults.queue({ method: 'apps.connections.open', kind: 'http_500', times: 3 });
    let least = 2;
    const watch = () => {
      least = Math.min(least, world.local.sockets.count);
    };
    world.local.changes.on('change', watch);
    const opened = () => world.local.requests('apps.connections.open').length;
    const before = opened();
    world.local.sockets.warn(0);
    await expect.poll(opened, { timeout: 10_000 }).toBe(before + 4);
    await world.local.until(() => world.local.sockets.opened === 3);
    await sockets(2);
    world.local.changes.off('change', watch);
    expect(least).toBe(2);
    expect([await works(), await works()]).toEqual([true, true]);
  });

  it('and the log has the code and the words with which one was closed', async () => {
    const closed = () => world.log.records.filter(({ message }) => message === 'Socket Mode connection closed');
    const words = 'Max frame length of 20480 has been exceeded.';
    world.local.sockets.end(1009, words, 0);
    await expect.poll(closed).toMatchObject([{ fields: { reason: 'unknown', code: 1009, words } }]);
    // Slack's side may know of the old one a while longer.
    await world.local.until(() => world.local.sockets.opened === 3);
    await sockets(2);
    world.local.sockets.kill(0);
    await expect.poll(closed).toMatchObject([{}, { fields: { code: 1006 } }]);
    await sockets(2);
  });

  it('not before Slack allows it, also when the old one ends meanwhile', async () => {
    const opened = () => world.local.requests('apps.connections.open').length;
    const before = opened();
    world.local.faults.queue({ method: 'apps.connections.open', kind: 'ratelimited', retryAfterSeconds: 3 });
    await world.local.sockets.refresh(0, 0);
    await sockets(1);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(opened()).toBe(before + 1);
    await sockets(2);
  });

  it('when both are killed and Slack answers 500, 409 and 429 for a while', async () => {
    world.local.faults.queue({ method: 'apps.connections.open', kind: 'http_500', times: 2 });
    world.local.faults.queue({ method: 'apps.connections.open', kind: 'reset_before', times: 1 });
    world.local.faults.queue({ method: 'apps.connections.open', kind: 'ratelimited', times: 1, retryAfterSeconds: 1 });
    world.local.faults.queue({ method: 'socket', kind: 'http_409', times: 1 });
    world.local.sockets.kill();
    await expect.poll(() => world.slack.ready()).toBe(false);
    await sockets(2);
    await expect.poll(() => world.slack.ready()).toBe(true);
    expect(await works()).toBe(true);
    expect(world.local.faults.hits).toBe(5);
  });

  it('when Socket Mode was switched off for a moment', async () => {
    world.local.sockets.disableLink();
    await sockets(0);
    await sockets(2);
    expect(await works()).toBe(true);
  });
});

describe("Socket Mode that is switched off in the app's settings", () => {
  const about = (text: string) => world.log.records.filter(({ message }) => message.includes(text));
  const refused = () => world.local.requests('apps.connections.open').length;

  it('is one error with the next step, however often a line is refused; then one line when it is on again', async () => {
    world.local.sockets.switchedOff = true;
    world.local.sockets.disableLink();
    await expect.poll(() => world.slack.ready()).toBe(false);
    await expect.poll(refused).toBeGreaterThan(8);
    expect(about('Socket Mode is switched off')).toMatchObject([
      { level: 'error', fields: { reason: 'slack_socket_mode_off', hint: expect.stringContaining('Switch it on') } },
    ]);
    expect(world.log.records.filter(({ level }) => level === 'warn')).toEqual([]);
    world.local.sockets.switchedOff = false;
    await expect.poll(() => world.slack.ready(), { timeout: 15_000 }).toBe(true);
    expect(about('switched on again')).toHaveLength(1);
    expect(await works()).toBe(true);
  });

  it('is found at the start too: kdebug is not ready, and comes up when it is switched on', async () => {
    world.local.sockets.switchedOff = true;
    const log = new RecordingLog();
    const late = another(log);
    await late.start(world.inbox);
    expect(late.ready()).toBe(false);
    expect(log.records.map(({ level }) => level)).toEqual(['error']);
    world.local.sockets.switchedOff = false;
    await expect.poll(() => late.ready(), { timeout: 15_000 }).toBe(true);
    await late.stop();
  });
});

const another = (log = new RecordingLog()): Slack =>
  createSlack({
    botToken: world.local.botToken,
    transport: { kind: 'socket', appToken: world.local.appToken },
    apiUrl: world.local.apiUrl,
    log,
    clock: realClock,
  });

it('a replica too many gets no connection and says so; when one leaves, it comes in', async () => {
  const others = [another(), another(), another(), another()];
  for (const slack of others) await slack.start(world.inbox);
  expect(world.local.sockets.count).toBe(10);

  const log = new RecordingLog();
  const sixth = another(log);
  const starting = sixth.start(world.inbox);
  await expect.poll(() => log.records.map(({ message }) => message)).toContain('Socket Mode connection not opened');
  expect(log.records[0]?.fields).toMatchObject({ reason: 'too_many_websockets' });
  expect(sixth.ready()).toBe(false);
  expect(world.local.sockets.count).toBe(10);

  await others[0]?.leave();
  await starting;
  await expect.poll(() => sixth.ready(), { timeout: 15_000 }).toBe(true);
  expect([await works(), await works()]).toEqual([true, true]);
  await Promise.all([...others, sixth].map((slack) => slack.stop()));
});

it('a stop while Slack is away ends at once and opens nothing afterwards', async () => {
  world.local.faults.queue({ method: 'apps.connections.open', kind: 'http_500', times: Number.POSITIVE_INFINITY });
  world.local.sockets.kill();
  await expect.poll(() => world.slack.ready()).toBe(false);
  // Its own wait for Slack would go on for ever: only a stop that does not wait comes back.
  await world.slack.stop();
  world.local.faults.clear();
  expect(world.local.sockets.count).toBe(0);
});
