import { once } from 'node:events';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageChange } from '../../../page/contract.ts';
import { openPage, type PageBed, SHOP } from './open-page.ts';

let page: PageBed;
beforeAll(async () => {
  page = await openPage();
});
afterAll(() => page?.stop());

const say = (text: string) => page.bed.slack.deliver.say({ user: 'U0ROY', channel: SHOP, text });
const isMessage = (text: string) => (change: PageChange) => change.kind === 'message' && change.message.text === text;

describe('the event stream', () => {
  it('begins with everything', async () => {
    const { ts } = say('before');
    const snapshot = await page.snapshot();
    expect(snapshot.messages).toContainEqual(expect.objectContaining({ ts, text: 'before' }));
    expect(snapshot.team.users.U0BOB?.real_name).toBe('Bob');
    expect(snapshot.pods.map(({ name }) => name)).toEqual(expect.arrayContaining(['pod-1234', 'vault-0']));
    expect(snapshot.events.map(({ reason }) => reason)).toContain('Scheduled');
    expect(snapshot.shortcuts).toContainEqual({ callbackId: 'debug-pod', name: 'Debug a pod' });
    expect(snapshot.examples.map(({ id }) => id)).toEqual([
      'roy',
      'jonas',
      'thurston',
      'ginger',
      'stuck',
      'flame',
      'watch',
      'compare',
      'job',
      'crash',
      'unscheduled',
      'quota',
      'shouts',
      'invite',
      'refused',
    ]);
    expect(snapshot.troubles.filter(({ where }) => where === 'slack')).toHaveLength(3);
    expect(JSON.stringify(snapshot)).not.toContain(page.bed.slack.botToken);
    expect(JSON.stringify(snapshot)).not.toContain(page.bed.slack.signingSecret);
  });

  it('goes on with one change each, of Slack and of the cluster', async () => {
    const stream = await page.stream();
    const message = say('now');
    await stream.until(isMessage('now'));
    page.bed.slack.state.remove(message);
    expect(await stream.until(({ kind }) => kind === 'message-gone')).toEqual({
      kind: 'message-gone',
      channel: SHOP,
      ts: message.ts,
    });
    page.cluster.addPod({ name: 'fresh', namespace: 'shop' });
    const running = await stream.until(
      (change) => change.kind === 'pod' && change.pod.name === 'fresh' && change.pod.containers[0]?.state === 'running',
    );
    expect(running).toMatchObject({ pod: { phase: 'Running', deleting: false, containers: [{ restarts: 0 }] } });
    page.cluster.deletePod('shop', 'fresh', 0);
    await stream.until((change) => change.kind === 'pod-gone' && change.name === 'fresh');
    expect(stream.changes.some(({ kind }) => kind === 'event')).toBe(true);
    await stream.close();
  });

  it('tells whom Slack notified of a message, and says so to who comes later', async () => {
    const stream = await page.stream();
    const { ts } = say('is <@U0BOB> here?');
    const told = await stream.until((change) => change.kind === 'notified');
    const notification = { user: 'U0BOB', channel: SHOP, ts, why: 'mention' };
    expect(told).toEqual({
      kind: 'notified',
      notification: { ...notification, phone: 'is @bob here?', desktop: 'is @bob here?' },
    });
    await stream.close();
    expect((await page.snapshot()).notified).toContainEqual(expect.objectContaining({ user: 'U0BOB', ts }));
  });

  it('keeps a root with replies as a tombstone', async () => {
    const stream = await page.stream();
    const root = say('root');
    page.bed.slack.deliver.say({ user: 'U0BOB', channel: SHOP, text: 'reply', threadTs: root.ts });
    page.bed.slack.state.remove(root);
    const told = await stream.until((change) => change.kind === 'message' && change.message.tombstone === true);
    expect(told).toMatchObject({ message: { ts: root.ts } });
    await stream.close();
  });

  it('gives the whole state again after a reconnect, in the same world', async () => {
    const first = await page.stream();
    await first.close();
    say('while nobody looked');
    const second = await page.snapshot();
    expect(second.world).toBe(first.snapshot.world);
    expect(second.messages.map(({ text }) => text)).toContain('while nobody looked');
  });

  it('knows whether somebody has it open', async () => {
    await expect.poll(() => page.page.watchers()).toBe(0);
    const stream = await page.stream();
    expect(page.page.watchers()).toBe(1);
    await stream.close();
    await expect.poll(() => page.page.watchers()).toBe(0);
    expect(page.page.hasBeenWatched()).toBe(true);
  });

  it('carries text that looks like markup or like the stream itself as what it is', async () => {
    const hostile = '</script><img src=x onerror=alert(1)>\n\nevent: snapshot\ndata: {}\n\n\u2028<!--';
    const response = await page.get('/events');
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    await response.body?.cancel();
    const stream = await page.stream();
    say(hostile);
    await stream.until(isMessage(hostile));
    await stream.close();
    expect((await page.snapshot()).messages.at(-1)?.text).toBe(hostile);
  });

  it('tells a change at once and without the history, with 1,000 messages there', async () => {
    for (let count = 0; count < 1_000; count += 1) say(`old ${count}`);
    const stream = await page.stream();
    expect(stream.snapshot.messages.length).toBeGreaterThanOrEqual(1_000);
    const begun = performance.now();
    say('the newest');
    const change = await stream.until(isMessage('the newest'));
    console.log(`a change among 1,000 messages was told after ${(performance.now() - begun).toFixed(1)} ms`);
    expect(JSON.stringify(change).length).toBeLessThan(500);
    await stream.close();
  });

  it('drops a client that does not read, and nobody else', async () => {
    const good = await page.stream();
    const lagging = connect(page.port, '127.0.0.1');
    await once(lagging, 'connect');
    lagging.write(`GET /events?token=${page.token} HTTP/1.1\r\nHost: 127.0.0.1:${page.port}\r\n\r\n`);
    await once(lagging, 'readable');
    const text = 'x'.repeat(30_000);
    // The good one reads along; the other's socket fills, then the server's queue for it.
    for (let count = 0; count < 400; count += 1) {
      say(text);
      await good.until(isMessage(text));
    }
    lagging.on('error', () => undefined);
    const closed = once(lagging, 'close');
    lagging.resume();
    await closed;
    say('still there');
    await good.until(isMessage('still there'));
    await good.close();
  });
});
